"""PySide6, told that nobody asks for the features it can switch on for a module."""

from __future__ import annotations

import sys

import PySide6.QtCore  # noqa: F401 - what is told otherwise comes with it


def spare_sources() -> None:
    """Import what follows without having its source read.

    PySide6 looks for its own name in the text of every module imported after it, four hundred of
    them, to know which may ask for snake_case or properties: a seventh of the start. Where there
    are no sources, as in an installed program, it goes on as this makes it go on here.
    """
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: False  # type: ignore[union-attr]

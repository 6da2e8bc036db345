"""Imports PySide6 with its feature switches disabled, and collects no garbage meanwhile."""

from __future__ import annotations

import gc
import sys


def load() -> None:
    """Import PySide6, so that the modules that follow cost less.

    Python collects no garbage from here on: next to nothing of what is imported is garbage. The
    window's own collector takes over (`garbage`).

    PySide6 searches the text of every module imported after it, about four hundred, for its own
    name, to find those that may request snake_case or properties. This takes a seventh of the
    start. Where there are no sources, as in an installed program, PySide6 skips the search; this
    makes it skip the search here too.
    """
    gc.disable()
    import PySide6.QtCore  # noqa: F401, PLC0415 - imported for the switch that it sets

    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: False  # type: ignore[union-attr]

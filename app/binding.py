"""Imports PySide6 with its per-module feature switches disabled."""

from __future__ import annotations

import sys

import PySide6.QtCore  # noqa: F401 - imported for the switch that it sets


def spare_sources() -> None:
    """Import the modules that follow without reading their sources.

    PySide6 searches the text of every module imported after it, about four hundred, for its own
    name, to find those that may request snake_case or properties. This takes a seventh of the
    start. Where there are no sources, as in an installed program, PySide6 skips the search; this
    makes it skip the search here too.
    """
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: False  # type: ignore[union-attr]

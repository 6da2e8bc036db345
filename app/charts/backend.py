"""Imports pyqtgraph in half of its time."""

from __future__ import annotations

import sys
from types import ModuleType

from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtGui import QPixmapCache


def _load() -> ModuleType:
    """Import pyqtgraph without its mirror of Qt.

    Its package `Qt` copies every name of three Qt modules into modules of its own, for which the
    binding has to create every class of Qt: 60 of 130 ms. Here those modules are Qt's own, and they
    list no names to copy while pyqtgraph is imported. The OpenGL bindings (10 MB), which no chart
    uses, are not loaded either.
    """
    if (already := sys.modules.get("pyqtgraph")) is not None:
        return already
    listings = {module: vars(module).get("__dir__") for module in (QtCore, QtGui, QtWidgets)}
    for module in listings:
        sys.modules[module.__name__.replace("PySide6", "pyqtgraph.Qt")] = module
        module.__dir__ = list
    stand_ins = _without_opengl()
    try:
        import pyqtgraph  # noqa: PLC0415
    finally:
        for name in stand_ins:
            del sys.modules[name]
        for module, listing in listings.items():
            del module.__dir__
            if listing is not None:
                module.__dir__ = listing
    return pyqtgraph


def _without_opengl() -> list[str]:
    """Install stub modules with the one class that pyqtgraph derives from; returns their names."""
    names = [f"PySide6.{name}" for name in ("QtOpenGL", "QtOpenGLWidgets")]
    names = [name for name in names if name not in sys.modules]
    for name in names:
        sys.modules[name] = module = ModuleType(name)
        module.__dict__["QOpenGLWidget"] = type("QOpenGLWidget", (QtWidgets.QWidget,), {})
    return names


pg = _load()

# Moves of the mouse are not dropped: the card and a drag follow it.
pg.setConfigOptions(mouseRateLimit=-1)
# The still lines of three charts on a large screen, which Qt keeps as pictures.
QPixmapCache.setCacheLimit(1 << 17)

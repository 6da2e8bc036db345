"""Widgets that paint themselves, and what rows of lists have in common."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.theme import Theme, current, paint_icon

_Self = TypeVar("_Self")
_P = ParamSpec("_P")
_log = logging.getLogger(__name__)


def guarded(
    paint: Callable[Concatenate[_Self, _P], None],
) -> Callable[Concatenate[_Self, _P], None]:
    """Log an exception of a painting method; Qt would end the program with a segmentation fault."""

    @functools.wraps(paint)
    def painted(self: _Self, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            paint(self, *args, **kwargs)
        except Exception:
            _log.exception("%s cannot be drawn.", type(self).__name__)

    return painted


class Painting:
    """Mixed into a widget that paints itself, with smooth edges and in the colours of a theme."""

    _theme: Theme | None = None

    @property
    def theme(self) -> Theme:
        return self._theme or current()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    @guarded
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self.paint(painter)
        finally:
            painter.end()

    def paint(self, painter: QPainter) -> None:
        raise NotImplementedError


class Painted(Painting, QWidget):
    """A widget that does nothing else."""

    def __init__(self, theme: Theme | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme


def draw_focus(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    painter.setPen(QPen(QColor(theme.focus), 2))
    painter.setBrush(QBrush())
    painter.drawRoundedRect(box, radius, radius)


def draw_tick(
    painter: QPainter, theme: Theme, box: QRectF, *, on: bool, usable: bool = True
) -> None:
    """Draw a check box, as the style sheet has it."""
    edge = theme.primary if on else theme.edge
    painter.setPen(QPen(QColor(edge if usable else theme.line2), 1))
    painter.setBrush(QColor(theme.primary if on and usable else theme.sunken))
    painter.drawRoundedRect(box, 4, 4)
    if on:
        paint_icon(painter, "check", theme.on_primary, box.adjusted(2, 2, -2, -2))


def write(
    painter: QPainter,
    room: QRectF,
    text: str,
    face: QFont,
    colour: str,
    *,
    align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter,
) -> None:
    """Draw a line of text, elided."""
    painter.setFont(face)
    painter.setPen(QColor(colour))
    shown = QFontMetricsF(face).elidedText(text, Qt.TextElideMode.ElideRight, room.width() + 0.5)
    painter.drawText(room, int(align), shown)

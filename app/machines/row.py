"""A machine in the list: its state, its name, its address and its role."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.colour import with_opacity
from app.machines.records import State
from app.painted import Painting, draw_focus
from app.plain import tip
from app.theme import Weight, font

_HEIGHT = 62


class MachineRow(Painting, QAbstractButton):
    """One of an exclusive group; arrow keys move between them."""

    def __init__(self, name: str, where: str, roles: str) -> None:
        super().__init__()
        self.name, self._where, self._roles = name, where, roles
        self.state = State("", "")
        self.setText(name)
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_state(self, state: State) -> None:
        self.state = state
        parts = [self.text(), state.word, self._roles, self._where]
        self.setAccessibleName(", ".join(word for word in parts if word))
        self.setToolTip(tip("\n".join(word for word in (self._where, state.word) if word)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(240, _HEIGHT)

    def paint(self, painter: QPainter) -> None:
        theme = self.theme
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.isChecked() or self.underMouse():
            raised = theme.raised if theme.dark else theme.line
            painter.setPen(QPen(QColor(theme.edge if self.isChecked() else theme.line), 1))
            painter.setBrush(QColor(raised if self.isChecked() else theme.raised))
            painter.drawRoundedRect(box, 8, 8)
        if self.hasFocus():
            draw_focus(painter, theme, box, 8)
        upper = self.rect().adjusted(14, 8, -14, -_HEIGHT // 2 + 1)
        lower = self.rect().adjusted(14, _HEIGHT // 2 + 1, -14, -9)
        colour = getattr(theme, self.state.tone or "muted")
        word = elided(self.state.word, 12, Weight.Medium, upper.width() * 0.58)
        wide = QFontMetrics(font(12, Weight.Medium)).horizontalAdvance(word)
        painter.setFont(font(12, Weight.Medium))
        painter.setPen(QColor(colour))
        painter.drawText(upper, _RIGHT, word)
        if word:
            light = QPointF(upper.right() - wide - 11, upper.center().y() + 1)
            paint_light(painter, light, colour, lit=bool(self.state.tone))
        painter.setFont(font(14, Weight.DemiBold))
        painter.setPen(QColor(theme.text))
        room = upper.width() - wide - 28
        painter.drawText(upper, _LEFT, elided(self.text(), 14, Weight.DemiBold, room))
        painter.setFont(font(12))
        painter.setPen(QColor(theme.muted if not self.isChecked() else theme.soft))
        painter.drawText(lower, _RIGHT, self._roles)
        used = QFontMetrics(font(12)).horizontalAdvance(self._roles)
        room = lower.width() - used - 12
        painter.drawText(lower, _LEFT, elided(self._where, 12, Weight.Normal, room))


_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


def paint_light(painter: QPainter, at: QPointF, colour: str, *, lit: bool) -> None:
    """Paint a ring where nothing is known, else a dot with a halo."""
    painter.setPen(Qt.PenStyle.NoPen)
    if lit:
        painter.setBrush(with_opacity(colour, 0.25))
        painter.drawEllipse(at, 6.5, 6.5)
        painter.setBrush(QColor(colour))
        painter.drawEllipse(at, 3.6, 3.6)
    else:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colour), 1.4))
        painter.drawEllipse(at, 3.6, 3.6)


def elided(text: str, px: float, weight: Weight, room: float) -> str:
    metrics = QFontMetrics(font(px, weight))
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, int(room)))

"""A machine in the picture of all."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.machines.fleet_parts import Member
from app.machines.row import elided, paint_light
from app.painted import Painting
from app.plain import tip
from app.theme import Weight, font, paint_icon

NODE_PX = 50
"""Its height."""
_EDGE_PX, _LIGHT_PX = 12, 20
"""Beside its texts, and for its light."""


class Node(Painting, QAbstractButton):
    """A machine; a click shows its page, or the form for an example."""

    def __init__(self, member: Member) -> None:
        super().__init__()
        self.member = member
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        parts = [member.title, "" if member.example else member.roles]
        self.setAccessibleName(", ".join(part for part in (*parts, *self._about) if part))
        self.setToolTip(tip(self.accessibleName()))

    def sizeHint(self) -> QSize:
        name = QFontMetrics(font(13, Weight.DemiBold)).horizontalAdvance(self.member.title)
        about = QFontMetrics(font(12)).horizontalAdvance(" · ".join(self._about))
        return QSize(max(name + _LIGHT_PX, about) + 2 * _EDGE_PX + 2, NODE_PX)

    @property
    def _about(self) -> list[str]:
        member = self.member
        via = f"via {member.via}" if member.via else ""
        return [part for part in (member.state.word, member.clock, via) if part]

    def paint(self, painter: QPainter) -> None:
        theme, member = self.theme, self.member
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        edge = QPen(QColor(theme.edge), 1)
        if member.example:
            edge.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(QPen(QColor(theme.focus), 2) if self.hasFocus() else edge)
        painter.setBrush(QColor(theme.raised if self.underMouse() else theme.card))
        painter.drawRoundedRect(box, 8, 8)
        upper = self.rect().adjusted(_EDGE_PX, 6, -_EDGE_PX, -NODE_PX // 2 + 1)
        lower = self.rect().adjusted(_EDGE_PX, NODE_PX // 2, -_EDGE_PX, -6)
        painter.setFont(font(13, Weight.DemiBold))
        painter.setPen(QColor(theme.soft if member.example else theme.text))
        name_room = upper.width() - _LIGHT_PX
        left = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(upper, left, elided(member.title, 13, Weight.DemiBold, name_room))
        if member.example:
            paint_icon(
                painter, "plus", theme.soft, QRectF(upper.right() - 14, upper.y() + 2, 14, 14)
            )
        else:
            colour = getattr(theme, member.state.tone or "muted")
            at = QPointF(upper.right() - 6, upper.center().y() + 1)
            paint_light(painter, at, colour, lit=bool(member.state.tone))
        painter.setFont(font(12))
        painter.setPen(QColor(theme.muted))
        text = " · ".join(self._about)
        painter.drawText(lower, left, elided(text, 12, Weight.Normal, lower.width()))

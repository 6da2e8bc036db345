"""The machines of a run as a picture: clients, their links, the target, and who controls them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QLabel, QSizePolicy, QWidget

from app.machines.fleet_parts import Fleet, Member, Wire
from app.machines.row import elided, paint_light
from app.plain import tip
from app.theme import LIGHT, Theme, Weight, font, paint_icon
from app.widgets import dress, label

_NODE_PX = 50
_STEP_PX = 60
_LINK_PX = 176
"""The least length of a link, with room for its figures."""
_WIDE = 700
"""From this width on, this computer stands beside the clients; otherwise above them."""


class Node(QAbstractButton):
    """A machine; a click shows its page, or the form for an example."""

    def __init__(self, member: Member) -> None:
        super().__init__()
        self.member = member
        self._theme = LIGHT
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        parts = [member.title, "" if member.example else member.roles]
        parts += [member.state.word, member.clock]
        self.setAccessibleName(", ".join(part for part in parts if part))
        self.setToolTip(tip(self.accessibleName()))

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(180, _NODE_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, member, painter = self._theme, self.member, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        edge = QPen(QColor(theme.edge), 1)
        if member.example:
            edge.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(QPen(QColor(theme.focus), 2) if self.hasFocus() else edge)
        painter.setBrush(QColor(theme.raised if self.underMouse() else theme.card))
        painter.drawRoundedRect(box, 8, 8)
        upper = self.rect().adjusted(12, 6, -10, -_NODE_PX // 2 + 1)
        lower = self.rect().adjusted(12, _NODE_PX // 2, -10, -6)
        painter.setFont(font(13, Weight.DemiBold))
        painter.setPen(QColor(theme.soft if member.example else theme.text))
        name_room = upper.width() - 18
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
        text = " · ".join(part for part in (member.state.word, member.clock) if part)
        painter.drawText(lower, left, elided(text, 12, Weight.Normal, lower.width()))
        painter.end()


class Picture(QWidget):
    """Solid lines carry load, dashed ones are SSH from this computer."""

    chosen = Signal(str)
    """A machine's name."""
    example_chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._fleet: Fleet | None = None
        self._ghost: Member | None = None
        self._nodes: dict[str, Node] = {}
        self._texts: dict[str, tuple[QLabel, QLabel]] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_fleet(self, fleet: Fleet, ghost: Member | None) -> None:
        """`ghost`: an example of a target."""
        if (fleet, ghost) == (self._fleet, self._ghost):
            return
        focused = next((name for name, node in self._nodes.items() if node.hasFocus()), "")
        for each in self.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            each.hide()
            each.deleteLater()
        self._fleet, self._ghost = fleet, ghost
        self._nodes = {}
        for member in self._members():
            self._nodes[member.name] = self._node(member)
        self._texts = {name: self._text(wire) for name, wire in fleet.wires.items()}
        dress(self, self._theme)
        if focused in self._nodes:
            self._nodes[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        self._place()
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, self._top + max(1, len(self._left)) * _STEP_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(420, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        fleet = self._fleet
        if fleet is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if fleet.control is not None:
            dashed = QPen(QColor(self._theme.edge), 1, Qt.PenStyle.DashLine)
            painter.setPen(dashed)
            self._paint_control(painter, self._nodes[fleet.control.name])
        end = self._nodes[fleet.target.name].geometry()
        bus = end.left() - 22.0
        tip_at = QPointF(end.left() - 2, end.center().y())
        # The latest lie on top where they share a way.
        for name, wire in sorted(fleet.wires.items(), key=lambda each: each[1].fresh):
            box = self._nodes[name].geometry()
            pen = QPen(QColor(self._theme.soft if wire.fresh else self._theme.edge), 1.5)
            painter.setPen(pen)
            path = QPainterPath(QPointF(box.right() + 1, box.center().y()))
            path.lineTo(bus, box.center().y())
            path.lineTo(bus, tip_at.y())
            path.lineTo(tip_at)
            painter.drawPath(path)
        if fleet.wires:
            fresh = any(wire.fresh for wire in fleet.wires.values())
            painter.setBrush(QColor(self._theme.soft if fresh else self._theme.edge))
            painter.setPen(Qt.PenStyle.NoPen)
            head = [tip_at, tip_at + QPointF(-8, -4.5), tip_at + QPointF(-8, 4.5)]
            painter.drawPolygon(head)
        painter.end()

    def _paint_control(self, painter: QPainter, control: Node) -> None:
        assert self._fleet is not None
        box = control.geometry()
        boxes = [self._nodes[m.name].geometry() for m in self._left if not m.example]
        end = self._nodes[self._fleet.target.name].geometry()
        if self._beside:
            trunk = box.right() + 18.0
            painter.drawLine(
                QPointF(box.right(), box.center().y()), QPointF(trunk, box.center().y())
            )
            low, high = boxes[0].center().y(), boxes[-1].center().y()
            painter.drawLine(QPointF(trunk, min(low, box.center().y())), QPointF(trunk, high))
            above = QPointF(box.center().x(), box.top())
        else:
            trunk = 8.0
            painter.drawLine(QPointF(trunk, box.bottom()), QPointF(trunk, boxes[-1].center().y()))
            above = QPointF(box.right(), box.center().y())
        for each in boxes:
            painter.drawLine(
                QPointF(trunk, each.center().y()), QPointF(each.left(), each.center().y())
            )
        over = QPainterPath(above)
        line = 8.0 if self._beside else above.y()
        if self._beside:
            over.lineTo(above.x(), line)
        over.lineTo(end.center().x(), line)
        over.lineTo(end.center().x(), end.top())
        painter.drawPath(over)

    # Layout

    @property
    def _left(self) -> Sequence[Member]:
        """The column of clients; alone, the target is one of them."""
        return self._fleet.clients if self._fleet else ()

    @property
    def _beside(self) -> bool:
        return self.width() >= _WIDE

    @property
    def _top(self) -> int:
        if self._fleet is None or self._fleet.control is None:
            return 4
        return 24 if self._beside else _STEP_PX

    def _members(self) -> list[Member]:
        assert self._fleet is not None
        control = [self._fleet.control] if self._fleet.control else []
        found = [*control, *self._fleet.clients, self._fleet.target]
        found += [self._ghost] if self._ghost else []
        return list({member.name: member for member in found}.values())

    def _node(self, member: Member) -> Node:
        node = Node(member)
        node.setParent(self)
        chosen = self.example_chosen if member.example else self.chosen
        node.clicked.connect(lambda: chosen.emit(member.name))
        node.show()
        return node

    def _text(self, wire: Wire) -> tuple[QLabel, QLabel]:
        upper = label(wire.figures, 12, tone="soft" if wire.fresh else "muted")
        lower = label(wire.when, 11, tone="muted")
        for each in (upper, lower):
            each.setParent(self)
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setToolTip(tip(wire.spoken))
            each.show()
        upper.setAccessibleDescription(wire.spoken)
        return upper, lower

    def _place(self) -> None:
        fleet = self._fleet
        if fleet is None:
            return
        beside = self._beside and fleet.control is not None
        wide = 150 if beside else 0
        left = wide + 36 if beside else 20 if fleet.control else 0
        room = self.width() - left
        node = min(280, (room - _LINK_PX) // 2)
        end_x = self.width() - node
        tops = [self._top + place * _STEP_PX for place in range(len(fleet.clients))]
        middle = (tops[0] + tops[-1]) // 2
        for member, top in zip(fleet.clients, tops, strict=True):
            self._nodes[member.name].setGeometry(left, top, node, _NODE_PX)
        if not fleet.alone:
            self._nodes[fleet.target.name].setGeometry(end_x, middle, node, _NODE_PX)
        if self._ghost is not None:
            at = tops[0] if fleet.alone else middle + _STEP_PX
            self._nodes[self._ghost.name].setGeometry(end_x, at, node, _NODE_PX)
        if fleet.control is not None:
            at = middle if beside else 0
            width = wide if beside else node
            self._nodes[fleet.control.name].setGeometry(0, at, width, _NODE_PX)
        for name, (upper, lower) in self._texts.items():
            box = self._nodes[name].geometry()
            x, width = box.right() + 6, end_x - 26 - box.right() - 8
            upper.setGeometry(x, box.center().y() - 19, width, 17)
            lower.setGeometry(x, box.center().y() + 3, width, 16)

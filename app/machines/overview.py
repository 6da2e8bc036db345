"""All machines at once: who does what in a run, over which links, and what the clients offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.fields import Options
from app.machines.cards import WIDEST, Card
from app.machines.fleet_parts import (
    Findings,
    Fleet,
    Member,
    Wire,
    example_target,
    fleet,
    offer,
    targets,
)
from app.machines.listing import MachineButton
from app.machines.records import HERE
from app.painted import Painted
from app.plain import tip
from app.scrolling import Scrolled
from app.theme import Weight, font
from app.widgets import GAP, column, label, retone, row
from workbench.formatting import listed
from workbench.machines.profiles import Profile

NODE_PX = 50
"""Its height."""
_STEP_PX = 60
_LINK_PX, _BESIDE_FIGURES_PX = 60, 40
"""The least length of a link, and what it has beside its figures."""
_NARROW_PX = 160
"""Where machines have no such width, figures take two lines."""
_DOTS = (0.01, 3)
"""Of a round pen, in its widths: unlike the dashes of SSH."""
_WIDE = 700
"""From this width on, this computer stands beside the clients; otherwise above them."""


class Node(MachineButton):
    """A machine; a click shows its page, or the form for an example."""

    def __init__(self, member: Member) -> None:
        via = f"via {member.via}" if member.via else ""
        about = [part for part in (member.state.word, member.clock, via) if part]
        kind = "example" if member.example else "node"
        super().__init__(kind, member.title, [" · ".join(about)])
        self.show_state(member.state, short=True)
        self.layout().setContentsMargins(12, 4, 12, 4)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        parts = [member.title, "" if member.example else member.roles]
        self.setAccessibleName(", ".join(part for part in (*parts, *about) if part))
        self.setToolTip(tip(self.accessibleName()))


class Picture(Painted):
    """Solid lines carry load, dotted ones will, dashed ones are SSH from this computer."""

    chosen = Signal(str)
    """A machine's name."""
    example_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
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
        self._texts = {}
        for name, wire in fleet.wires.items():
            if wire.figures:
                self._texts[name] = self._text(wire)
            else:
                self._nodes[name].setAccessibleDescription(wire.spoken)
        if focused in self._nodes:
            self._nodes[focused].setFocus(Qt.FocusReason.OtherFocusReason)
        self._place()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(480, self._top + max(1, len(self._left)) * _STEP_PX)

    def minimumSizeHint(self) -> QSize:
        return QSize(420, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._place()
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def paint(self, painter: QPainter) -> None:
        fleet = self._fleet
        if fleet is None:
            return
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if fleet.control is not None:
            dashed = QPen(QColor(self.theme.edge), 1, Qt.PenStyle.DashLine)
            painter.setPen(dashed)
            self._paint_control(painter, self._nodes[fleet.control.name])
        end = self._nodes[fleet.target.name].geometry()
        bus = end.left() - 22.0
        tip_at = QPointF(end.left() - 2, end.center().y())
        # The latest lie on top where they share a way, which is drawn once for each kind.
        for measured, fresh in ((False, False), (True, False), (True, True)):
            alike = [
                self._nodes[name].geometry()
                for name, wire in fleet.wires.items()
                if (bool(wire.figures), wire.fresh) == (measured, fresh)
            ]
            if not alike:
                continue
            pen = QPen(QColor(self.theme.soft if fresh else self.theme.edge), 1.5)
            if not measured:
                pen = QPen(pen.color(), 2)
                pen.setCapStyle(Qt.PenCapStyle.RoundCap)
                pen.setDashPattern(_DOTS)
            painter.setPen(pen)
            heights = [float(box.center().y()) for box in alike]
            for box, y in zip(alike, heights, strict=True):
                painter.drawLine(QPointF(box.right() + 1, y), QPointF(bus, y))
            heights.append(tip_at.y())
            painter.drawLine(QPointF(bus, min(heights)), QPointF(bus, max(heights)))
            painter.drawLine(QPointF(bus, tip_at.y()), tip_at)
        if fleet.wires:
            fresh = any(wire.fresh for wire in fleet.wires.values())
            painter.setBrush(QColor(self.theme.soft if fresh else self.theme.edge))
            painter.setPen(Qt.PenStyle.NoPen)
            head = [tip_at, tip_at + QPointF(-8, -4.5), tip_at + QPointF(-8, 4.5)]
            painter.drawPolygon(head)

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

    def _widths(self, room: int, *, beside: bool) -> tuple[int, int]:
        """Return the widths of the machines at the left and at the right: what they need, if the
        figures between them leave it. `beside`: this computer stands in a column of its own.
        """
        fleet = self._fleet
        assert fleet is not None
        ends = {fleet.target.name} if not fleet.alone else set()
        ends |= {self._ghost.name} if self._ghost else set()
        apart = {fleet.control.name} if fleet.control and beside else set()
        needed = {name: node.sizeHint().width() for name, node in self._nodes.items()}
        right = max((needed[name] for name in ends), default=0)
        left = max(wide for name, wide in needed.items() if name not in ends | apart)
        advance = QFontMetrics(font(12)).horizontalAdvance
        figures = [(upper, fleet.wires[name].figures) for name, (upper, _) in self._texts.items()]
        link = max((advance(text) for _, text in figures), default=0) + _BESIDE_FIGURES_PX
        narrow = room - link < min(left, _NARROW_PX) + min(right, _NARROW_PX)
        for upper, text in figures:
            upper.setText(text.replace(" · ", "\n", 1) if narrow else text)
        if narrow and figures:
            parts = [part for _, text in figures for part in text.split(" · ", 1)]
            link = max(map(advance, parts)) + _BESIDE_FIGURES_PX
        free = room - max(link, _LINK_PX)
        right = min(right, max(free // 2, free - left))
        return min(left, free - right), right

    def _place(self) -> None:
        fleet = self._fleet
        if fleet is None:
            return
        beside = self._beside and fleet.control is not None
        wide = 150 if beside else 0
        left = wide + 36 if beside else 20 if fleet.control else 0
        node, end = self._widths(self.width() - left, beside=beside)
        end_x = self.width() - end
        tops = [self._top + place * _STEP_PX for place in range(len(fleet.clients))]
        middle = (tops[0] + tops[-1]) // 2
        for member, top in zip(fleet.clients, tops, strict=True):
            self._nodes[member.name].setGeometry(left, top, node, NODE_PX)
        if not fleet.alone:
            self._nodes[fleet.target.name].setGeometry(end_x, middle, end, NODE_PX)
        if self._ghost is not None:
            at = tops[0] if fleet.alone else middle + _STEP_PX
            self._nodes[self._ghost.name].setGeometry(end_x, at, end, NODE_PX)
        if fleet.control is not None:
            at = middle if beside else 0
            width = wide if beside else node
            self._nodes[fleet.control.name].setGeometry(0, at, width, NODE_PX)
        for name, (upper, lower) in self._texts.items():
            box = self._nodes[name].geometry()
            x, width = box.right() + 6, end_x - 26 - box.right() - 8
            lines = upper.text().count("\n") + 1
            upper.setGeometry(x, box.center().y() - 2 - 17 * lines, width, 17 * lines)
            lower.setGeometry(x, box.center().y() + 3, width, 16)


_LOAD = "Solid lines: load, with round trip and rate as measured before the last run."
_DOTTED = "Dotted lines: not measured yet."
_NONE = "No link measured yet (dotted lines); a run measures each before its first point."
_SSH = "Dashed lines: SSH from this computer."
_CLOCKS = "Clocks are those of the last check."
_PALE = "Pale: more than a day old."
_LOOPBACK = "Target and client are one machine: connections stay on loopback, without a network."
_EXAMPLES = "Dashed boxes are examples: a click opens one as a form, to enter your own address."


class Overview(QWidget):
    """Clicks on machines go to their pages."""

    chosen = Signal(str)
    example_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.target = Options("Target of the picture", [])
        self.target.edited.connect(self._on_target)
        self._wanted = ""
        """The target that the user chose; empty: the first."""
        self._draw: Callable[[str], None] = lambda target: None
        picture = Card("Fleet")
        head = label("Target", 12, tone="muted")
        head.setBuddy(self.target)
        self._head = head
        picture.head.addWidget(head)
        picture.head.addWidget(self.target)
        self.picture = Picture()
        self.picture.chosen.connect(self.chosen)
        self.picture.example_chosen.connect(self.example_chosen)
        picture.body.addWidget(self.picture)
        self._legend = label("", 12, tone="muted", wrap=True)
        self._examples = label(_EXAMPLES, 12, tone="muted", wrap=True)
        picture.foot.addWidget(self._legend, 1)
        picture.body.addWidget(self._examples)
        together = Card("Client limit")
        self._figure = label("", 20, Weight.DemiBold)
        self._about = label("", 13, tone="soft", wrap=True)
        together.body.addWidget(self._figure)
        together.body.addWidget(self._about)
        body = QWidget()
        body.setMaximumWidth(WIDEST)
        inside = column(body, gap=GAP)
        inside.setAlignment(Qt.AlignmentFlag.AlignTop)
        inside.addWidget(together)
        inside.addWidget(picture)
        outer = row(self)
        outer.addWidget(Scrolled(body))

    def display(
        self,
        profiles: Sequence[Profile],
        examples: Sequence[Profile],
        findings: Findings,
        damaged: Sequence[str] = (),
    ) -> None:
        """`damaged`: names of machines whose profiles are invalid."""
        names = targets(profiles)
        if [self.target.itemData(n) for n in range(self.target.count())] != names:
            self.target.clear()
            for name in names:
                self.target.addItem("This computer" if name == HERE else name, name)
            self.target.set_value(self._wanted if self._wanted in names else names[0])
        for each in (self._head, self.target):
            each.setVisible(len(names) > 1)

        def draw(target: str) -> None:
            ghost = example_target(examples, profiles)
            found = fleet(profiles, examples, target, findings)
            self.picture.show_fleet(found, ghost)
            ghosts = ghost is not None or any(member.example for member in found.clients)
            self._examples.setVisible(ghosts)
            self._legend.setText(_legend(found, damaged))
            offered = offer(found, findings.history)
            self._figure.setText(offered.figure)
            retone(self._figure, "" if offered.fresh else "muted")
            self._about.setText(offered.text)

        self._draw = draw
        self._show()

    def _on_target(self) -> None:
        self._wanted = self.target.value()
        self._show()

    def _show(self) -> None:
        self._draw(self.target.value() or HERE)


def _legend(found: Fleet, damaged: Sequence[str]) -> str:
    measured = [bool(wire.figures) for wire in found.wires.values()]
    texts = [_LOOPBACK] if found.alone else [_LOAD] if any(measured) else [_NONE]
    if any(measured) and not all(measured):
        texts.append(_DOTTED)
    if found.control:
        texts.append(_SSH)
    clocks = any(member.clock for member in (found.target, *found.clients))
    if clocks:
        texts.append(_CLOCKS)
    if clocks or any(measured):
        texts.append(_PALE)
    if damaged:
        texts.append(f"Not shown, with an invalid profile: {listed(damaged)}.")
    return " ".join(texts)

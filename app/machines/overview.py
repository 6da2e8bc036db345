"""All machines at once: who does what in a run, over which links, and what the clients offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

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
from app.theme import Weight
from app.widgets import GAP, column, empty, label, retone, row
from workbench.formatting import listed
from workbench.machines.profiles import Profile

_LINK_PX, _TIP_PX, _GAP_PX = 110, 8, 6
"""The least length of a link, of its tip, and what is between its texts."""
_DOTS = (0.01, 3)
"""Of a round pen, in its widths."""


class Node(MachineButton):
    """A machine; a click shows its page, or the form for an example."""

    def __init__(self, member: Member) -> None:
        via = f"via {member.via}" if member.via else ""
        about = [part for part in (member.state.word, member.clock, via) if part]
        kind = "example" if member.example else "node"
        super().__init__(kind, member.title, [" · ".join(about)])
        self.show_state(member.state, short=True)
        self.layout().setContentsMargins(12, 4, 12, 4)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        parts = [member.title, "" if member.example else member.roles]
        self.setAccessibleName(", ".join(part for part in (*parts, *about) if part))
        self.setToolTip(tip(self.accessibleName()))


class Link(Painted):
    """From a client at the left to the target at the right: solid where it was measured, with the
    figures above the line and their age below it, else dotted.
    """

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire
        inside = column(self, gap=_GAP_PX)
        inside.setContentsMargins(_TIP_PX, 0, _TIP_PX, 0)
        self._upper = label(wire.figures, 12, tone="soft" if wire.fresh else "muted", wrap=True)
        lower = label(wire.when, 11, tone="muted")
        self._upper.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom)
        lower.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        for each in (self._upper, lower):
            inside.addWidget(each, 1)
            each.setToolTip(tip(wire.spoken))
        self._upper.setAccessibleDescription(wire.spoken)

    def paint(self, painter: QPainter) -> None:
        wire, theme = self._wire, self.theme
        colour, y = QColor(theme.soft if wire.fresh else theme.edge), self.height() / 2
        pen = QPen(colour, 1.5 if wire.figures else 2)
        if not wire.figures:
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            pen.setDashPattern(_DOTS)
        painter.setPen(pen)
        end = QPointF(self.width() - 2, y)
        painter.drawLine(QPointF(2, y), end - QPointF(_TIP_PX, 0))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawPolygon([end, end + QPointF(-_TIP_PX, -4.5), end + QPointF(-_TIP_PX, 4.5)])


class Picture(QWidget):
    """The clients at the left, each with its link to the target at the right; above them this
    computer, if it only controls them.
    """

    chosen = Signal(str)
    """A machine's name."""
    example_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Fleet | None, Member | None] = None, None
        self._nodes: dict[str, Node] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(4)
        self._grid.setVerticalSpacing(10)
        for place, share in enumerate((3, 2, 3)):
            self._grid.setColumnStretch(place, share)
        self._grid.setColumnMinimumWidth(1, _LINK_PX)

    def show_fleet(self, fleet: Fleet, ghost: Member | None) -> None:
        """`ghost`: an example of a target."""
        if (fleet, ghost) == self._shown:
            return
        focused = next((name for name, node in self._nodes.items() if node.hasFocus()), "")
        self._shown = fleet, ghost
        self._nodes = {}
        empty(self._grid)
        first = 0
        if fleet.control is not None:
            self._grid.addWidget(self._node(fleet.control), 0, 0)
            said = label(f"{fleet.control.roles}, over SSH", 12, tone="muted")
            self._grid.addWidget(said, 0, 1, 1, 2)
            first = 1
        for place, member in enumerate(fleet.clients, first):
            node = self._node(member)
            self._grid.addWidget(node, place, 0)
            wire = fleet.wires.get(member.name)
            if wire is not None and not member.example:
                self._grid.addWidget(Link(wire), place, 1)
                node.setAccessibleDescription("" if wire.figures else wire.spoken)
        if not fleet.alone:
            end = self._node(fleet.target)
            # As high as all clients, so that every link ends at it.
            end.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
            self._grid.addWidget(end, first, 2, len(fleet.clients), 1)
        if ghost is not None:
            below = 0 if fleet.alone else len(fleet.clients)
            self._grid.addWidget(self._node(ghost), first + below, 2)
        if focused in self._nodes:
            self._nodes[focused].setFocus(Qt.FocusReason.OtherFocusReason)

    def _node(self, member: Member) -> Node:
        node = self._nodes[member.name] = Node(member)
        chosen = self.example_chosen if member.example else self.chosen
        node.clicked.connect(lambda: chosen.emit(member.name))
        return node


_LOAD = "Solid lines: load, with round trip and rate as measured before the last run."
_DOTTED = "Dotted lines: not measured yet."
_NONE = "No link measured yet (dotted lines); a run measures each before its first point."
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
    clocks = any(member.clock for member in (found.target, *found.clients))
    if clocks:
        texts.append(_CLOCKS)
    if clocks or any(measured):
        texts.append(_PALE)
    if damaged:
        texts.append(f"Not shown, with an invalid profile: {listed(damaged)}.")
    return " ".join(texts)

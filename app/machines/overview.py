"""All machines at once: who does what in a run, over which links, and what the clients offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.fields import Options
from app.machines.cards import WIDEST, Card
from app.machines.fleet_parts import Findings, Fleet, example_target, fleet, offer, targets
from app.machines.picture import Picture
from app.machines.records import HERE
from app.scrolling import Scrolled
from app.theme import Theme, Weight
from app.widgets import GAP, column, dress, label, repolish, row
from workbench.formatting import listed

if TYPE_CHECKING:
    from workbench.machines.profiles import Profile

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

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
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
        self.picture = Picture(theme)
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

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

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
            tone = "" if offered.fresh else "muted"
            if self._figure.property("tone") != tone:
                self._figure.setProperty("tone", tone)
                repolish(self._figure)
            self._about.setText(offered.text)

        self._draw = draw
        self._show()

    def _on_target(self) -> None:
        self._wanted = self.target.value()
        self._show()

    def _show(self) -> None:
        self._draw(self.target.value() or HERE)
        dress(self, self._theme)


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

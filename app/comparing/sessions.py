"""The sessions of a comparison, each with its letter and its servers to tick, and in what they
differ, the most serious first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from app.charts.drawing import draw_tag, side_style, stroke
from app.fields import Tick
from app.painted import Painted
from app.plain import tip
from app.theme import Marker, SeriesStyle
from app.theme import Weight as FontWeight
from app.widgets import (
    Elided,
    Sign,
    beside,
    button,
    column,
    empty,
    fill,
    label,
    retone,
    set_icon,
    stack,
)
from app.words import told_apart, when
from workbench.formatting import continued
from workbench.results.comparison import Side
from workbench.results.conditions import Conditions, Weight

_LINE = 28
"""Wide enough for all dots of the fourth session."""


class Tag(Painted):
    """The letter of a session; the first one's is filled."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self._tag = tag
        self.setFixedSize(18, 18)
        self.setAccessibleName(tag)

    def paint(self, painter: QPainter) -> None:
        draw_tag(painter, QRectF(0.5, 0.5, 17, 17), self._tag, self.theme)


class SessionLine(Painted):
    """A sample of a session's line style, in no server's colour."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self._place = place
        self.setFixedSize(_LINE, 6)

    def paint(self, painter: QPainter) -> None:
        plain = SeriesStyle(self.theme.text, (), Marker.CIRCLE)
        pen = side_style(plain, self._place, self.theme).pen()
        begin = -pen.dashPattern()[0] * pen.widthF() / 2 if pen.dashPattern() else 0.0
        stroke(painter, np.array([[begin, 3.0], [self.width(), 3.0]]), pen)


class SessionCards(QWidget):
    """One card per session; remembers which are unfolded."""

    ticked = Signal(str, bool)
    """A contender's key, and whether it is to be shown."""
    removed = Signal(str)
    """A session's tag."""
    promoted = Signal(str)
    """A session's tag: it becomes the baseline."""

    def __init__(self) -> None:
        super().__init__()
        self._inside = column(self, gap=8)
        self._cards: dict[str, _SessionCard] = {}

    def show_sides(self, sides: Sequence[Side]) -> None:
        unfolded = {card.path for card in self._cards.values() if card.fold.isChecked()}
        empty(self._inside)
        self._cards = {}
        names = told_apart([(side.name, side.start, side.path) for side in sides])
        for place, side in enumerate(sides):
            file = side.path.name if names[side.path] != side.name else ""
            card = self._cards[side.tag] = _SessionCard(side, place, file, self)
            card.fold.setChecked(side.path in unfolded)
            self._inside.addWidget(card)

    def display(self, shown: Iterable[str]) -> None:
        """Set which contenders are shown, by their keys."""
        shown = set(shown)
        for card in self._cards.values():
            card.display(shown)


class _SessionCard(QFrame):
    def __init__(self, side: Side, place: int, file: str, cards: SessionCards) -> None:
        """`file`: its name, where another session has the same title and minute."""
        super().__init__(objectName="card")
        self.path = side.path
        self._side = side
        self._ticks: dict[str, Tick] = {}
        name, about = Elided(13, FontWeight.DemiBold), Elided(12, tone="muted")
        name.show_text(side.name)
        about.show_text(_about(side, file))
        content = QWidget()
        self.fold = _folding(f"Servers of {side.tag}", content)
        away = _small(f"Remove {side.tag} from the comparison")
        set_icon(away, "x")
        away.clicked.connect(lambda: cards.removed.emit(side.tag))
        line = stack(beside(None, Tag(side.tag), None), SessionLine(place), gap=5)
        head = beside(line, (stack(name, about, gap=1), 1), self.fold, away)
        warned = [label(warning, 12, tone="warn", wrap=True) for warning in side.warnings]
        body = column(content, *warned[1:], margin=(28, 6, 6, 2), gap=2)
        for contender in side.contenders:
            tick = self._ticks[contender.key] = Tick(contender.name)
            tick.setAccessibleName(f"Show {contender.label}")
            if not contender.measured:
                tick.setText(f"{contender.name} (no complete points)")
            tick.toggled.connect(lambda on, key=contender.key: cards.ticked.emit(key, on))
            body.addWidget(tick)
        if side.tag != "A":
            promote = partial(cards.promoted.emit, side.tag)
            fill(body, beside(button("Use as the baseline", kind="ghost", on_click=promote), None))
        for first in warned[:1]:
            first.setContentsMargins(28, 4, 6, 0)
        column(self, head, *warned[:1], content, margin=(12, 8, 6, 8))

    def display(self, shown: set[str]) -> None:
        for key, tick in self._ticks.items():
            tick.blockSignals(True)
            tick.setChecked(key in shown)
            tick.blockSignals(False)
            tick.update()


def _small(name: str) -> QPushButton:
    made = QPushButton(iconSize=QSize(16, 16), styleSheet="padding: 0; min-height: 24px;")
    made.setProperty("kind", "ghost")
    made.setFixedSize(28, 28)
    made.setAccessibleName(name)
    made.setToolTip(tip(name))
    return made


def _folding(name: str, body: QWidget) -> QPushButton:
    """Return a button that shows and hides a part of a card, which is hidden at first."""
    made = _small(name)
    made.setCheckable(True)

    def unfold(unfolded: bool) -> None:
        body.setVisible(unfolded)
        set_icon(made, "chevron-down" if unfolded else "chevron-right")

    made.toggled.connect(unfold)
    unfold(False)
    return made


def _about(side: Side, file: str) -> str:
    """Return a description: "14 Nov, 09:02 · atlas · 2 passes"; `file` comes first."""
    targets = ", ".join(m.name for m in side.start.machines if "target" in m.roles)
    passes = side.plan.get("repeats", 1)
    passes_text = f"{passes} passes" if passes > 1 else ""
    return " · ".join(filter(None, (file, when(side.start, short=True), targets, passes_text)))


class ConditionsCard(QFrame):
    """One line, which unfolds. It has the tone of a warning where a difference may be caused by the
    set-ups.
    """

    def __init__(self) -> None:
        super().__init__(objectName="inline")
        self._sign, self._title = Sign(px=18), Elided(13, FontWeight.DemiBold)
        self._rows = column(body := QWidget(), gap=5)
        fold = _folding("Differences between the sessions", body)
        column(self, beside(self._sign, (self._title, 1), fold), body, margin=12, gap=6)

    def display(self, found: Conditions, sessions: int) -> None:
        self.setVisible(sessions > 1)
        serious = found.audits or any(each.weight <= Weight.SETUP for each in found.differing)
        retone(self, "warn" if serious else "muted")
        self._sign.show_tone(*(("warn", "scale") if serious else ("ok", "")))
        headline, same = _headline(found), found.same_text()
        self._title.show_text(headline)
        differing = [each.text for each in (*found.differing, *found.audits)]
        empty(self._rows)
        if found.warnings:
            self._rows.addWidget(label(" ".join(found.warnings), 12, tone="soft", wrap=True))
        for text in differing:
            self._rows.addWidget(label(text, 12, FontWeight.Medium, wrap=True))
        if same:
            self._rows.addWidget(label(same, 12, tone="muted", wrap=True))
        said = headline, *found.warnings, *differing, same
        self.setAccessibleName("\n".join(filter(None, said)))


_WHAT = {
    Weight.QUESTION: "Not comparable",
    Weight.SETUP: "Different conditions",
    Weight.DETAIL: "Differences",
}


def _headline(found: Conditions) -> str:
    """Return what differs, the most serious: "Not comparable: timeout 2 s / 0.8 s"."""
    if not found.differing:
        noted = [*found.warnings, *(each.what for each in found.audits)]
        return noted[0] if noted else "Same recorded conditions"
    first, *others = found.differing
    values = " / ".join(dict.fromkeys(first.values.values()))
    more = f" and {len(others)} more" if others else ""
    return f"{_WHAT[first.weight]}: {continued(first.what)} {values}{more}"

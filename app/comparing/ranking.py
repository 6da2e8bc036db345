"""The servers ranked by sustained rate, with the interval of each limit and groups without a
significant difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.charts.drawing import draw_text, text_width
from app.charts.overlay import contender_style
from app.comparing.row import HEIGHT, Axis, RankingRow
from app.painted import Painted
from app.plain import Label, tip, wrapped
from app.theme import Theme, Weight, font
from app.widgets import column, empty, label, row
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import all_equal, basis_text, difference_in, groups

_LANE = 20
"""With a line of text beside a bracket."""
_LANES = 2
"""Brackets side by side; further groups are described in text only."""
_MOST_LINES = 2
"""Of text below the rows; the rest is its tool tip."""
_EQUAL, _INCONCLUSIVE = ("equal within 5 %", "equal"), ("cannot be distinguished", "inconclusive")
"""Text along a bracket, as much of it as fits."""


class RankingCard(QFrame):
    """Pointing at a row highlights its line; a click keeps it so."""

    pointed = Signal(str)
    """A contender's key; empty: none."""
    picked = Signal(str)
    """A contender's key."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._comparison: Comparison | None = None
        self._rows: dict[str, RankingRow] = {}
        inside = column(self, margin=12, gap=4)
        head = row()
        self._title = label("Sustained rate", 14, Weight.DemiBold)
        head.addWidget(self._title)
        head.addStretch()
        self._basis = label("", 12, tone="muted")
        head.addWidget(self._basis)
        inside.addLayout(head)
        around = QHBoxLayout()
        around.setSpacing(4)
        self._list = column(rows := QWidget())
        self._brackets = _Brackets(theme)
        around.addWidget(rows, 1)
        around.addWidget(self._brackets)
        inside.addLayout(around)
        self._summary = _Summary()
        inside.addWidget(self._summary)

    def display(self, comparison: Comparison) -> None:
        self._comparison = comparison
        ranked = comparison.ranked()
        self.setVisible(bool(comparison.sides))
        empty(self._list)
        self._rows = {}
        axis = _axis(comparison.comparable())
        for contender in ranked:
            style = contender_style(comparison, contender, self._theme)
            entry = RankingRow(comparison, contender, style, axis, self._theme)
            entry.clicked.connect(lambda _=False, key=contender.key: self.picked.emit(key))
            entry.pointed.connect(self.pointed.emit)
            self._rows[contender.key] = entry
            self._list.addWidget(entry)
        beside = max((entry.wanted() for entry in self._rows.values()), default=inf)
        for entry in self._rows.values():
            entry.beside = beside
        self._basis.setText(_basis(comparison.comparable()))
        found = groups(comparison)
        self._brackets.display(found, [all_equal(comparison, group) for group in found])
        self._summary.show_sentences(_sentences(comparison, found))
        self._brackets.setToolTip(tip(self._summary.whole))

    def highlight(self, key: str) -> None:
        for id_, entry in self._rows.items():
            entry.mark(id_ == key)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        if self._comparison is not None:
            self.display(self._comparison)


def _axis(ranked: Sequence[Contender]) -> Axis:
    """Return the axis, with a margin around all intervals."""
    known = [c.result.interval for c in ranked if c.result.interval is not None]
    ends = [i.low for i in known] + [i.high for i in known if i.high != inf]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    more = 0.06 * (high - low) or 0.1 * high or 1.0
    return Axis(low - more, high + more)


def _basis(ranked: Sequence[Contender]) -> str:
    """Return the caption of the intervals, if they all have the same basis."""
    bases = {basis_text(c) for c in ranked if c.result.interval is not None}
    if not bases:
        return ""
    return bases.pop() if len(bases) == 1 else "bar: interval of the limit"


def _sentences(comparison: Comparison, found: Sequence[Sequence[int]]) -> list[str]:
    """Return what limits every statement, then what cannot be told apart."""
    ranked = comparison.ranked()
    known = [c.result.interval for c in ranked if c.result.interval is not None]
    sentences = []
    if any(interval.coverage is None for interval in known):
        sentences.append("One pass cannot show significance; run more passes.")
    if found and any(interval.high == inf for interval in known):
        sentences.append("≥: limit not reached, so not tested for significance.")
    for places in found[:2]:
        group = [ranked[place] for place in places]
        if len(group) == 2:
            sentences.append(difference_in(comparison, *group))
        else:
            *names, end = [_name(comparison, contender) for contender in group]
            alike = "sustain the same within 5 %"
            what = alike if all_equal(comparison, places) else "cannot be distinguished"
            sentences.append(f"{', '.join(names)} and {end} {what}.")
    if len(found) > 2:
        more = len(found) - 2
        groups_ = f"{more} more groups have" if more > 1 else "1 more group has"
        sentences.append(f"{groups_} no significant difference.")
    return sentences


def _name(comparison: Comparison, contender: Contender) -> str:
    return contender.label if len(comparison.sides) > 1 else contender.name


def _runs(group: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Return (first, last) of each uninterrupted stretch."""
    first = group[0]
    for here, following in pairwise(group):
        if following > here + 1:
            yield first, here
            first = following
    yield first, group[-1]


def _ends(first: int, last: int) -> tuple[float, float]:
    """Return where a bracket around these places starts and ends."""
    return first * HEIGHT + 7.5, (last + 1) * HEIGHT - 7.5


class _Summary(Label):
    """As many sentences as fit in a few lines."""

    def __init__(self) -> None:
        super().__init__()
        self.setFont(font(12))
        self.setWordWrap(True)
        self.setProperty("tone", "soft")
        self._sentences: Sequence[str] = ()

    @property
    def whole(self) -> str:
        return " ".join(self._sentences)

    def show_sentences(self, sentences: Sequence[str]) -> None:
        self._sentences = sentences
        self.setVisible(bool(sentences))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = ""
        for sentence in self._sentences:
            longer = f"{shown} {sentence}".strip()
            if shown and len(wrapped(longer, self.font(), self.width())) > _MOST_LINES:
                break
            shown = longer
        self.setText(shown)
        self.setToolTip(tip(self.whole if shown != self.whole else ""))


class _Brackets(Painted):
    """Brackets around indistinguishable contenders; dotted where they pass others."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._lanes: list[list[Sequence[int]]] = []
        self._equal: list[Sequence[int]] = []

    def display(self, found: Sequence[Sequence[int]], equal: Sequence[bool]) -> None:
        """Place the groups; those that share a row are placed side by side. `equal`: whether each
        was shown to be equal.
        """
        self._lanes = []
        self._equal = [group for group, same in zip(found, equal, strict=True) if same]
        for group in found:
            for lane in self._lanes:
                if lane[-1][-1] < group[0]:
                    lane.append(group)
                    break
            else:
                if len(self._lanes) < _LANES:
                    self._lanes.append([group])
        self.setFixedWidth(_LANE * len(self._lanes))
        self.setVisible(bool(self._lanes))
        self.update()

    def paint(self, painter: QPainter) -> None:
        theme, size = self.theme, font(11, Weight.Medium)
        for place, lane in enumerate(self._lanes):
            x = place * _LANE + 4.5
            for group in lane:
                top, bottom = _ends(group[0], group[-1])
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.setPen(QPen(QColor(theme.soft), 1.3, Qt.PenStyle.DotLine))
                painter.drawLine(QPointF(x, top), QPointF(x, bottom))
                painter.setPen(QPen(QColor(theme.soft), 1.3))
                for first, last in _runs(group):
                    above, below = _ends(first, last)
                    painter.drawPolyline(
                        [
                            QPointF(x - 4, above),
                            QPointF(x, above),
                            QPointF(x, below),
                            QPointF(x - 4, below),
                        ]
                    )
                room = bottom - top - 8
                wordings = _EQUAL if group in self._equal else _INCONCLUSIVE
                text = next((w for w in wordings if text_width(w, size) < room), "")
                if text:
                    painter.save()
                    painter.translate(x + 8, (top + bottom) / 2)
                    painter.rotate(-90)
                    draw_text(painter, QPointF(0, 0), text, size, theme.soft, "middle")
                    painter.restore()

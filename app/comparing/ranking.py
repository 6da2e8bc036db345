"""The servers of a comparison ranked by sustained rate, with the interval of each limit and groups
without a significant difference; of several sessions, each server's rates one below another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QHBoxLayout, QWidget

from app.charts.drawing import (
    draw_cross,
    draw_marker,
    draw_swatch,
    draw_text,
    fitting,
    name_among,
    text_width,
)
from app.charts.overlay import contender_style
from app.charts.session_tags import draw_tag
from app.painted import Painted, Painting
from app.plain import tip
from app.theme import SeriesStyle, Weight, font, paint_icon
from app.widgets import column, empty, label, row
from workbench.results import sustained
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import (
    all_equal,
    basis_text,
    difference_in,
    groups,
    sustained_in,
)

HEIGHT, _LOW = 34, 25
"""Of a row; low where a server has one for each session."""
_NAME = 39
"""Where the name starts, right of its line."""
_TAG = 22
_MARKER_UP, _BAR_DOWN = 4, 6
"""From the middle of a row: a narrow interval would be hidden behind its marker."""


@dataclass(frozen=True)
class Axis:
    low: float
    high: float

    def share(self, rate: float) -> float:
        """Return the position of a rate on the axis, from 0 to 1."""
        return min(1.0, max(0.0, (rate - self.low) / max(1e-9, self.high - self.low)))


class RankingRow(Painting, QAbstractButton):
    pointed = Signal(str)

    def __init__(
        self,
        comparison: Comparison,
        contender: Contender,
        axis: Axis,
        *,
        named: bool,
    ) -> None:
        """`named`: it is the first row of its server."""
        super().__init__()
        tagged = len(comparison.sides) > 1
        self._comparison, self._contender, self._axis = comparison, contender, axis
        self._names = [each.name for each in comparison.contenders]
        self._unlike = comparison.why_not_comparable(contender)
        self._sustained = "–" if self._unlike else sustained_in(comparison, contender)
        result = contender.result
        none = not contender.measured or (result.knee is None and result.axis.has_limit)
        self._quiet = bool(self._unlike) or none
        """Has it no figure?"""
        self._faint = tagged and contender.tag != "A"
        self._tagged, self._named, self._marked = tagged, named, False
        self.beside = inf
        """The width that the texts of all rows want; the strip gets the rest."""
        self.setFixedHeight(_LOW if tagged else HEIGHT)
        self.setMinimumWidth(220)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        who = contender.label if tagged else contender.name
        limit = sustained.interval(contender.result)
        spoken = f"{who}: {'' if self._quiet else 'sustains '}{self._sustained}"
        if self._unlike:
            spoken = f"{who}: not comparable, {self._unlike}"
        elif limit:
            spoken += f", its limit lies {'' if limit.startswith('above') else 'within '}{limit}"
        if faulty := contender.result.what_is_faulty:
            spoken += f", {faulty}"
        if stopped := contender.result.disqualified:
            spoken += f", disqualified: {stopped}"
        if tasks := result.tasks.in_legend[:1]:
            spoken += f", {tasks[0]}"
        self.setAccessibleName(spoken)
        self.setToolTip(tip(f"{spoken} ({basis_text(contender)})"))

    def wanted(self) -> float:
        """Return the width of all texts, with no name shortened."""
        result, plain = self._contender.result, font(12, figures=True)
        texts = _NAME + text_width(self._contender.name, font(13, Weight.Medium)) + 8
        tasks = (7 + text_width(each, plain) for each in result.tasks.in_legend[:1])
        texts += _TAG * self._tagged + sum(tasks)
        signs = 20 * bool(result.disqualified) + 18 * bool(result.faulty)
        return texts + signs + text_width(self._sustained, self._figure_font)

    @property
    def _figure_font(self) -> QFont:
        return font(12) if self._quiet else font(13, Weight.DemiBold, figures=True)

    def mark(self, highlighted: bool) -> None:
        if highlighted != self._marked:
            self._marked = highlighted
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.pointed.emit(self._contender.key)

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self.pointed.emit(self._contender.key)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.pointed.emit("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter like Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    @property
    def _style(self) -> SeriesStyle:
        return contender_style(self._comparison, self._contender, self.theme)

    def paint(self, painter: QPainter) -> None:
        theme, contender = self.theme, self._contender
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._marked or self.hasFocus():
            pen = QPen(QColor(theme.focus), 2) if self.hasFocus() else Qt.PenStyle.NoPen
            painter.setPen(pen)
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(whole.adjusted(1, 1, -1, -1), 7, 7)
        elif self._named:
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawLine(whole.topLeft(), whole.topRight())
        middle = self.height() / 2
        draw_swatch(painter, self._style, QRectF(4, middle - 6.5, 28, 13), theme.card)
        wide = self.width()
        strip = min(0.5 * wide, max(40.0, wide - 10 - self.beside))
        right = wide - strip - 10
        text, size = self._sustained, self._figure_font
        colour = theme.muted if self._quiet else theme.text
        draw_text(painter, QPointF(right, middle), text, size, colour, "right")
        left = right - text_width(text, size) - 8
        if contender.result.disqualified:
            sign = QRectF(left - 13, middle - 7, 14, 14)
            paint_icon(painter, "octagon-x", theme.bad, sign)
            left -= 20
        if contender.result.faulty:
            draw_cross(painter, QPointF(left - 6, middle), 6, theme)
            left -= 18
        self._paint_name(painter, left, middle)
        self._paint_interval(painter, QRectF(right + 10, 0, strip - 6, self.height()))

    def _paint_name(self, painter: QPainter, right: float, middle: float) -> None:
        theme = self.theme
        size = font(13, Weight.Medium)
        room = right - _NAME - (_TAG if self._tagged else 0)
        plain, forms = font(12, figures=True), self._contender.result.tasks.in_legend
        left = room - text_width(self._contender.name, size) - 7
        tasks = fitting(forms, plain, left) or "".join(forms[-1:])
        taken = text_width(tasks, plain) + 7 if tasks else 0
        name = name_among(self._contender.name, self._names, size, room - taken)
        width = text_width(name, size)
        if self._named:
            draw_text(painter, QPointF(_NAME, middle), name, size, theme.text)
        if self._tagged:
            box = QRectF(_NAME + width + 7, middle - 7.5, 15, 15)
            draw_tag(painter, box, self._contender.tag, theme, filled=not self._faint)
            width += _TAG
        draw_text(painter, QPointF(_NAME + width + 7, middle), tasks, plain, theme.muted)

    def _paint_interval(self, painter: QPainter, strip: QRectF) -> None:
        result = self._contender.result
        interval = result.interval
        if interval is None or self._unlike or (result.faulty and result.knee is None):
            return
        middle = strip.center().y()
        y = middle + _BAR_DOWN

        def at(rate: float) -> float:
            return strip.left() + self._axis.share(rate) * strip.width()

        low, open_ended = at(interval.low), interval.high == inf
        high = strip.right() if open_ended else at(interval.high)
        pen = QPen(self._style.tint(), 1.6)
        if interval.coverage is None:
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        painter.setPen(QPen(self._style.tint(), 1.6))
        painter.drawLine(QPointF(low, y - 3), QPointF(low, y + 3))
        if open_ended:
            painter.drawPolyline(
                [QPointF(high - 3, y - 3), QPointF(high, y), QPointF(high - 3, y + 3)]
            )
        else:
            painter.drawLine(QPointF(high, y - 3), QPointF(high, y + 3))
        if self._contender.result.knee is not None:
            marker_at = QPointF(at(self._contender.result.knee), middle - _MARKER_UP)
            draw_marker(painter, self._style, marker_at, 3.4, self.theme.card)


_MOST_PAIRS = 3
"""Differences between sessions that are stated."""
_LANE = 20
"""With a line of text beside a bracket."""
_LANES = 2
"""Brackets side by side; further groups are described in text only."""
_EQUAL, _INCONCLUSIVE = ("equal within 5 %", "equal"), ("cannot be distinguished", "inconclusive")
"""Text along a bracket, as much of it as fits."""


class RankingCard(QFrame):
    """Pointing at a row highlights its line; a click keeps it so."""

    pointed = Signal(str)
    """A contender's key; empty: none."""
    picked = Signal(str)
    """A contender's key."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
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
        self._brackets = _Brackets()
        around.addWidget(rows, 1)
        around.addWidget(self._brackets)
        inside.addLayout(around)
        self._summary = label("", 12, tone="soft", wrap=True)
        inside.addWidget(self._summary)

    def display(self, comparison: Comparison) -> None:
        several = len(comparison.sides) > 1
        self.setVisible(bool(comparison.sides))
        empty(self._list)
        self._rows = {}
        axis, before = _axis(comparison.comparable()), ""
        for contender in _by_server(comparison.ranked()):
            entry = RankingRow(comparison, contender, axis, named=contender.id != before)
            before = contender.id
            entry.clicked.connect(lambda _=False, key=contender.key: self.picked.emit(key))
            entry.pointed.connect(self.pointed.emit)
            self._rows[contender.key] = entry
            self._list.addWidget(entry)
        beside = max((entry.wanted() for entry in self._rows.values()), default=inf)
        for entry in self._rows.values():
            entry.beside = beside
        self._basis.setText(_basis(comparison.comparable()))
        found = groups(comparison)
        drawn = [] if several else found  # rows of one server are together, not those of a group
        self._brackets.display(drawn, [all_equal(comparison, group) for group in drawn])
        sentences = " ".join(_sentences(comparison, found))
        self._summary.setText(sentences)
        self._summary.setVisible(bool(sentences))
        self._brackets.setToolTip(tip(sentences))

    def highlight(self, key: str) -> None:
        for id_, entry in self._rows.items():
            entry.mark(id_ == key)


def _by_server(ranked: Sequence[Contender]) -> list[Contender]:
    """Return them with those of one server together, in the sessions' order; the best server is
    the first.
    """
    order = list(dict.fromkeys(each.id for each in ranked))
    return sorted(ranked, key=lambda each: (order.index(each.id), each.tag))


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
    unlike = {c.tag: why for c in ranked if (why := comparison.why_not_comparable(c))}
    sentences = [
        f"{tag} is not comparable, and not in the charts: {unlike[tag]}." for tag in unlike
    ]
    if any(interval.coverage is None for interval in known):
        sentences.append("One pass cannot show significance; run more passes.")
    if found and any(interval.high == inf for interval in known):
        sentences.append("≥: limit not reached, so not tested for significance.")
    if len(comparison.sides) > 1:
        return sentences + _between_sessions(comparison)
    for places in found[:2]:
        group = [ranked[place] for place in places]
        if len(group) == 2:
            sentences.append(difference_in(comparison, *group))
        else:
            *names, end = [contender.name for contender in group]
            alike = "sustain the same within 5 %"
            what = alike if all_equal(comparison, places) else "cannot be distinguished"
            sentences.append(f"{', '.join(names)} and {end} {what}.")
    if len(found) > 2:
        more = len(found) - 2
        groups_ = f"{more} more groups have" if more > 1 else "1 more group has"
        sentences.append(f"{groups_} no significant difference.")
    return sentences


def _between_sessions(comparison: Comparison) -> list[str]:
    """Return how the rates of the same servers differ between the first session and the others."""
    known = comparison.comparable()
    first = {each.id: each for each in known if each.tag == comparison.sides[0].tag}
    pairs = [(first[c.id], c) for c in known if c.id in first and c is not first[c.id]]
    apart = [
        pair
        for pair in pairs
        if (found := comparison.difference(*pair)) and found.outcome in ("more", "less")
    ]
    sentences = [difference_in(comparison, *pair, caveat=False) for pair in apart[:_MOST_PAIRS]]
    if len(apart) > _MOST_PAIRS:
        sentences.append(f"{len(apart) - _MOST_PAIRS} more differ; see Figures.")
    if len(apart) < len(pairs):
        others = "The other sessions" if apart else "The sessions"
        sentences.append(f"{others} show no significant difference of a server.")
    return sentences


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


class _Brackets(Painted):
    """Brackets around indistinguishable contenders; dotted where they pass others."""

    def __init__(self) -> None:
        super().__init__()
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

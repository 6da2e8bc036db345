"""The servers of a comparison ranked by sustained rate, with the interval of each limit; of several
sessions, each server's rates one below another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf

from PySide6.QtWidgets import QFrame

from app.charts.overlay import contender_style
from app.charts.ranked_bars import Ranked, RankedBars
from app.theme import Weight
from app.widgets import beside, column, label
from workbench.analysis.knee import Outcome
from workbench.formatting import number_of
from workbench.results import sustained
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import basis_text, difference_in, pairs, sustained_in

_MOST_PAIRS = 3
"""Pairs of servers about which a sentence is stated."""


class RankingCard(QFrame):
    """Pointing at a row highlights its line; a click keeps it so."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._basis = label("", 12, tone="muted")
        self.bars = RankedBars()
        self._summary = label("", 12, tone="soft", wrap=True)
        head = beside(label("Sustained rate", 14, Weight.DemiBold), None, self._basis)
        column(self, head, self.bars, self._summary, margin=12, gap=4)

    def display(self, comparison: Comparison) -> None:
        self.setVisible(bool(comparison.sides))
        order, before = _by_server(comparison.ranked()), ""
        rows = []
        for contender in order:
            rows.append(_row(comparison, contender, named=contender.id != before))
            before = contender.id
        self.bars.display(rows, *_axis(comparison.comparable()))
        self._basis.setText(_basis(comparison.comparable()))
        sentences = " ".join(_sentences(comparison))
        self._summary.setText(sentences)
        self._summary.setVisible(bool(sentences))


def _row(comparison: Comparison, contender: Contender, *, named: bool) -> Ranked:
    several, result = len(comparison.sides) > 1, contender.result
    unlike = comparison.why_not_comparable(contender)
    figure = "–" if unlike else sustained_in(comparison, contender)
    none = unlike or not contender.measured or (result.knee is None and result.axis.has_limit)
    spoken = f"{contender.label if several else contender.name}: "
    if unlike:
        spoken += f"not comparable, {unlike}"
    else:
        spoken += f"{'' if none else 'sustains '}{figure}"
        if limit := sustained.interval(result):
            spoken += f", its limit lies {'' if limit.startswith('above') else 'within '}{limit}"
    if faulty := result.what_is_faulty:
        spoken += f", {faulty}"
    if stopped := result.disqualified:
        spoken += f", disqualified: {stopped}"
    if tasks := result.tasks.in_legend[:1]:
        spoken += f", {tasks[0]}"
    return Ranked(
        contender.key,
        result,
        partial(contender_style, comparison, contender),
        contender.name,
        figure,
        spoken,
        tag=contender.tag if several else "",
        named=named,
        unlike=bool(unlike),
    )


def _by_server(ranked: Sequence[Contender]) -> list[Contender]:
    """Return them with those of one server together, in the sessions' order; the best server is
    the first.
    """
    order = list(dict.fromkeys(each.id for each in ranked))
    return sorted(ranked, key=lambda each: (order.index(each.id), each.tag))


def _axis(ranked: Sequence[Contender]) -> tuple[float, float]:
    """Return the ends of the axis, with a margin around all intervals."""
    known = [c.result.interval for c in ranked if c.result.interval is not None]
    ends = [i.low for i in known] + [i.high for i in known if i.high != inf]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    more = 0.06 * (high - low) or 0.1 * high or 1.0
    return low - more, high + more


def _basis(ranked: Sequence[Contender]) -> str:
    """Return the caption of the intervals, if they all have the same basis."""
    bases = {basis_text(c) for c in ranked if c.result.interval is not None}
    if not bases:
        return ""
    return bases.pop() if len(bases) == 1 else "bar: interval of the limit"


def _sentences(comparison: Comparison) -> list[str]:
    """Return what limits every statement, then which neighbours cannot be told apart."""
    ranked = comparison.ranked()
    compared = [
        (pair, found.outcome)
        for pair in pairs(comparison)
        if (found := comparison.difference(*pair))
    ]
    alike = [pair for pair, outcome in compared if outcome in ("indistinguishable", "equal")]
    known = [c.result.interval for c in ranked if c.result.interval is not None]
    unlike = {c.tag: why for c in ranked if (why := comparison.why_not_comparable(c))}
    sentences = [
        f"{tag} is not comparable, and not in the charts: {unlike[tag]}." for tag in unlike
    ]
    if any(interval.coverage is None for interval in known):
        sentences.append("One pass cannot show significance; run more passes.")
    if alike and any(interval.high == inf for interval in known):
        sentences.append("≥: limit not reached, so not tested for significance.")
    if len(comparison.sides) > 1:
        return sentences + _between_sessions(comparison, compared)
    sentences += [difference_in(comparison, *pair) for pair in alike[:_MOST_PAIRS]]
    if len(alike) > _MOST_PAIRS:
        more = number_of(len(alike) - _MOST_PAIRS, "more pairs")
        sentences.append(f"No significant difference either: {more}; see Figures.")
    return sentences


def _between_sessions(
    comparison: Comparison, compared: Sequence[tuple[tuple[Contender, Contender], Outcome]]
) -> list[str]:
    """Return how the rates of the same servers differ between the first session and the others."""
    apart = [pair for pair, outcome in compared if outcome in ("more", "less")]
    sentences = [difference_in(comparison, *pair, caveat=False) for pair in apart[:_MOST_PAIRS]]
    if len(apart) > _MOST_PAIRS:
        sentences.append(f"{len(apart) - _MOST_PAIRS} more differ; see Figures.")
    if len(apart) < len(compared):
        others = "The other sessions" if apart else "The sessions"
        sentences.append(f"{others} show no significant difference of a server.")
    return sentences

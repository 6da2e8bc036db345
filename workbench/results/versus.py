"""How two versions of a service differ at one rate, in one sentence and as a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from workbench.analysis.significance import CONFIDENCE, Change
from workbench.documents import AnyDocument, PointStop
from workbench.errors import PongbenchError
from workbench.formatting import span
from workbench.results.comparison import Comparison, Contender, Figure, compare, side_of
from workbench.results.rows import UNTRUSTED
from workbench.sessions import Session

P50, P99, COST = "p50", "p99", "CPU per call"


def of_versions(documents: Sequence[AnyDocument], confidence: float = CONFIDENCE) -> Comparison:
    """Return the comparison of a session's servers, without the passes that are `left_out`."""
    out = left_out(documents)
    kept = [d for d in documents if not (isinstance(d, PointStop) and d.pass_number in out)]
    found = compare([side_of(Session("versions", kept), Path("versions"), "A")])
    return replace(found, confidence=confidence)


def left_out(documents: Sequence[AnyDocument]) -> set[int]:
    """Return the passes in which a point is not reliable, for all versions alike; none if these are
    more than a third, because then nothing can be said."""
    points = [d for d in documents if isinstance(d, PointStop) and d.judged]
    doubtful = {each.pass_number for each in points if each.verdict in UNTRUSTED}
    few = 3 * len(doubtful) <= len({each.pass_number for each in points})
    return doubtful if few else set()


def contender(found: Comparison, id_: str) -> Contender:
    """Raises PongbenchError if it was not measured."""
    each = next(c for c in found.contenders if c.id == id_)
    if not each.measured:
        incidents = " ".join([*each.result.incidents, *each.result.notes])
        raise PongbenchError(f"{each.name} was not measured. {incidents}".strip())
    return each


def answer(found: Comparison, new: Contender, old: Contender) -> str:
    """Return one sentence: "main is 8 to 12 % slower than v1.4 at 2,000/s; p99 is the same within
    5 %; CPU per call 41 to 46 µs (10 to 14 % more)."."""
    if doubt := unreliable(found, (new, old)):
        return doubt
    figures = {each.what: each for each in found.figures(new, old)}
    at = found.axis.at(found.rate or 0)
    parts = [_speed(figures[P50], new.name, old.name, at)] if P50 in figures else []
    if P99 in figures and figures[P99].change:
        parts.append(f"p99 {_as_predicate(figures[P99])}")
    if COST in figures and figures[COST].text:
        cost = figures[COST]
        low, high = cost.second.removesuffix(" µs"), cost.first
        parts.append(f"{COST} {low} to {high} ({cost.text})")
    return f"{'; '.join(parts)}." if parts else f"{new.name} and {old.name} have no rate in common."


def unreliable(found: Comparison, contenders: Sequence[Contender]) -> str:
    """Return why nothing can be said about versions, as a sentence; empty: it can."""
    for each in contenders:
        point = None if found.rate is None else each.result.at(found.rate)
        if point is None:
            return f"Nothing can be said: {each.name} was not measured."
        if not point.trusted or point.verdict != "ok":
            is_ = f"{each.name} is {point.verdict} at {found.axis.at(point.x)}."
            return " ".join([f"Nothing can be said: {is_}", *point.reasons])
    return ""


def _speed(each: Figure, new: str, old: str, at: str) -> str:
    change = each.change
    if change is None:
        return f"{new} and {old} at {at}: too few passes for p50"
    match each.finding:
        case "equal":
            return f"{new} is as fast as {old} at {at} within 5 %"
        case "more":
            return f"{new} is {_ends(change.low, change.high)} slower than {old} at {at}"
        case "less":
            return f"{new} is {_ends(-change.high, -change.low)} faster than {old} at {at}"
    most = f"{span(100 * change.most, 100 * change.most)} %" if change.most < 1 else "over 100 %"
    return f"p50 of {new} and {old} at {at} cannot be told apart (could differ by up to {most})"


def _as_predicate(each: Figure) -> str:
    match each.finding:
        case "equal":
            return "is the same within 5 %"
        case "more" | "less":
            return f"is {each.text}"
    return each.text


def _ends(low: float, high: float) -> str:
    return f"{span(100 * low, 100 * high)} %"


def clearest(found: Comparison, new: Contender, old: Contender) -> tuple[str, Change] | None:
    """Return the figure that shows best that the new version is slower, and its change."""
    shown = [
        (each.what, each.change)
        for each in found.figures(new, old)
        if each.what in (P50, COST) and each.change and each.change.low > 0
    ]
    return max(shown, key=lambda each: each[1].low / each[1].figure, default=None)

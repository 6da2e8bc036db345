"""A comparison in words: what servers sustain, the precision of that, and how they differ."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import inf

from workbench.analysis.knee import Difference
from workbench.analysis.significance import MARGIN
from workbench.formatting import span
from workbench.results import sustained
from workbench.results.comparison import Comparison, Contender


def title(comparison: Comparison) -> str:
    """The names of its sessions, each once."""
    return " and ".join(dict.fromkeys(side.name for side in comparison.sides))


def described(comparison: Comparison) -> str:
    """What its charts show, for those who cannot see them."""
    found = (f"{each.label} {sustained_in(comparison, each)}" for each in comparison.ranked())
    return f"{title(comparison)}: {', '.join(found)}."


def sustained_in(comparison: Comparison, contender: Contender, *, where: bool = False) -> str:
    """What a server sustains, or that it cannot be compared; `where`: see `sustained.column`."""
    if comparison.why_not_comparable(contender):
        return "not comparable"
    return sustained.column(contender.result, where=where)


def basis_text(contender: Contender) -> str:
    """The basis of that interval: "one pass, steps of 100/s", "range of 3 passes", "95 % ..." """
    interval, axis = contender.result.interval, contender.result.axis
    if interval is None:
        return "not measured"
    if interval.coverage is None:
        step = interval.high - interval.low
        return "one pass" if step == inf else f"one pass, step {axis.at(step)}"
    if interval.coverage >= 0.95:
        return f"95 % interval of {interval.passes} passes"
    return f"range of {interval.passes} passes"


ONE_PASS = "One pass cannot show significance."


def difference_text(
    a: Contender,
    b: Contender,
    difference: Difference | None,
    *,
    tagged: bool = True,
    caveat: bool = True,
) -> str:
    """One sentence. `tagged`: there are several sessions, so each server is named with its
    session's letter. `caveat`: with `ONE_PASS` after a difference of single passes."""
    first, second = (each.label if tagged else each.name for each in (a, b))
    if difference is None:
        return f"{first} and {second} cannot be ranked: no limit was sought."
    if difference.outcome == "equal":
        return f"{first} and {second} sustain the same within {100 * MARGIN:.0f} %."
    if difference.outcome == "indistinguishable":
        return f"{first} and {second} cannot be distinguished{_how_far(difference)}."
    if difference.outcome == "unknown":
        why = _why_unknown(a, b, tagged=tagged)
        return f"The sustained rates of {first} and {second} cannot be compared: {why}."
    if difference.outcome == "less":
        return difference_text(b, a, _reversed(difference), tagged=tagged, caveat=caveat)
    low, high = difference.low, difference.high
    axis = a.result.axis
    between = _between(low, high, b)
    text = f"{first} sustains {axis.at(difference.figure)} more than {second}{between}."
    return f"{text} {ONE_PASS}" if caveat and difference.passes == 1 else text


def _between(low: float, high: float, second: Contender) -> str:
    """The ends of a difference, also as shares of the second; outside of it, so none is 0."""
    axis, figure = second.result.axis, second.result.figure
    if high == inf:
        return f" (at least {axis.at(low)})" if low else ""
    between = f"{axis.figure(low)} to {axis.at(high)}" if low else f"up to {axis.at(high)}"
    if figure:
        most = span(100 * high / figure, 100 * high / figure)
        shares = span(100 * low / figure, 100 * high / figure) if low else f"up to {most}"
        between += f"; {shares} %"
    return f" ({between})"


def _how_far(difference: Difference) -> str:
    if difference.passes == 1:
        return " by one pass"
    most = f"up to {span(100 * difference.most, 100 * difference.most)} %"
    far = "more than 100 %" if difference.most > 1 else most
    return f": their sustained rates could differ by {far}"


def _why_unknown(*contenders: Contender, tagged: bool) -> str:
    faulty = [each for each in contenders if each.result.faulty]
    if faulty:
        named = ((each.label if tagged else each.name, each.result) for each in faulty)
        return " and ".join(f"{name} is {result.what_is_faulty}" for name, result in named)
    limits = ((each, each.result.interval) for each in contenders)
    open_ = [each for each, interval in limits if interval and interval.high == inf]
    went_higher = any(x > each.result.figure for each in open_ for x in each.xs)
    if went_higher:
        who = "either" if len(open_) > 1 else open_[0].label if tagged else open_[0].name
        return f"no reliable point of {who} shows a limit"
    return "the limit was not reached"


def difference_in(
    comparison: Comparison, a: Contender, b: Contender, *, caveat: bool = True
) -> str:
    """As `difference_text`, for two servers of a comparison."""
    tagged = len(comparison.sides) > 1
    if why := comparison.side(a).why_not_comparable(comparison.side(b)):
        return f"{a.label} and {b.label} are not comparable: {why}."
    return difference_text(a, b, comparison.difference(a, b), tagged=tagged, caveat=caveat)


def figures_in(comparison: Comparison, a: Contender, b: Contender) -> str:
    """One sentence on two servers' figures at the common rate, by their passes; may be empty."""
    figures_by_name = {each.name: each.text for each in comparison.figures(a, b) if each.finding}
    if "CPU per call" in figures_by_name:
        figures_by_name.pop("CPU", None)
    if not figures_by_name or comparison.rate is None:
        return ""
    first, second = (c.label if len(comparison.sides) > 1 else c.name for c in (a, b))
    figures = "; ".join(f"{what} {text}" for what, text in figures_by_name.items())
    return f"{first} at {comparison.axis.at(comparison.rate)}, against {second}: {figures}."


def pairs(comparison: Comparison) -> Sequence[tuple[Contender, Contender]]:
    """The pairs to compare: the same server in two sessions; in one session neighbours by rank."""
    ranked = comparison.ranked()
    if len(comparison.sides) < 2:
        return [(a, b) for a, b in itertools.pairwise(ranked) if a.measured and b.measured]
    first = comparison.sides[0].tag
    return [
        (a, b)
        for a in ranked
        for b in ranked
        if a.id == b.id and a.tag == first != b.tag and a.measured and b.measured
    ]


def of_pairs(comparison: Comparison) -> list[list[str]]:
    """The sentences on each of the pairs."""
    each = ((difference_in(comparison, *p), figures_in(comparison, *p)) for p in pairs(comparison))
    return [list(filter(None, sentences)) for sentences in each]


def _reversed(d: Difference) -> Difference:
    # From 0, because minus 0.0 would be written "-0".
    return Difference(0 - d.figure, 0 - d.high, 0 - d.low, "more", d.paired, d.passes, d.most)

"""What servers use, why they reach their limit, and which of several has the lowest cost per call,
as cells and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.analysis.causes import why_it_stops
from workbench.analysis.cost import ONE_PASS, Cost, cheapest
from workbench.analysis.results import SeriesResult
from workbench.analysis.significance import MARGIN
from workbench.formatting import figure, listed
from workbench.report.sustained import leaders


def tie(ranked: Sequence[SeriesResult]) -> str:
    """The cheapest of the servers that sustain the highest value; empty: there is no tie, or no
    cost is known."""
    best = leaders(ranked).best
    found = cheapest(best)
    if found is None:
        return ""
    names = listed([each.name for each in found.series])
    rate = best[0].axis.at(best[0].figure)
    least = within(found.cost)
    if not found.others and found.equal:
        share = f"{100 * MARGIN:.0f} %"
        return f"At {rate} {names} cost the same CPU time per call within {share}, {least}."
    if not found.others:
        return (
            f"At {rate} {names} cannot be distinguished by their CPU time per call,"
            f" {least}{_of_passes(found.passes)}."
        )
    verb = "costs" if len(found.series) == 1 else "cost"
    alike = "" if len(found.series) == 1 or found.equal else " and cannot be distinguished"
    return (
        f"At {rate} {names} {verb} the least CPU time, {least} per call{alike};"
        f" others up to {within(found.most)}{_of_passes(found.passes)}."
    )


def cpu(pct: float) -> str:
    """ "76 %", of one core; empty: not measured (0)."""
    return f"{pct:.0f} %" if pct else ""


def shared_memory(servers: Iterable[SeriesResult]) -> str:
    """What the RSS of several processes counts; empty: no server has several."""
    if any(each.rss_bytes and each.tasks.processes > 1 for each in servers):
        return "RSS counts memory that processes share once for each of them."
    return ""


def within(cost: Cost | None) -> str:
    """ "40.1 ± 0.8 µs"; without an interval if none is known; empty: the cost is unknown."""
    if cost is None:
        return ""
    if cost.half is None:
        return figure(cost.mean, "µs")
    digits = 0 if cost.mean >= 99.95 else 1 if cost.mean >= 9.995 else 2
    return f"{cost.mean:,.{digits}f} ± {cost.half:,.{digits}f} µs"


def _of_passes(passes: int) -> str:
    if passes > 1:
        return ""
    return f" (one pass: differences below {100 * ONE_PASS:.0f} % do not count)"


def stops(series: SeriesResult) -> str:
    """Why it reaches its limit; empty: unknown."""
    found = why_it_stops(series)
    if found is None:
        return ""
    point, named = found
    return f"{series.name} stops at {series.axis.of(point)}: {named.text()}"

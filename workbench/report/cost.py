"""Why servers stop where they do, and which of several pays the least, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.causes import why_it_stops
from workbench.analysis.cost import ONE_PASS, cheapest
from workbench.analysis.results import SeriesResult
from workbench.formatting import figure, listed
from workbench.report.sustained import leaders


def tie(ranked: Sequence[SeriesResult]) -> str:
    """Of those that sustain the highest value; empty: there is no tie, or no cost is known."""
    best = leaders(ranked).best
    found = cheapest(best)
    if found is None:
        return ""
    names = listed([each.name for each in found.series])
    verb = "costs" if len(found.series) == 1 else "cost"
    cost = figure(found.cpu_us, "µs")
    rate = best[0].axis.at(best[0].figure)
    if not found.others:
        return f"At {rate} {names} cost the same CPU time per call, {cost}{_within(found.passes)}."
    most = figure(found.most_us, "µs")
    return (
        f"At {rate} {names} {verb} the least CPU time, {cost} per call;"
        f" the most is {most}{_within(found.passes)}."
    )


def _within(passes: int) -> str:
    if passes > 1:
        return ""
    return f" (one pass: differences below {100 * ONE_PASS:.0f} % do not count)"


def stops(series: SeriesResult) -> str:
    """Why it stops; empty: not known."""
    found = why_it_stops(series)
    if found is None:
        return ""
    point, named = found
    return f"{series.name} stops at {series.axis.of(point)}: {named.text()}"

"""Distributions of a session's points, as files and tables."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.analysis.distribution import TABLE, Distribution, hgrm, percentile_text
from workbench.analysis.results import Clock, PointResult, SeriesResult
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument
from workbench.errors import BadInput
from workbench.formatting import duration, listed


def chosen(documents: Sequence[AnyDocument], server: str, at: float | None) -> PointResult:
    """Return the point of a server (empty: the only one) at a value of the axis (None: where
    `best` is). Raises BadInput.
    """
    servers = {each.id: each for each in summarise(documents).servers.values() if each.points}
    if not servers:
        raise BadInput("The session has no complete points, so it has no distribution.")
    if not server and len(servers) > 1:
        raise BadInput(f"Choose one server with --server: {listed(list(servers))}.")
    series = servers.get(server or next(iter(servers)))
    if series is None:
        raise BadInput(f"The session has no points of {server!r}; it has {listed(list(servers))}.")
    point = best(series) if at is None else series.at(at)
    if point is None:
        values = listed([series.axis.figure(each.x) for each in series.points])
        raise BadInput(f"{series.name} has no point at {at:g}; it has {values}.")
    return point


def best(series: SeriesResult) -> PointResult | None:
    """Return the point that represents a series: at its sustained value, otherwise the one with the
    most replies. None: nothing was measured."""
    return (series.at(series.knee) if series.knee is not None else None) or series.most


def cells(found: Distribution, quantiles: Sequence[float] = TABLE) -> list[str]:
    """Return the mean and the percentiles as texts; empty: unknown, or too few replies for it."""
    mean = duration(found.mean_us)
    known = {row.quantile: duration(row.us) for row in found.table(quantiles) if row.supported}
    return [mean, *(known.get(quantile, "") for quantile in quantiles)]


def titles(quantiles: Sequence[float] = TABLE) -> list[str]:
    """Return the headings above `cells`: "Mean", "p50", "p66", ..., "max"."""
    return ["Mean", *map(percentile_text, quantiles)]


def hgrm_of(point: PointResult, clock: Clock) -> str:
    """Return the text of an .hgrm file. Raises BadInput where there are no response times."""
    found = Distribution.of(point, clock)
    if not found.count:
        raise BadInput(
            f"There are no response times at {point.axis.at(point.x)}: no call was answered, or the"
            " load tool does not report them."
        )
    return hgrm(found.sparse)

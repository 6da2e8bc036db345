"""Several requests side by side, by their names: those of a plan, or of a locustfile."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from workbench.analysis.results import PointResult
from workbench.analysis.summary import Summary
from workbench.documents import Metric
from workbench.formatting import figure
from workbench.report.conditions import Table

_PER_S = "1/s"
"""A unit that the title has."""


def tables(summary: Summary) -> list[Table]:
    """Where each server sustains its rate, or has most replies. Empty if there is one request."""
    known = {metric.of for metric in summary.known_metrics if metric.of}
    requests: defaultdict[str, list[Metric]] = defaultdict(list)
    for metric in summary.metrics:
        if metric.of in known:
            requests[metric.of].append(metric)
    if not requests:
        return []
    titles = map(_title, next(iter(requests.values())))
    rows = tuple(_rows(summary, requests))
    return [Table("Requests", rows, ("Server", summary.axis.label, "Request", *titles))]


def _rows(summary: Summary, requests: dict[str, list[Metric]]) -> Iterator[tuple[str, ...]]:
    for server in summary.ranked():
        if there := server.at_knee or server.most:
            at = summary.axis.at(there.x)
            for label, metrics in requests.items():
                yield server.name, at, label, *(_span(there, metric) for metric in metrics)


def _span(there: PointResult, metric: Metric) -> str:
    """Of several passes the lowest and the highest, because percentiles cannot be averaged; empty
    if one is unknown."""
    found = [stop.values.get(metric.key) for stop in there.stops]
    values = sorted(value for value in found if value is not None)
    if not values or len(values) < len(found):
        return ""
    return " to ".join(dict.fromkeys(figure(v, _unit(metric)) for v in (values[0], values[-1])))


def _title(metric: Metric) -> str:
    return metric.label.removesuffix(f" of {metric.of}") + "/s" * (metric.unit == _PER_S)


def _unit(metric: Metric) -> str:
    return metric.unit * (metric.unit != _PER_S)


def of_points(metrics: Sequence[Metric]) -> list[Metric]:
    """Return those that describe whole points, for their tables."""
    return [metric for metric in metrics if not metric.of]

"""What tables of results are: columns, and cells by their keys, of which renderers choose; and
those of percentiles, requests and clients. `rows` has those of servers and points."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

from workbench.analysis.clients import ClientSummary
from workbench.analysis.distribution import TABLE, Distribution, percentile_text
from workbench.analysis.series import Percentile, PointResult, known_us
from workbench.analysis.summary import ServerSummary, Summary
from workbench.documents import ClientPart, Metric
from workbench.formatting import duration, figure, percent
from workbench.messages.base import share

S = TypeVar("S")


@dataclass(frozen=True)
class Column:
    key: str
    """Of its cells; in CSV its title, with its unit."""
    title: str
    group: str = ""
    """Title above several columns; empty: independent of the rate."""
    about: str = ""
    """One sentence."""


@dataclass(frozen=True)
class Cell:
    text: str = ""
    """For people; empty: unknown."""
    value: float | str | None = None
    """In the unit of the column's key, for sorting and for programs; None: unknown, or a text."""


@dataclass(frozen=True)
class Row(Generic[S]):
    of: S
    """What the row is about."""
    cells: Mapping[str, Cell]
    """By the key of their column."""

    def text(self, key: str) -> str:
        return self.cells[key].text


@dataclass(frozen=True)
class Table(Generic[S]):
    columns: Sequence[Column]
    rows: Sequence[Row[S]]

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    def texts(self, row: Row[S]) -> list[str]:
        """Return a row's cells in the order of the columns."""
        return [row.text(column.key) for column in self.columns]

    def only(self, keys: Iterable[str]) -> Table[S]:
        """Return the same with the columns of these keys."""
        kept = set(keys)
        return Table([each for each in self.columns if each.key in kept], self.rows)

    def told(self) -> Table[S]:
        """Return the same without columns that tell nothing of any row."""
        told = [
            each.key for each in self.columns if {r.text(each.key) for r in self.rows} - {"", "0"}
        ]
        return self.only(told)


@dataclass(frozen=True)
class Texts:
    title: str
    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...] = ()


TITLES = ["Mean", *map(percentile_text, TABLE)]
"""Above `percentile_cells`: "Mean", "p50", "p66", ..., "max"."""


def percentile_cells(found: Distribution) -> list[str]:
    """Return the mean and the percentiles as texts; empty: unknown, or too few replies for it."""
    known = {row.quantile: duration(row.us) for row in found.table() if row.supported}
    return [duration(found.mean_us), *(known.get(quantile, "") for quantile in TABLE)]


def percentiles(summary: Summary) -> Table[ServerSummary]:
    """The mean and the percentiles that ab prints, at one point of every server that has them."""
    columns = [
        Column("server", "Server"),
        Column("at", "At"),
        *(Column(title, title) for title in TITLES),
        Column("count", summary.axis.replies.capitalize()),
    ]
    rows = []
    for server in summary.ranked():
        point = server.best
        found = Distribution.of(point, summary.clock) if point else None
        if point and found and found.count:
            cells = {
                "server": Cell(server.name),
                "at": Cell(server.axis.at(point.x), point.x),
                "count": Cell(f"{found.count:,}", found.count),
            }
            texts = dict(zip(TITLES, map(Cell, percentile_cells(found)), strict=True))
            rows.append(Row(server, cells | texts))
    return Table(columns, rows)


_PER_S = "1/s"
"""A unit that the title has."""


def of_requests(summary: Summary) -> list[Texts]:
    """Where each server sustains its rate, or has most replies. Empty if there is one request."""
    known = {metric.of for metric in summary.known_metrics if metric.of}
    requests: defaultdict[str, list[Metric]] = defaultdict(list)
    for metric in summary.metrics:
        if metric.of in known:
            requests[metric.of].append(metric)
    if not requests:
        return []
    titles = [
        metric.label.removesuffix(f" of {metric.of}") + "/s" * (metric.unit == _PER_S)
        for metric in next(iter(requests.values()))
    ]
    rows = tuple(_of_requests(summary, requests))
    return [Texts("Requests", rows, ("Server", summary.axis.label, "Request", *titles))]


def _of_requests(summary: Summary, requests: dict[str, list[Metric]]) -> Iterator[tuple[str, ...]]:
    for server in summary.ranked():
        if there := server.at_knee or server.most:
            at = summary.axis.at(there.x)
            for label, metrics in requests.items():
                cells = (_of_request(there, metric) for metric in metrics)
                yield server.name, at, label, *cells


def _of_request(there: PointResult, metric: Metric) -> str:
    unit = metric.unit * (metric.unit != _PER_S)
    values = [stop.values.get(metric.key) for stop in there.stops]
    return _over_passes(values, lambda value: figure(value, unit))


def _over_passes(values: Sequence[float | None], write: Callable[[float], str] = duration) -> str:
    """ "2.1 ms", "2.1 ms to 2.4 ms": of several passes the lowest and the highest, because
    percentiles cannot be averaged; empty if one is unknown."""
    known = [value for value in values if value is not None]
    if not known or len(known) < len(values):
        return ""
    return " to ".join(dict.fromkeys(map(write, (min(known), max(known)))))


_PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p99")


def of_clients(summary: Summary) -> list[Texts]:
    """Empty if there is one client, whose figures are those of the points."""
    clients = summary.all_clients.clients
    if len(clients) < 2:
        return []
    columns = ("Client", "Points", "Own ceiling", "Late", "p99 late", "Not sent", "CPU", "Clock")
    found = [Texts("Clients", tuple(map(_of_client, clients)), columns)]
    if times := tuple(_times(summary)):
        title = "Response times by client, at the highest sustained rate"
        heads = "Server", summary.axis.label, "Client", "Mean", *_PERCENTILES
        found.append(Texts(title, times, heads))
    return found


def _times(summary: Summary) -> Iterator[tuple[str, ...]]:
    """The response times of each client as it measured them, from the scheduled times."""
    for server in summary.ranked():
        if (there := server.at_knee) is None:
            continue
        by_client: defaultdict[str, list[ClientPart]] = defaultdict(list)
        for part in chain.from_iterable(stop.clients for stop in there.stops):
            if part.latency_us is not None:
                by_client[part.machine].append(part)
        for machine, passes in by_client.items():
            at = summary.axis.at(there.x)
            mean = _over_passes([part.latency_mean_us for part in passes])
            times = (
                _over_passes([known_us(part.latency_us, each) for part in passes])
                for each in _PERCENTILES
            )
            yield server.name, at, machine, mean, *times


def _of_client(client: ClientSummary) -> tuple[str, ...]:
    ceiling = ""
    if client.ceiling_per_s is not None:
        ceiling = f"{'≥ ' * client.ceiling_is_floor}{client.ceiling_per_s:,.0f}/s"
    return (
        client.machine,
        f"{client.points:,}",
        ceiling,
        percent(100 * share(client.late, client.sent)),
        duration(client.lateness_p99_us),
        percent(100 * share(client.unsent, client.scheduled)),
        f"{client.cpu_pct:.0f} %",
        f"± {duration(client.clock_uncertainty_us)}",
    )

"""Several clients side by side: their parts in a run, their own limits, their response times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.analysis.clients import ClientSummary
from workbench.analysis.evidence import share
from workbench.analysis.results import Percentile, known_us
from workbench.analysis.summary import Summary
from workbench.documents import ClientPart, Percentiles
from workbench.formatting import duration, percent
from workbench.report.conditions import Table

_PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p99")


def tables(summary: Summary) -> list[Table]:
    """Empty if there is one client, whose figures are those of the points."""
    clients = summary.all_clients.clients
    if len(clients) < 2:
        return []
    columns = ("Client", "Points", "Own ceiling", "Late", "p99 late", "Not sent", "CPU", "Clock")
    found = [Table("Clients", tuple(map(_row, clients)), columns)]
    if times := tuple(_times(summary)):
        title = "Response times by client, at the highest sustained rate"
        heads = "Server", summary.axis.label, "Client", "Mean", *_PERCENTILES
        found.append(Table(title, times, heads))
    return found


def _times(summary: Summary) -> Iterator[tuple[str, ...]]:
    """The response times of each client as it measured them, from the scheduled times; of several
    passes the lowest and the highest, because percentiles cannot be averaged."""
    for server in summary.ranked():
        there = server.at_knee
        by_client: dict[str, list[ClientPart]] = {}
        for stop in there.stops if there else ():
            for part in stop.clients:
                if part.latency_us is not None:
                    by_client.setdefault(part.machine, []).append(part)
        for machine, passes in by_client.items():
            at = summary.axis.at(there.x) if there else ""
            times = [part.latency_us for part in passes if part.latency_us]
            means = [us for part in passes if (us := part.latency_mean_us) is not None]
            mean = _span(means) if len(means) == len(passes) else ""
            yield server.name, at, machine, mean, *(_percentile(times, q) for q in _PERCENTILES)


def _percentile(passes: Sequence[Percentiles], name: Percentile) -> str:
    """Return its span; empty if a pass has too few values."""
    known = [us for each in passes if (us := known_us(each, name)) is not None]
    return _span(known) if len(known) == len(passes) else ""


def _span(us: Sequence[float]) -> str:
    """ "2.1 ms", "2.1 ms to 2.4 ms"."""
    return " to ".join(dict.fromkeys(map(duration, (min(us), max(us)))))


def _row(client: ClientSummary) -> tuple[str, ...]:
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

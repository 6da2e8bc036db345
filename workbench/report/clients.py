"""Several clients side by side: the part of each in a run, and its own limit."""

from __future__ import annotations

from workbench.analysis.clients import ClientSummary
from workbench.analysis.evidence import share
from workbench.analysis.summary import Summary
from workbench.formatting import duration, percent
from workbench.report.conditions import Table


def table(summary: Summary) -> Table | None:
    """None if there is one client, whose figures are those of the points."""
    clients = summary.all_clients.clients
    if len(clients) < 2:
        return None
    columns = ("Client", "Points", "Own ceiling", "Late", "p99 late", "Not sent", "CPU", "Clock")
    return Table("Clients", tuple(map(_row, clients)), columns)


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

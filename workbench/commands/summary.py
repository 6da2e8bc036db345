"""`pongbench summary`: what every server held, and every point's verdict."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from workbench.analysis.histogram import percentile_supported
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.commands.console import VERDICT_STYLES, Terminal
from workbench.commands.fitting import Cell, fitting
from workbench.commands.opening import add_session_arguments, exit_code, open_session
from workbench.documents import Percentiles, PointStop
from workbench.report import clients
from workbench.wording import duration, megabytes, offered, ordinal, percent, rate

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


_ENDED: defaultdict[str, str] = defaultdict(
    lambda: "The run ended",
    failed="The run failed",
    stopped="The run was stopped",
    aborted="The run was aborted",
)


def add_parser(subparsers: Subparsers) -> None:
    """Add `summary` to the commands."""
    parser = subparsers.add_parser(
        "summary", help="what every server of a session held, and every point's verdict"
    )
    add_session_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the summary of a session."""
    session = open_session(arguments)
    summary = summarise(session.completed())
    if arguments.json:
        sys.stdout.write(msgspec.json.encode(summary.to_data()).decode() + "\n")
    else:
        print_summary(summary)
    return exit_code(session)


def print_summary(summary: Summary, console: Console | None = None) -> None:
    """On stdout: every point, what the session notes, then one line for every server."""
    console = console or _stdout()
    for server in summary.servers.values():
        _print_points(server, console)
    for text, names in summary.found.items():
        who = "All servers" if len(names) == len(summary.servers) > 1 else ", ".join(names)
        console.print(escape(f"{who}: {text}"), soft_wrap=True)
    _print_clients(summary, console)
    for note in summary.notes:
        console.print(escape(note), soft_wrap=True)
    if summary.reason:
        console.print(escape(f"{_ENDED[summary.status]}: {summary.reason}"), soft_wrap=True)
    print_ranking(summary, console)


def print_ranking(summary: Summary, console: Console | None = None) -> None:
    """On stdout: one line for every server, the one that held most first."""
    console = console or _stdout()
    closed = any(
        point.concurrency for server in summary.servers.values() for point in server.points
    )
    most = "Most replies/s" if closed else "Holds"
    titles = ("Server", most, "p50 there", "p99 there", "CPU there", "Memory")
    rows = (
        [_fastest(s) for s in _by_replies(summary)]
        if closed
        else list(map(_ranked, summary.ranked()))
    )
    spare = ("CPU there", "p50 there", "Memory", "p99 there")
    console.print(fitting(titles, rows, console.width, spare=spare))
    for server in summary.ranked():
        if server.died:
            console.print(escape(f"† {server.died}"), soft_wrap=True)
        if server.unknown:
            said = f"What {server.name} holds is not known: {server.unknown}"
            console.print(escape(said), soft_wrap=True)


def _ranked(server: ServerSummary) -> list[Cell]:
    times, cpu = server.latency_at_knee_us, server.cpu_at_knee_pct
    return [
        Text(server.name),
        _holds(server) + (" †" if server.died else ""),
        _time(times, 0.5),
        _time(times, 0.99),
        f"{cpu:.0f} %" if cpu is not None else "",
        megabytes(server.rss_bytes) if server.rss_bytes else "",
    ]


def _by_replies(summary: Summary) -> list[ServerSummary]:
    """Of a closed loop, which holds no rate: the one that answered most first."""
    most = {server.id: _most(server) for server in summary.servers.values()}
    return sorted(
        summary.servers.values(),
        key=lambda server: -(point.replies_per_s if (point := most[server.id]) else 0.0),
    )


def _most(server: ServerSummary) -> PointStop | None:
    measured = [point for point in server.points if point.complete]
    return max(measured, key=lambda point: point.replies_per_s, default=None)


def _fastest(server: ServerSummary) -> list[Cell]:
    point = _most(server)
    if point is None:
        return [Text(server.name), _holds(server), "", "", "", ""]
    return [
        Text(server.name),
        f"{point.replies_per_s:,.0f}, {offered(point)}" + (" †" if server.died else ""),
        _time(point.latency_us, 0.5),
        _time(point.latency_us, 0.99),
        f"{point.server_cpu_pct:.0f} %",
        megabytes(server.rss_bytes) if server.rss_bytes else "",
    ]


def _holds(server: ServerSummary) -> str:
    if server.knee_per_s is not None:
        return f"{'≥ ' * server.knee_is_floor}{rate(server.knee_per_s)}/s"
    if server.unknown:
        return "not known"
    return "no rate" if any(point.complete for point in server.points) else "not measured"


def _print_points(server: ServerSummary, console: Console) -> None:
    version = f" ({server.version})" if server.version else ""
    console.print(f"[bold]{escape(server.name)}[/]{escape(version)}")
    if not server.points:
        console.print("No point was run.")
    else:
        passes = len({point.pass_number for point in server.points}) > 1
        titles = ["Offered", "Replies/s", "Errors", "p50", "p99", *["Pass"] * passes, "Verdict"]
        # A rate's looks together, though all other servers had a turn between them.
        ranked = sorted(
            server.points, key=lambda p: (p.pass_number, p.concurrency, p.rate_per_s, p.look)
        )
        rows = [_point(point, passes, server.counts(point)) for point in ranked]
        spare = ("p50", "Replies/s", "p99", "Errors")
        console.print(fitting(titles, rows, console.width, spare=spare, folds="Verdict"))
    for note in filter(None, [*server.notes, server.gave_up, server.died]):
        console.print(escape(note), soft_wrap=True)
    console.print()


def _point(point: PointStop, passes: bool, counts: bool) -> list[Cell]:
    figures = [
        f"{point.replies_per_s:,.0f}",
        percent(point.errors_pct),
        _time(point.latency_us, 0.5),
        _time(point.latency_us, 0.99),
    ]
    said = point.verdict if point.complete else "interrupted"
    verdict = Text(said, style=VERDICT_STYLES.get(said, "magenta"))
    if point.complete and not counts:
        verdict.append(" (measured again)", style="default")
    elif point.look > 1:
        verdict.append(f" ({ordinal(point.look)} look)", style="default")
    if point.reasons:
        verdict.append(f": {' '.join(point.reasons)}", style="default")
    return [
        offered(point),
        *(figures if point.complete else [""] * len(figures)),
        *[str(point.pass_number)] * passes,
        verdict,
    ]


def _print_clients(summary: Summary, console: Console) -> None:
    """Where there are several."""
    side_by_side = clients.table(summary)
    if side_by_side is None:
        return
    table = _table(*side_by_side.columns)
    for row in side_by_side.rows:
        table.add_row(*map(escape, row))
    console.print(table)
    if skew := summary.together.skew():
        console.print(skew, soft_wrap=True)


def _stdout() -> Console:
    console = Terminal(highlight=False)
    if not console.is_terminal:
        # Nobody's window is too narrow for a file.
        console.width = 140
    return console


def _time(times: Percentiles | None, q: float) -> str:
    """Empty where there are too few values for that percentile."""
    if times is None or not percentile_supported(times.count, q):
        return ""
    return duration(times.p50 if q == 0.5 else times.p99)


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table

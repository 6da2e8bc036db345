"""`pongbench summary`: what every server held, and every point's verdict."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import msgspec
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from workbench.analysis.histogram import percentile_supported
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.commands.console import VERDICT_STYLES
from workbench.commands.opening import add_session_arguments, exit_code, open_session
from workbench.documents import Percentiles
from workbench.wording import duration, megabytes, offered, percent

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


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
    for note in summary.notes:
        console.print(escape(note), soft_wrap=True)
    if summary.reason:
        console.print(escape(f"The run was {summary.status}: {summary.reason}"), soft_wrap=True)
    print_ranking(summary, console)


def print_ranking(summary: Summary, console: Console | None = None) -> None:
    """On stdout: one line for every server, the one that held most first."""
    console = console or _stdout()
    table = _table("Server", "Holds", "p50 there", "p99 there", "CPU there", "Memory")
    for server in summary.ranked():
        times = server.latency_at_knee_us
        cpu = server.cpu_at_knee_pct
        table.add_row(
            Text(server.name),
            _holds(server),
            _time(times, 0.5),
            _time(times, 0.99),
            f"{cpu:.0f} %" if cpu is not None else "",
            megabytes(server.rss_bytes) if server.rss_bytes else "",
        )
    console.print(table)


def _holds(server: ServerSummary) -> str:
    if server.knee_per_s is not None:
        return f"{server.knee_per_s:,.10g}/s"
    measured = [point for point in server.points if point.complete]
    if not measured:
        return "not measured"
    return "" if all(point.concurrency for point in measured) else "no rate"


def _print_points(server: ServerSummary, console: Console) -> None:
    version = f" ({server.version})" if server.version else ""
    console.print(f"[bold]{escape(server.name)}[/]{escape(version)}")
    if not server.points:
        console.print("No point was run.")
    else:
        passes = len({point.pass_number for point in server.points}) > 1
        table = _table("Offered", "Replies/s", "Errors", "p50", "p99")
        if passes:
            table.add_column("Pass", justify="right")
        table.add_column("Verdict", overflow="fold")
        for point in server.points:
            figures = [
                f"{point.replies_per_s:,.0f}",
                percent(point.errors_pct),
                _time(point.latency_us, 0.5),
                _time(point.latency_us, 0.99),
            ]
            cells = [offered(point), *(figures if point.complete else [""] * len(figures))]
            if passes:
                cells.append(str(point.pass_number))
            verdict = Text(point.verdict, style=VERDICT_STYLES.get(point.verdict, "magenta"))
            if point.reasons:
                verdict.append(f": {' '.join(point.reasons)}", style="default")
            table.add_row(*cells, verdict)
        console.print(table)
    for note in filter(None, [*server.notes, server.gave_up]):
        console.print(escape(note), soft_wrap=True)
    console.print()


def _stdout() -> Console:
    console = Console(highlight=False)
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

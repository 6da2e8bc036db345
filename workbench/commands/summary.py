"""`pongbench summary`: what every server sustained, and every point's verdict."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from workbench.analysis.audits import Audit, State, in_short
from workbench.analysis.cost import cost as cost_of
from workbench.analysis.cost import full_core
from workbench.analysis.distribution import Distribution
from workbench.analysis.results import Clock, known_us, mean_us
from workbench.analysis.server_summary import ServerSummary
from workbench.analysis.summary import Summary, summarise
from workbench.commands.console import VERDICT_STYLES
from workbench.commands.fitting import Cell, fitting
from workbench.commands.opening import add_session_arguments, exit_code, open_session
from workbench.documents import OUR_AGENT, Metric, PointStop
from workbench.errors import BadInput
from workbench.formatting import duration, figure, known, megabytes, ordinal, per_second, percent
from workbench.report import clients, cost, distributions, requests, sustained
from workbench.report.cross_check import TITLES, CrossCheck, cross_checks, remark
from workbench.report.setup import FROM_THE_SEND
from workbench.report.then import then_and_now
from workbench.terminal import Terminal, say, write_json

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


FAULTY = "✗"
"""Marks what a faulty server sustains, and what is faulty about it."""

DISQUALIFIED = "⊘"
"""Marks a server that stopped replying."""

_COST = ("CPU per call", "Core full at")

_OF_RUN = ("background-load", "background-load-at-calibration", "sustained-under-background-load")
"""Codes of reasons that apply to many points, and are summarised once for the run."""

PIPED = 140
"""Columns of the tables in a file or a pipe."""

_ENDED: defaultdict[str, str] = defaultdict(
    lambda: "The run ended",
    failed="The run failed",
    stopped="The run was stopped",
    aborted="The run was aborted",
)


_ANSWERS: dict[str, tuple[State, ...]] = {
    "steady-state": ("failed",),
    "memory-growth": ("passed", "failed"),
    "evidence": ("not-known",),
}
"""Audits, by code, whose finding stands below the results, and in which states."""

_STATE_STYLES: dict[State, str] = {"passed": "green", "failed": "bold red", "not-known": "yellow"}


def add_parser(subparsers: Subparsers) -> None:
    """Add `summary` to the commands."""
    parser = subparsers.add_parser(
        "summary", help="what every server of a session sustained, and every point's verdict"
    )
    add_session_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, nothing else")
    parser.add_argument("--audits", action="store_true", help="print the audits as a checklist")
    parser.add_argument(
        "--percentiles",
        action="store_true",
        help="print 50 to 100 %% of the response times where each server sustains its rate",
    )
    parser.add_argument(
        "--folded",
        metavar="SERVER",
        help="print the stacks of a server's profile, for flamegraph.pl, speedscope and others",
    )
    parser.set_defaults(handler=handle)


def handle(arguments: argparse.Namespace) -> int:
    """Print the summary of a session."""
    session = open_session(arguments)
    summary = summarise(session.completed())
    if arguments.folded:
        for line in _folded(summary, arguments.folded):
            say(line)
    elif arguments.json:
        write_json(data_of(summary))
    else:
        print_summary(summary)
        if arguments.audits:
            print_audits(summary.audits)
        if arguments.percentiles:
            print_percentiles(summary)
    return exit_code(session)


def data_of(summary: Summary) -> dict[str, Any]:
    """Return the JSON object of a session, with the figures of a source whose question it asks."""
    found = then_and_now(summary.plan, summary.servers)
    return summary.to_data() | {
        "then_and_now": asdict(found) if found else None,
        "cross_check": [each.to_data() for each in _cross_checks(summary)],
    }


def _folded(summary: Summary, id_: str) -> Iterator[str]:
    """Raises BadInput."""
    profiled = {server.id: server.profile for server in summary.servers.values() if server.profile}
    if profile := profiled.get(id_):
        return profile.folded()
    if not profiled:
        raise BadInput("This session has no profiles; `pongbench run --profile` makes them.")
    raise BadInput(f"There is no profile of {id_!r}. {known(sorted(profiled), 'profile')}")


def print_summary(summary: Summary, console: Terminal | None = None) -> None:
    """Print every point, the session's notes, then one line per server."""
    console = console or Terminal(piped=PIPED)
    metrics = requests.of_points(summary.known_metrics)
    for server in summary.servers.values():
        _print_points(server, metrics, summary.clock, console)
    if summary.load_tool != OUR_AGENT:
        console.say(f"Load tool: {summary.load_tool}.")
    for found in summary.deploy_findings:
        console.say(found.sentence(len(summary.servers)))
    if summary.background_load:
        console.say(summary.background_load)
    _print_clients(summary, console)
    for note in summary.notes:
        console.say(note)
    if summary.reason:
        console.say(f"{_ENDED[summary.status]}: {summary.reason}")
    print_ranking(summary, console)
    print_cross_check(summary, console)
    print_then_and_now(summary, console)


def print_audits(audits: Sequence[Audit], console: Terminal | None = None) -> None:
    """Print the checklist."""
    console = console or Terminal(piped=PIPED)
    rows: list[list[Cell]] = [
        [
            Text(audit.label),
            Text(audit.state_label, style=_STATE_STYLES.get(audit.state, "dim")),
            Text(audit.message.text()),
        ]
        for audit in audits
    ]
    titles = ["Audit", "Result", "Finding"]
    console.print(fitting(titles, rows, console.width, spare=(), folds="Finding", words=True))


def print_percentiles(summary: Summary, console: Terminal | None = None) -> None:
    """Print the mean and the percentiles that ab prints, at one point of every server."""
    console = console or Terminal(piped=PIPED)
    rows: list[list[Cell]] = []
    for server in summary.ranked():
        if point := distributions.best(server):
            found = Distribution.of(point, summary.clock)
            rows.append([server.name, server.axis.at(point.x), *distributions.cells(found)])
    titles = ["Response time", "At", *distributions.titles()]
    console.print(fitting(titles, rows, console.width, spare=("p75", "p80", "p66", "p98")))


def print_cross_check(summary: Summary, console: Terminal | None = None) -> None:
    """Print how far the load tools of a session agree at each point."""
    console = console or Terminal(piped=PIPED)
    if found := _cross_checks(summary):
        rows: list[list[Cell]] = [[*each.cells] for each in found]
        spare, folds = ("p50",), TITLES[-1]
        console.print(fitting(TITLES, rows, console.width, spare=spare, folds=folds, words=True))
        console.say(remark(found))


def _cross_checks(summary: Summary) -> list[CrossCheck]:
    return cross_checks(summary.plan, summary.servers.values())


def print_then_and_now(summary: Summary, console: Terminal) -> None:
    """Print the published figures of the servers that were measured, if the run asks the question
    of a source."""
    found = then_and_now(summary.plan, summary.servers)
    if found is None:
        return
    rows: list[list[Cell]] = [
        [row.name, row.then, row.server, Text(row.now)] for row in found.measured
    ]
    console.print(
        fitting(
            ["Published", "Stated", "Now", "Measured"],
            rows,
            console.width,
            spare=("Stated",),
            folds="Measured",
            words=True,
        )
    )
    console.say(f"Published: {found.citation}. Not the same now: {found.differs}")


def print_ranking(summary: Summary, console: Terminal | None = None) -> None:
    """Print one line per server, the highest sustained rate first, and the result of the audits."""
    console = console or Terminal(piped=PIPED)
    limit = summary.axis.has_limit
    searched = bool(summary.axis.bounds)
    most = sustained.most(summary.axis).capitalize()
    most = "Peak" if searched else "Sustained" if limit else most
    titles = ["Server", most, *["Interval"] * searched, "Mean there", "p50 there", "p99 there"]
    titles += ["CPU there", *_COST, "Peak RSS", "Processes"]
    clock = summary.clock
    rows = [_row(server, clock) for server in summary.ranked()]
    spare = (
        "Processes",
        "Mean there",
        "CPU there",
        "p50 there",
        "Peak RSS",
        *reversed(_COST),
        "p99 there",
    )
    console.print(fitting(titles, rows, console.width, spare=spare))
    if clock == "service":
        console.say(FROM_THE_SEND)
    if shared := cost.shared_memory(summary.servers.values()):
        console.say(shared)
    if summary.slo:
        console.say(f"Peak: the highest tested rate with {summary.limits}.")
    if paid := cost.tie(summary.ranked()):
        console.say(paid)
    for server in summary.ranked():
        if why := cost.stops(server):
            console.say(why)
        if server.profile:
            console.say(server.profile.text())
    _print_failings(summary, console)
    if any(audit.state == "passed" for audit in summary.audits):
        console.say(f"Audits: {in_short(summary.audits)}.")
    for audit in summary.audits:
        if audit.state in _ANSWERS.get(audit.code, ()):
            console.say(audit.message.text())


def _print_failings(summary: Summary, console: Terminal) -> None:
    for server in summary.ranked():
        if server.died:
            console.say(f"† {server.died}")
        if server.faulty:
            console.say(f"{FAULTY} {server.name} is {server.what_is_faulty}.")
        if server.disqualified:
            console.say(f"{DISQUALIFIED} Disqualified: {server.name} {server.disqualified}.")
    for sentence in sustained.unknown(summary.ranked(), summary.background_load):
        console.say(sentence)


def _row(server: ServerSummary, clock: Clock) -> list[Cell]:
    """A server's row in the ranking, with its figures at one point."""
    there = server.there
    times = there.times(clock) if there else None
    return [
        Text(server.name),
        _sustained(server),
        *[sustained.interval(server)] * bool(server.axis.bounds),
        duration(mean_us(there.stops, clock) if there else None),
        duration(known_us(times, "p50")),
        duration(known_us(times, "p99")),
        cost.cpu(there.cpu_pct if there else 0.0),
        cost.within(cost_of(there)),
        per_second(full_core(server)),
        megabytes(server.rss_bytes) if server.rss_bytes else "",
        server.tasks.cell,
    ]


def _sustained(server: ServerSummary) -> Text:
    """With signs that a line below explains."""
    text = Text(sustained.column(server, where=True) + " †" * bool(server.died))
    if server.disqualified:
        text.append(f" {DISQUALIFIED}", style=VERDICT_STYLES["faulty"])
    return text.append(f" {FAULTY}", style=VERDICT_STYLES["faulty"]) if server.faulty else text


def _print_points(
    server: ServerSummary, metrics: Sequence[Metric], clock: Clock, console: Terminal
) -> None:
    version = f" ({server.version})" if server.version else ""
    console.print(Text.assemble((server.name, "bold"), version))
    if not server.stops:
        console.print("No points were measured.")
    else:
        passes = len(server.pass_numbers) > 1
        has = {key for stop in server.stops for key in stop.values}
        metrics = [metric for metric in metrics if metric.key in has]
        others = [metric.label for metric in metrics]
        replies = f"{server.axis.served_title}/s"
        calls = ["Calls/s"] * (server.axis.calls_each > 1)
        titles = [server.axis.column, replies, *calls, "Errors", "Mean", "p50", "p99"]
        titles += [*others, *["Pass"] * passes, "Verdict"]
        rows = [_point(point, passes, server, metrics, clock) for point in server.ordered()]
        spare = (*reversed(others), *calls, "Mean", "p50", replies, "p99", "Errors")
        console.print(fitting(titles, rows, console.width, spare=spare, folds="Verdict"))
    for note in filter(None, [*server.notes, server.gave_up, server.died]):
        console.say(note)
    console.print()


def _point(
    point: PointStop,
    passes: bool,
    server: ServerSummary,
    metrics: Sequence[Metric],
    clock: Clock,
) -> list[Cell]:
    times = point.latency_us if clock == "latency" else point.service_us
    calls_per_s = server.axis.calls_per_s(point.replies_per_s)
    figures = [
        f"{point.replies_per_s:,.0f}",
        *([] if calls_per_s is None else [f"{calls_per_s:,.0f}"]),
        percent(point.errors_pct),
        duration(mean_us([point], clock)),
        duration(known_us(times, "p50")),
        duration(known_us(times, "p99")),
        *(figure(point.values.get(metric.key), metric.unit) for metric in metrics),
    ]
    text = point.verdict if point.complete else "interrupted"
    verdict = Text(text, style=VERDICT_STYLES.get(text, "magenta"))
    if point.complete and not server.counts(point):
        verdict.append(" (measured again)", style="default")
    elif point.look > 1:
        verdict.append(f" ({ordinal(point.look)} try)", style="default")
    if reasons := _reasons(point):
        verdict.append(f": {' '.join(reasons)}", style="default")
    return [
        server.axis.of(point),
        *(figures if point.complete or point.replies_per_s else [""] * len(figures)),
        *[str(point.pass_number)] * passes,
        verdict,
    ]


def _reasons(point: PointStop) -> list[str]:
    """The reasons of a verdict, without background load that is summarised for the run."""
    if len(point.findings) != len(point.reasons):
        return point.reasons
    codes = [finding.get("code") for finding in point.findings]
    own = [text for code, text in zip(codes, point.reasons, strict=True) if code not in _OF_RUN]
    return [*own, *(["Background load."] if len(own) < len(codes) else [])]


def _print_clients(summary: Summary, console: Terminal) -> None:
    """Print requests and clients if there are several."""
    for each in (*requests.tables(summary), *clients.tables(summary)):
        table = _table(*each.columns)
        for row in each.rows:
            table.add_row(*row)
        console.say(f"{each.title}:")
        console.print(table)
    if skew := summary.all_clients.skew():
        console.say(skew)


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table

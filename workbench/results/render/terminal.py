"""The results of a session, and of a comparison, in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rich.text import Text

from workbench.analysis.audits import Audit, State, in_short
from workbench.analysis.series import Clock
from workbench.analysis.summary import ServerSummary, Summary
from workbench.documents import OUR_AGENT, PointStop
from workbench.formatting import ordinal
from workbench.messages.audits import ENDED
from workbench.results import cross_check, differences, rows, sustained, tables
from workbench.results.comparison import Comparison
from workbench.results.conditions import Conditions
from workbench.results.published import then_and_now
from workbench.results.setup import FROM_THE_SEND
from workbench.results.tables import Row, Table
from workbench.terminal import Cell, Terminal, fitting

S = TypeVar("S")

VERDICT_STYLES = {"ok": "green", "server-limited": "yellow", "faulty": "bold red"}
"""All other verdicts mean that the point cannot be trusted."""
_STATE_STYLES: dict[State, str] = {"passed": "green", "failed": "bold red", "not-known": "yellow"}

FAULTY = "✗"
"""Marks what a faulty server sustains, and what is faulty about it."""
DISQUALIFIED = "⊘"
"""Marks a server that stopped replying."""

_OF_RUN = ("background-load", "background-load-at-calibration", "sustained-under-background-load")
"""Codes of reasons that apply to many points, and are summarised once for the run."""

PIPED, _COMPARISON_PIPED = 140, 180
"""Columns of the tables in a file or a pipe."""

_ANSWERS: dict[str, tuple[State, ...]] = {
    "steady-state": ("failed",),
    "memory-growth": ("passed", "failed"),
    "evidence": ("not-known",),
}
"""Audits, by code, whose finding stands below the results, and in which states."""

# Columns that are left out in a narrow terminal, by their keys, in this order.
_RANKING = (
    *("processes", "there_mean_ms", "there_cpu_pct", "there_p50_ms", "rss_bytes"),
    *("full_core", "cpu_per_call", "there_p99_ms"),
)
_POINTS = ("calls", "mean", "p50", "replies", "p99", "errors")
_COMPARED = (
    *("mean_ms", "verdicts_untrusted", "verdicts_faulty", "verdicts_server_limited"),
    *("verdicts_ok", "cpu_pct", "processes", "rss_bytes", "p50_ms"),
)


def _print(
    console: Terminal,
    table: Table[S],
    spare: Sequence[str],
    *,
    folds: str = "",
    styled: Callable[[Row[S], str, str], Cell] = lambda row, key, text: text,
) -> None:
    """`spare`, `folds`: keys of columns, see `fitting`; `styled`: a cell of row, key and text."""
    keys = {column.key: column.title for column in table.columns}
    lines = [[styled(row, key, row.text(key)) for key in keys] for row in table.rows]
    left_out = [keys[key] for key in spare if key in keys]
    folded = keys.get(folds, "")
    console.print(fitting(table.titles, lines, console.width, spare=left_out, folds=folded))


def print_summary(summary: Summary, console: Terminal | None = None) -> None:
    """Print every point, the session's notes, then one line per server."""
    console = console or Terminal(piped=PIPED)
    for server in summary.servers.values():
        _print_points(server, summary, console)
    tool = f"Load tool: {summary.load_tool}." * (summary.load_tool != OUR_AGENT)
    for text in filter(None, (tool, *summary.deployed, summary.background_load)):
        console.say(text)
    for each in (*tables.of_requests(summary), *tables.of_clients(summary)):
        console.say(f"{each.title}:")
        console.print(fitting(each.columns, each.rows, console.width, spare=()))
    for text in filter(None, (summary.all_clients.skew(), *summary.notes)):
        console.say(text)
    if summary.reason:
        console.say(f"{ENDED.get(summary.status, 'The run ended')}: {summary.reason}")
    print_ranking(summary, console)
    print_cross_check(summary, console)
    print_then_and_now(summary, console)


def print_audits(audits: Sequence[Audit], console: Terminal | None = None) -> None:
    console = console or Terminal(piped=PIPED)
    rows: list[list[Cell]] = []
    for audit in audits:
        state = Text(audit.state_label, style=_STATE_STYLES.get(audit.state, "dim"))
        rows.append([audit.label, state, audit.message.text()])
    titles = ["Audit", "Result", "Finding"]
    console.print(fitting(titles, rows, console.width, spare=(), folds="Finding", words=True))


def print_percentiles(summary: Summary, console: Terminal | None = None) -> None:
    """Print the mean and the percentiles that ab prints, at one point of every server."""
    console = console or Terminal(piped=PIPED)
    found = tables.percentiles(summary)
    shown = found.only(column.key for column in found.columns if column.key != "count")
    console.say("Response times:")
    _print(console, shown, ("p75", "p80", "p66", "p98"))


def print_cross_check(summary: Summary, console: Terminal | None = None) -> None:
    console = console or Terminal(piped=PIPED)
    if found := cross_check.cross_checks(summary.plan, summary.servers.values()):
        titles, lines = cross_check.TITLES, [each.cells for each in found]
        folds = titles[-1]
        console.print(
            fitting(titles, lines, console.width, spare=("p50",), folds=folds, words=True)
        )
        console.say(cross_check.remark(found))


def print_then_and_now(summary: Summary, console: Terminal) -> None:
    """Print the published figures of the measured servers, if the run asks their question."""
    found = then_and_now(summary.plan, summary.servers)
    if found is None:
        return
    titles = ["Published", "Stated", "Now", "Measured"]
    rows = [[row.name, row.then, row.server, row.now] for row in found.measured]
    spare, folds = titles[1:2], titles[-1]
    console.print(fitting(titles, rows, console.width, spare=spare, folds=folds, words=True))
    console.say(f"Published: {found.citation}. Not the same now: {found.differs}")


def print_ranking(summary: Summary, console: Terminal | None = None) -> None:
    """Print one line per server, the highest sustained rate first, and the result of the audits."""
    console = console or Terminal(piped=PIPED)
    table, ranked = rows.ranking(summary), summary.ranked()
    shown = table.only(column.key for column in table.columns if column.key != "version")
    _print(console, shown, _RANKING, styled=_ranked)
    _print_remarks(ranked, summary.clock, console)
    if summary.slo:
        console.say(f"Peak: the highest tested rate with {summary.limits}.")
    console.say(f"{sustained.answer(ranked, whole=summary.status == 'done').text}.")
    if paid := sustained.tie(ranked):
        console.say(paid)
    for server in ranked:
        if why := sustained.stops(server):
            console.say(why)
        if server.profile:
            console.say(server.profile.text())
    _print_failings(summary, console)
    if any(audit.state == "passed" for audit in summary.audits):
        console.say(f"Audits: {in_short(summary.audits)}.")
    for audit in summary.audits:
        if audit.state in _ANSWERS.get(audit.code, ()):
            console.say(audit.message.text())


def _print_remarks(servers: Sequence[ServerSummary], clock: Clock, console: Terminal) -> None:
    if clock == "service":
        console.say(FROM_THE_SEND)
    if shared := sustained.shared_memory(servers):
        console.say(shared)


def _print_failings(summary: Summary, console: Terminal) -> None:
    for server in summary.ranked():
        if died := server.told("died"):
            console.say(f"† {died}")
        if server.faulty:
            console.say(f"{FAULTY} {server.name} is {server.what_is_faulty}.")
        if server.disqualified:
            console.say(f"{DISQUALIFIED} Disqualified: {server.name} {server.disqualified}.")
    for sentence in sustained.unknown(summary.ranked(), summary.background_load):
        console.say(sentence)


def _ranked(row: Row[ServerSummary], key: str, text: str) -> Text:
    """With signs that a line below explains."""
    cell, server = Text(text), row.of
    if key == "sustained":
        cell.append(" †" * bool(server.told("died")))
        if server.disqualified:
            cell.append(f" {DISQUALIFIED}", style=VERDICT_STYLES["faulty"])
        if server.faulty:
            cell.append(f" {FAULTY}", style=VERDICT_STYLES["faulty"])
    return cell


def _print_points(server: ServerSummary, summary: Summary, console: Terminal) -> None:
    version = f" ({server.version})" if server.version else ""
    console.print(Text.assemble((server.name, "bold"), version))
    if not server.stops:
        console.print("No points were measured.")
    else:
        table = rows.points(server, summary.metrics, summary.clock)
        metrics = [c.key for c in table.columns if c.key.startswith("metric_")]
        shown = table.only(("x", "pass", *_POINTS, *metrics, "verdict"))

        def verdict(row: Row[PointStop], key: str, text: str) -> Cell:
            return _verdict(row.of, server, text) if key == "verdict" else text

        spare = (*reversed(metrics), *_POINTS)
        _print(console, shown, spare, folds="verdict", styled=verdict)
    for note in filter(None, [*server.notes, *map(server.told, ("gave-up", "died"))]):
        console.say(note)
    console.print()


def _verdict(point: PointStop, server: ServerSummary, text: str) -> Text:
    cell = Text(text, style=VERDICT_STYLES.get(text, "magenta"))
    if point.complete and not server.counts(point):
        cell.append(" (measured again)", style="default")
    elif point.look > 1:
        cell.append(f" ({ordinal(point.look)} try)", style="default")
    if reasons := _reasons(point):
        cell.append(f": {' '.join(reasons)}", style="default")
    return cell


def _reasons(point: PointStop) -> list[str]:
    """The reasons of a verdict, without background load that is summarised for the run."""
    if len(point.findings) != len(point.reasons):
        return point.reasons
    codes = [finding.get("code") for finding in point.findings]
    own = [text for code, text in zip(codes, point.reasons, strict=True) if code not in _OF_RUN]
    return [*own, *(["Background load."] if len(own) < len(codes) else [])]


def print_comparison(
    found: Comparison, differing: Conditions, console: Terminal | None = None
) -> None:
    """Print the sessions, what differs, one line per server, and their differences."""
    console = console or Terminal(piped=_COMPARISON_PIPED)
    for side in found.sides:
        console.say(f"{side.tag}  {side.name} ({side.path}), {side.start.started_utc}")
        for warning in side.warnings:
            console.say(f"   {warning}")
    if differing.differing or differing.audits or differing.same:
        console.print()
    for condition in (*differing.differing, *differing.audits):
        console.say(condition.text)
    for text in filter(None, (*differing.warnings, differing.same_text())):
        console.say(text)
    console.print()
    whole, *common = rows.in_parts(found)
    keys = [column.key for column in whole.columns]
    spare = [key for end in _COMPARED for key in keys if key.endswith(end)]
    _print(console, whole, spare)
    _print_remarks([each.result for each in found.contenders], found.clock, console)
    for table in common:
        console.say(f"All servers at {found.axis.at(found.rate or 0)}:")
        _print(console, table, ["at_common_mean_ms"])
    if not common and len(found.contenders) > 1:
        console.say("There is no rate common to all, so none is compared.")
    for sentences in differences.of_pairs(found):
        for text in sentences:
            console.say(text)

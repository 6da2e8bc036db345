"""What a report says: every figure and sentence of its `contents`, found in a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import yaml

from workbench import formatting
from workbench.analysis.audits import Audit, tainted
from workbench.analysis.cost import cost as cost_of
from workbench.analysis.cost import full_core
from workbench.analysis.distribution import Distribution
from workbench.analysis.results import TRUSTED, Clock, Percentile, known_us, mean_us
from workbench.analysis.server_summary import ServerSummary
from workbench.analysis.summary import Summary, summarise
from workbench.documents import AnyDocument, Metric, Note, PointStop, RunStart
from workbench.formatting import capital, duration, listed
from workbench.messages.notes import Severity
from workbench.messages.topics import about, severity
from workbench.report import clients, conditions, cost, distributions, requests, sustained
from workbench.report.contents import Event, PointRow, Points, Ranked, Report, Times
from workbench.report.cross_check import cross_checks, remark
from workbench.report.doubts import doubts, once, state
from workbench.report.setup import FROM_THE_SEND
from workbench.report.then import then_and_now

_PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p99", "p999", "max")


def facts(
    documents: Sequence[AnyDocument],
    title: str = "",
    notes: str = "",
    remarks: Iterable[str] = (),
) -> Report:
    """The report on a session's documents, which must be complete. `title` and `notes` are the
    user's, `remarks` were found when the session was read.

    Raises ValueError if the documents do not begin with a `RunStart`.
    """
    start = documents[0] if documents else None
    if not isinstance(start, RunStart):
        raise ValueError("a report needs a session's RunStart")
    summary = summarise(documents)
    metrics = requests.of_points(summary.known_metrics)
    report = Report(
        title=title or summary.name or "Comparison",
        began=_date(start.started_utc),
        began_utc=start.started_utc,
        session=start.session,
        pongbench=start.pongbench,
        state=state(summary),
        answer=_answer(summary),
        unit=summary.unit,
        column=summary.axis.column,
        has_limit=summary.axis.has_limit,
        replies=summary.axis.replies,
        served=summary.axis.served_title,
        searched=bool(summary.axis.bounds),
        ranking=[_ranked(s, _incidents(s, documents), summary.clock) for s in summary.ranked()],
        profiles={s.id: s.profile for s in summary.ranked() if s.profile},
        times=list(_times(summary)),
        requests=requests.tables(summary),
        cross_check=(checks := cross_checks(summary.plan, summary.servers.values())),
        cross_check_remark=remark(checks),
        clock_remark=FROM_THE_SEND if summary.clock == "service" else "",
        then=then_and_now(start.plan, summary.servers),
        metrics=tuple(metric.label for metric in metrics),
        passes=max((p.pass_number for s in summary.servers.values() for p in s.stops), default=1),
        doubts=[*map(capital, remarks), *doubts(summary, documents)],
        audits=summary.audits,
        points=[
            _points(s, _incidents(s, documents), metrics, tainted(summary.audits))
            for s in summary.servers.values()
        ],
        conditions=conditions.sentences(start, summary),
        machines=[table for machine in start.machines for table in conditions.machine(machine)],
        clients=clients.tables(summary),
        servers=conditions.servers(start),
        plan=yaml.dump(
            start.plan,
            Dumper=_Dumper,
            default_flow_style=None,
            allow_unicode=True,
            sort_keys=False,
            width=90,
        ),
        events=[_event(d, summary) for d in documents if isinstance(d, Note)],
        method=conditions.method(start, summary),
        notes=notes,
    )
    return report


class _Dumper(yaml.SafeDumper):
    """Writes short lists on one line, and a repeated list twice: a plan has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _date(utc: str) -> str:
    began = datetime.fromisoformat(utc)
    began = began.astimezone(UTC) if began.tzinfo else began
    return f"{began.day} {began:%B %Y, %H:%M} UTC"


def _answer(summary: Summary) -> str:
    measured = [server for server in summary.ranked() if server.complete]
    if not measured:
        return "Nothing was measured."
    if summary.axis.of_workload and not summary.axis.has_limit:
        return f"{summary.axis.label} was varied at one load, so no highest rate was sought."
    if not summary.axis.has_limit:
        return _most_replies(measured)
    leaders = sustained.leaders(measured)
    best, others = leaders.best, leaders.open
    if not best:
        return " ".join([_none_sustained(measured), *_faulty(measured)])
    names = listed([server.name for server in best])
    value = summary.axis.at(best[0].figure)
    if summary.axis.per_second:
        value = f"{summary.axis.figure(best[0].figure)} {summary.unit} per second"
    value = f"{leaders.at_least}{value}"
    best_text = f"Best: {names} at {value}."
    if others:
        best_text = f"Highest measured: {names} at {value}."
    elif len(best) == len(measured):
        verb = sustained.parts(best[0])
        best_text = f"{names} {(verb if len(best) == 1 else verb.of_several()).verb} {value}."
    unreached = listed([server.name for server in others])
    limit = f"{unreached}: limit not reached." if others else ""
    return " ".join(filter(None, [best_text, cost.tie(measured), limit, *_faulty(measured)]))


def _faulty(measured: Iterable[ServerSummary]) -> list[str]:
    return [f"{server.name} is {server.what_is_faulty}." for server in measured if server.faulty]


def _most_replies(measured: Sequence[ServerSummary]) -> str:
    """The highest reply rate, on an axis without offered rates."""
    first = measured[0]
    if first.most is None:
        return "Nothing was measured."
    best = "" if len(measured) == 1 else "Best: "
    return f"{best}{first.name} with {sustained.column(first, where=True)}."


def _none_sustained(measured: Sequence[ServerSummary]) -> str:
    """The answer if no server is known to sustain a rate."""
    unknown = [server for server in measured if server.unknown]
    if not unknown:
        return "No server sustained any tested rate."
    causes = once([server.why_unknown for server in unknown])
    cause = f": {causes[0]}" if len(causes) == 1 else "."
    if len(unknown) == len(measured):
        return (
            f"What {'the server sustains' if len(measured) == 1 else 'they sustain'} is"
            f" unknown{cause}"
        )
    names = listed([server.name for server in unknown])
    verb = "sustains" if len(unknown) == 1 else "sustain"
    return f"No server is known to sustain any tested rate. What {names} {verb} is unknown{cause}"


def _ranked(server: ServerSummary, incidents: Sequence[str], clock: Clock) -> Ranked:
    there = server.there
    times = there.times(clock) if there else None
    return Ranked(
        id=server.id,
        name=server.name,
        version=server.version,
        sustained=sustained.column(server, where=True),
        interval=sustained.interval(server) if server.axis.bounds else "",
        mean=duration(mean_us(there.stops, clock) if there else None),
        p50=duration(known_us(times, "p50")),
        p99=duration(known_us(times, "p99")),
        cpu=cost.cpu(there.cpu_pct if there else 0.0),
        cpu_per_call=cost.within(cost_of(there)),
        full_core=formatting.per_second(full_core(server)),
        memory=formatting.megabytes(server.rss_bytes) if server.rss_bytes else "",
        processes=server.tasks.cell,
        stops=cost.stops(server),
        profile=_profile(server),
        incidents=" ".join(incidents),
        faulty=server.what_is_faulty,
        disqualified=server.disqualified,
    )


def _profile(server: ServerSummary) -> str:
    if server.profile:
        return server.profile.text()
    return " ".join(once(note.text for note in server.noted if note.topic == "not-profiled"))


def _times(summary: Summary) -> Iterator[Times]:
    for server in summary.ranked():
        point = distributions.best(server)
        found = Distribution.of(point, summary.clock) if point else None
        if point and found and found.count:
            cells = tuple(distributions.cells(found))
            at = server.axis.at(point.x)
            yield Times(server.id, server.name, at, server.tasks.text, cells, f"{found.count:,}")


def _incidents(server: ServerSummary, documents: Iterable[AnyDocument]) -> list[str]:
    """How the server died or why a sweep ended early; what recurs in every pass is listed once."""
    return once(
        document.text
        for document in documents
        if isinstance(document, Note)
        and document.server == server.server
        and document.topic in ("died", "gave-up")
    )


def _points(
    server: ServerSummary,
    incidents: Sequence[str],
    metrics: Sequence[Metric],
    failed: Mapping[int, list[Audit]],
) -> Points:
    """`failed`: failed audits, by the number of the point."""
    unknown = server.all_not_checked
    notes = tuple(once([*server.notes, *incidents, *([unknown.text()] if unknown else [])]))
    rows = tuple(_row(p, server, metrics, failed.get(p.point, [])) for p in server.ordered())
    return Points(server.id, server.name, server.version, server.tasks.text, rows, notes)


def _row(
    point: PointStop, server: ServerSummary, metrics: Sequence[Metric], failed: Iterable[Audit]
) -> PointRow:
    whole, counts = point.complete, server.counts(point)
    known = whole or point.replies_per_s > 0
    calls = server.axis.calls_per_s(point.replies_per_s)
    several = "" if calls is None else f" ({calls:,.0f} calls)"
    return PointRow(
        offered=server.axis.of(point),
        pass_number=point.pass_number,
        replies=f"{point.replies_per_s:,.0f}{several}" if known else "",
        errors=formatting.percent(point.errors_pct) if known else "",
        times=(
            duration(mean_us([point], "latency") if known else None),
            *(duration(known_us(point.latency_us if known else None, q)) for q in _PERCENTILES),
        ),
        service=duration(known_us(point.service_us if known else None, "p99")),
        cpu=cost.cpu(point.server_cpu_pct if known else 0.0),
        memory=formatting.megabytes(point.server_rss_bytes) if point.server_rss_bytes else "",
        metrics=tuple(
            formatting.figure(point.values.get(metric.key) if known else None, metric.unit)
            for metric in metrics
        ),
        verdict=point.verdict if whole else "interrupted",
        trusted=whole and point.verdict in TRUSTED,
        counts=counts and whole,
        reasons=" ".join(
            [
                *point.reasons,
                *(["Repeated later."] if whole and not counts else []),
                *(f"Audit failed: {audit.label}." for audit in failed),
            ]
        ),
    )


def _event(note: Note, summary: Summary) -> Event:
    server = summary.servers.get(note.server)
    text = about(note, server.name if server else "")
    return Event(formatting.clock(note.t_us / 1e6), text, severity(note) >= Severity.WARNING)

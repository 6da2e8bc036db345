"""What a report says of a session: every figure and sentence, ready to be set. No markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import yaml

from workbench import wording
from workbench.analysis.histogram import percentile_supported
from workbench.analysis.summary import ServerSummary, Summary, summarise
from workbench.documents import AnyDocument, Note, Percentiles, PointStop, RunStart
from workbench.report import clients, conditions
from workbench.report.conditions import Table
from workbench.report.doubts import TRUSTED, doubts, listed, once, state

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "max": 1.0}


@dataclass(frozen=True)
class Held:
    """A server's line in the ranking."""

    id: str
    name: str
    version: str
    holds: str
    p50: str
    p99: str
    cpu: str
    memory: str
    fate: str
    """How it died or why its sweep ended early; empty: neither."""


@dataclass(frozen=True)
class PointRow:
    """A point; empty cells: not known."""

    offered: str
    pass_number: int
    replies: str
    errors: str
    times: tuple[str, ...]
    """p50, p90, p99, p99.9 and the longest, counted from due."""
    service: str
    """p99, counted from send."""
    cpu: str
    memory: str
    verdict: str
    trusted: bool
    counts: bool
    """False: interrupted, or measured again."""
    reasons: str


@dataclass(frozen=True)
class Points:
    """All points of a server."""

    id: str
    name: str
    version: str
    rows: tuple[PointRow, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Happened:
    """A note of the run."""

    at: str
    text: str
    grave: bool


@dataclass
class Report:
    """Everything a report says."""

    title: str
    began: str
    """For people, in UTC: a report reads the same wherever it is opened."""
    began_utc: str
    session: str
    pongbench: str
    state: str
    """What a reader must know when the run did not come to its end; empty: it did."""
    answer: str
    """One sentence."""
    unit: str
    closed_loop: bool
    held: list[Held] = field(default_factory=list)
    passes: int = 1
    doubts: list[str] = field(default_factory=list)
    """What must not be trusted, and why."""
    points: list[Points] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """How the test was set up, in sentences."""
    machines: list[Table] = field(default_factory=list)
    servers: Table | None = None
    clients: Table | None = None
    """Where there are several."""
    plan: str = ""
    """YAML; can be run again."""
    happened: list[Happened] = field(default_factory=list)
    method: list[str] = field(default_factory=list)
    notes: str = ""
    """The user's own."""


def facts(
    documents: Sequence[AnyDocument],
    title: str = "",
    notes: str = "",
    remarks: Iterable[str] = (),
) -> Report:
    """Of a session's documents, completed; `title` and `notes` are its user's words about it,
    `remarks` what was found when it was read.

    Raises ValueError when they do not begin with a `RunStart`.
    """
    start = documents[0] if documents else None
    if not isinstance(start, RunStart):
        raise ValueError("a report needs a session's RunStart")
    summary = summarise(documents)
    workload = start.plan.get("workload") or {}
    closed = workload.get("mode") == "closed"
    report = Report(
        title=title or summary.name or "Comparison",
        began=_date(start.started_utc),
        began_utc=start.started_utc,
        session=start.session,
        pongbench=start.pongbench,
        state=state(summary),
        answer=_answer(summary, closed),
        unit=summary.unit,
        closed_loop=closed,
        held=[_held(server, _fates(server, documents)) for server in summary.ranked()],
        passes=max((p.pass_number for s in summary.servers.values() for p in s.points), default=1),
        doubts=[*(text[:1].upper() + text[1:] for text in remarks), *doubts(summary, documents)],
        points=[_points(s, _fates(s, documents)) for s in summary.servers.values()],
        conditions=conditions.sentences(start, summary),
        machines=[table for machine in start.machines for table in conditions.machine(machine)],
        clients=clients.table(summary),
        servers=conditions.servers(start),
        plan=yaml.dump(
            start.plan,
            Dumper=_Dumper,
            default_flow_style=None,
            allow_unicode=True,
            sort_keys=False,
            width=90,
        ),
        happened=[_happened(d, summary) for d in documents if isinstance(d, Note)],
        method=conditions.method(start, summary),
        notes=notes,
    )
    return report


class _Dumper(yaml.SafeDumper):
    """Short lists on one line, and the same list twice as two: a plan has no aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _date(utc: str) -> str:
    try:
        began = datetime.fromisoformat(utc)
    except ValueError:
        return utc
    began = began.astimezone(UTC) if began.tzinfo else began
    return f"{began.day} {began:%B %Y, %H:%M} UTC"


def _answer(summary: Summary, closed: bool) -> str:
    measured = [server for server in summary.ranked() if any(p.complete for p in server.points)]
    if not measured:
        return "Nothing was measured."
    if closed:
        return "A closed loop: each connection is followed by the next, so no rate is offered."
    best = [server for server in measured if server.knee_per_s == measured[0].knee_per_s]
    if best[0].knee_per_s is None:
        return _nobody(measured)
    names = listed([server.name for server in best])
    verb = "holds" if len(best) == 1 else "hold"
    most = "" if len(best) == len(measured) else " most"
    floors = [server for server in measured if server.knee_is_floor]
    least = "at least " if best[0] in floors else ""
    rate = wording.rate(best[0].knee_per_s)
    others = [server for server in floors if server not in best]
    seen = "Of what was seen, " if others else ""
    said = f"{seen}{names} {verb}{most}: {least}{rate} {summary.unit} per second."
    return f"{said} {_unseen(others, alone=len(floors) == len(measured))}".strip()


def _nobody(measured: Sequence[ServerSummary]) -> str:
    """No server is known to hold a rate."""
    unknown = [server for server in measured if server.unknown]
    if not unknown:
        return "No server held any of the rates."
    causes = once([server.unknown for server in unknown])
    cause = f": {causes[0]}" if len(causes) == 1 else "."
    if len(unknown) == len(measured):
        return (
            f"What {'the server holds' if len(measured) == 1 else 'they hold'} is not known{cause}"
        )
    names = listed([server.name for server in unknown])
    return (
        f"No server is known to hold any of the rates. What {names} would hold is not known{cause}"
    )


def _unseen(floors: Sequence[ServerSummary], *, alone: bool) -> str:
    """Which servers beside the best may hold more; `alone`: nobody's own limit was seen."""
    if not floors:
        return ""
    if alone:
        return "No rate showed any server’s own limit, so none is shown to be better than another."
    names = listed([server.name for server in floors])
    whose = "its" if len(floors) == 1 else "their"
    return f"{names} may hold more: no rate just above showed {whose} limit."


def _held(server: ServerSummary, fates: Sequence[str]) -> Held:
    complete = [point for point in server.points if point.complete]
    if server.knee_per_s is not None:
        least = "at least " if server.knee_is_floor else ""
        holds = f"{least}{wording.rate(server.knee_per_s)}/s"
    elif not complete:
        holds = "not measured"
    elif all(point.concurrency for point in complete):
        holds = ""
    else:
        holds = "not known" if server.unknown else "no rate"
    times, cpu = server.latency_at_knee_us, server.cpu_at_knee_pct
    return Held(
        id=server.id,
        name=server.name,
        version=server.version,
        holds=holds,
        p50=_time(times, "p50"),
        p99=_time(times, "p99"),
        cpu=f"{cpu:.0f} %" if cpu is not None else "",
        memory=wording.megabytes(server.rss_bytes) if server.rss_bytes else "",
        fate=" ".join(fates),
    )


def _fates(server: ServerSummary, documents: Iterable[AnyDocument]) -> list[str]:
    """What was said in every pass stands once."""
    return once(
        document.text
        for document in documents
        if isinstance(document, Note)
        and document.server == server.id
        and document.topic in ("died", "gave-up")
    )


def _points(server: ServerSummary, fates: Sequence[str]) -> Points:
    notes = tuple(once([*server.notes, *fates]))
    # A rate's looks together, though all other servers had a turn between them.
    ranked = sorted(
        server.points, key=lambda p: (p.pass_number, p.concurrency, p.rate_per_s, p.look)
    )
    rows = tuple(_row(point, server.counts(point)) for point in ranked)
    return Points(server.id, server.name, server.version, rows, notes)


def _row(point: PointStop, counts: bool) -> PointRow:
    whole = point.complete
    return PointRow(
        offered=wording.offered(point),
        pass_number=point.pass_number,
        replies=f"{point.replies_per_s:,.0f}" if whole else "",
        errors=wording.percent(point.errors_pct) if whole else "",
        times=tuple(_time(point.latency_us if whole else None, name) for name in _PERCENTILES),
        service=_time(point.service_us if whole else None, "p99"),
        cpu=f"{point.server_cpu_pct:.0f} %" if whole and point.server_cpu_pct else "",
        memory=wording.megabytes(point.server_rss_bytes) if point.server_rss_bytes else "",
        verdict=point.verdict if whole else "interrupted",
        trusted=whole and point.verdict in TRUSTED,
        counts=counts and whole,
        reasons=" ".join([*point.reasons, *(["Measured again."] if whole and not counts else [])]),
    )


def _time(times: Percentiles | None, name: str) -> str:
    """Empty where there are too few values for that percentile."""
    share = _PERCENTILES[name]
    if times is None or (share < 1 and not percentile_supported(times.count, share)):
        return ""
    return wording.duration(getattr(times, name))


def _happened(note: Note, summary: Summary) -> Happened:
    text, server = note.text, summary.servers.get(note.server)
    if server and server.name not in text:
        text = f"{server.name}: {text[:1].lower()}{text[1:]}"
    grave = note.topic in ("gave-up", "died", "warning", "audit", "client-lost")
    return Happened(wording.clock(note.t_us / 1e6), text, grave)

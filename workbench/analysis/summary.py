"""A session summarised in a few figures per server."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import msgspec

from workbench import axis as axes
from workbench.analysis.audits import Audit, Auditor
from workbench.analysis.background_load import BackgroundLoad
from workbench.analysis.causes import why_it_stops
from workbench.analysis.clients import AllClients, all_clients
from workbench.analysis.cost import CPU_PER_CALL, cost, cpu_us_per_call, full_core, rank
from workbench.analysis.histogram import percentile_supported
from workbench.analysis.results import SeriesResult, mean_us
from workbench.analysis.tasks import Tasks
from workbench.axis import RATE, Axis
from workbench.documents import (
    OUR_AGENT,
    AnyDocument,
    Metric,
    Note,
    Percentiles,
    PointStop,
    RunStart,
    RunStop,
)
from workbench.messages.limits import phrase
from workbench.messages.notes import Backlog, Died, Gate, Peak, Profile, Rates, Resources
from workbench.messages.topics import read_note, severity


class ServerSummary(SeriesResult):
    """One server over all its passes, with the notes about it."""

    def __init__(
        self,
        id_: str,
        name: str,
        version: str = "",
        *,
        axis: Axis = RATE,
        server: str = "",
        load_tool: str = OUR_AGENT,
    ) -> None:
        """`id_`: key of the series; `server`: the server's id if that is another."""
        super().__init__(id_, name, axis=axis)
        self.version = version
        self.server = server or id_
        self.load_tool = load_tool
        self.noted: list[Note] = []
        """About this server, other than what was `found` when it was deployed."""
        self.profile: Profile | None = None
        """Where its CPU time goes; None: it was not profiled."""

    @property
    def gave_up(self) -> str:
        """Why its sweep ended early; empty: it did not."""
        return " ".join(self._texts("gave-up"))

    @property
    def died(self) -> str:
        """How it died under load; empty: it did not."""
        return " ".join(self._texts("died"))

    @property
    def notes(self) -> list[str]:
        """All other notes; a profile stands beside why it stops."""
        shown = {"gave-up", "died", *["profile"] * (self.profile is not None)}
        others = {note.topic for note in self.noted} - shown
        return self._texts(*others)

    def _texts(self, *topics: str) -> list[str]:
        """A note that recurs in every pass is listed once."""
        return list(dict.fromkeys(note.text for note in self.noted if note.topic in topics))

    @property
    def id(self) -> str:
        return self.key

    def ordered(self) -> list[PointStop]:
        """Points for tables: the attempts at a value together, although all other servers ran
        between them; of a search in the order of measurement."""
        if self.axis.bounds:
            return list(self.stops)
        return sorted(self.stops, key=lambda stop: (stop.pass_number, stop.x, stop.look))


@dataclass
class DeployFinding:
    """A finding about one or more servers from when they were deployed."""

    what: Hashable
    """Equal for servers with the same finding."""
    text: str
    names: list[str] = field(default_factory=list)
    """Names of these servers."""

    def sentence(self, servers: int) -> str:
        """A sentence with their names; `servers`: the number of all servers."""
        everyone = len(self.names) == servers > 1
        return f"{'All servers' if everyone else ', '.join(self.names)}: {self.text}"


@dataclass
class Summary:
    """A session in figures."""

    name: str = ""
    """The plan's name."""
    plan: dict[str, Any] = field(default_factory=dict)
    """As data."""
    load_tool: str = OUR_AGENT
    axis: Axis = RATE
    """What the plan varies."""
    unit: str = "connections"
    """What rates count."""
    metrics: list[Metric] = field(default_factory=list)
    """Metrics of the points beyond the built-in ones."""
    servers: dict[str, ServerSummary] = field(default_factory=dict)
    """By the key of the series, in the plan's order; that is the id, unless several load tools ran
    every point."""
    slo: dict[str, float | None] = field(default_factory=dict)
    """The limits of a search, `errors_pct` and `p99_ms`."""
    limits: str = ""
    """The same as part of a sentence."""
    ceiling_per_s: float | None = None
    """The client limit; None: not measured."""
    status: str = "interrupted"
    """`RunStop.status`; "interrupted" if the session has no end."""
    reason: str = ""
    noted: list[Note] = field(default_factory=list)
    """Notes about no particular server."""
    all_clients: AllClients = field(default_factory=AllClients)
    """The clients."""
    deploy_findings: list[DeployFinding] = field(default_factory=list)
    """From when servers were deployed."""
    audits: list[Audit] = field(default_factory=list)
    """The checklist of `analysis.audits`."""

    @property
    def notes(self) -> list[str]:
        """Notes about no particular server."""
        return [note.text for note in self.noted]

    @property
    def background_load(self) -> str:
        """A sentence for the whole run; empty: none that could move a limit."""
        counted = (stop for server in self.servers.values() for stop in server.counted)
        found = BackgroundLoad.at(counted)
        return f"Background load {found.text}. Repeat on a quiet machine." * bool(found.disturbing)

    @property
    def known_metrics(self) -> list[Metric]:
        """Metrics known for at least one point: empty columns are not shown."""
        points = [stop for server in self.servers.values() for stop in server.stops]
        known = {key for p in points for key, value in p.values.items() if value is not None}
        return [metric for metric in self.metrics if metric.key in known]

    def of_server(self, server: str) -> list[ServerSummary]:
        """The series of a server: one, or one for each of several load tools."""
        return [each for each in self.servers.values() if each.server == server]

    def ranked(self) -> list[ServerSummary]:
        """Servers by knee, or by most replies where there is none, highest first; ties by the
        lowest CPU time per call."""
        return sorted(self.servers.values(), key=rank)

    def to_data(self) -> dict[str, Any]:
        """Plain data, the output of `pongbench summary --json`. None: unknown, or a percentile of
        too few values."""
        return {
            "name": self.name,
            "status": self.status,
            "axis": msgspec.to_builtins(self.axis),
            "unit": self.unit,
            "load_tool": self.load_tool,
            "metrics": msgspec.to_builtins(self.metrics),
            "ceiling_per_s": self.ceiling_per_s,
            **({"slo": self.slo} if self.slo else {}),
            **self.all_clients.to_data(),
            "notes": self._notes_data(),
            "audits": [audit.to_data() for audit in self.audits],
            "servers": {server.id: _server_data(server) for server in self.servers.values()},
        }

    def _notes_data(self) -> list[dict[str, Any]]:
        notes = [_note_data(note) for note in self.noted]
        if text := self.background_load:
            notes.append({"code": "background-load", "severity": "warning", "text": text})
        return notes


def summarise(documents: Iterable[AnyDocument]) -> Summary:
    """Summarise a session's documents, complete or cut off anywhere."""
    summary, auditor = Summary(), Auditor()
    points: list[PointStop] = []
    for document in documents:
        auditor(document)
        if isinstance(document, PointStop) and document.purpose != "profile":
            points.append(document)
        match document:
            case RunStart():
                _begin(summary, document)
            case PointStop(judged=True):
                _server(summary, document.series).stops.append(document)
            case Note():
                _note(summary, document)
            case RunStop():
                summary.status, summary.reason = document.status, document.reason
            case _:
                pass
    summary.all_clients = all_clients(points)
    summary.audits = auditor.audits()
    return summary


def _begin(summary: Summary, start: RunStart) -> None:
    plan = summary.plan = start.plan
    summary.name = plan.get("name", "")
    summary.load_tool = start.load_tool
    summary.axis = start.axis or RATE
    summary.metrics = start.metrics
    summary.unit = axes.rates_count(plan)
    if search := plan.get("search"):
        errors_pct, p99_ms = search.get("errors_pct", 1.0), search.get("p99_ms")
        summary.slo = {"errors_pct": errors_pct, "p99_ms": p99_ms}
        summary.limits = phrase(errors_pct, p99_ms)
    records = {record.id: record for record in start.servers}
    for each in start.series:
        record = records.get(each.server)
        summary.servers[each.key] = made = ServerSummary(
            each.key,
            each.label,
            record.version if record else "",
            axis=summary.axis,
            server=each.server,
            load_tool=each.params.get("load_tool", start.load_tools[0]),
        )
        made.tasks = Tasks.of(record)


def _server(summary: Summary, id_: str) -> ServerSummary:
    if id_ not in summary.servers:
        summary.servers[id_] = ServerSummary(id_, id_, axis=summary.axis)
    return summary.servers[id_]


def _note(summary: Summary, note: Note) -> None:
    if note.topic == "ceiling":
        found = note.data.get("ceiling_per_s")
        if found is not None:  # Of several load tools, that of the best.
            summary.ceiling_per_s = max(found, summary.ceiling_per_s or 0.0)
        summary.noted.append(note)
    elif note.topic == "rates":
        message = read_note(note)
        if isinstance(message, Rates):
            summary.axis = axes.known(summary.axis, message.values)
            for each in summary.servers.values():
                each.axis = summary.axis
    elif note.topic in ("gate", "backlog", "resources"):
        _found(summary, note)
    elif of_server := summary.of_server(note.server):
        message = read_note(note)
        for server in of_server:
            server.noted.append(note)
            if isinstance(message, Peak):
                server.peaks.append(message)
            elif isinstance(message, Profile):
                server.profile = message
            elif isinstance(message, Died) and not message.warming_up:
                server.ended_at = message.x
    else:
        # The null server is a tool, so notes about it are about the clients.
        summary.noted.append(note)


def _found(summary: Summary, note: Note) -> None:
    of_server = summary.of_server(note.server)
    if not of_server:
        return
    message = read_note(note)
    what: Hashable = message.code, note.text
    text = note.text
    if isinstance(message, Backlog):
        what, text = (message.code, message.backlog, message.asked), message.of_all()
    elif isinstance(message, Resources):
        text = message.of_all()
        what = message.code, text
    elif isinstance(message, Gate):
        what = message.code, message.findings()
    found = next((each for each in summary.deploy_findings if each.what == what), None)
    if found is None:
        summary.deploy_findings.append(found := DeployFinding(what, text))
    found.names += [each.name for each in of_server if each.name not in found.names]


def _server_data(server: ServerSummary) -> dict[str, Any]:
    there = server.at_knee
    paid = cost(there)
    return {
        "name": server.name,
        "server": server.server,
        "load_tool": server.load_tool,
        "version": server.version,
        "processes": server.tasks.processes or None,
        "threads": server.tasks.threads or None,
        **_limit_data(server),
        "knee_unknown": server.why_unknown or None,
        "faulty": server.what_is_faulty or None,
        "disqualified": server.disqualified or None,
        "stopped_past": server.stopped_past,
        "latency_at_knee_ms": _ms(there.latency_us, there.latency_mean_us) if there else _ms(),
        "service_at_knee_ms": _ms(there.service_us, there.service_mean_us) if there else _ms(),
        "cpu_at_knee_pct": there.cpu_pct if there else None,
        "cpu_us_per_call_at_knee": cpu_us_per_call(there),
        "cpu_us_per_call_margin_at_knee": _rounded(paid.half if paid else None, 3),
        "core_full_at_per_s": _rounded(full_core(server)),
        "stops_because": _why(server),
        "rss_bytes": server.rss_bytes or None,
        "profile": server.profile and _profile_data(server.profile),
        "gave_up": server.gave_up or None,
        "died": server.died or None,
        "notes": [_note_data(note) for note in server.noted],
        "points": [_point_data(point, server) for point in server.stops],
    }


def _limit_data(server: ServerSummary) -> dict[str, Any]:
    """The knee of a sweep, or the peak of a search: different measures, with keys of their own."""
    searched, interval = bool(server.axis.bounds), server.interval
    knee = None if searched else server.knee
    data: dict[str, Any] = {
        "knee": knee,
        "knee_per_s": knee if server.axis.per_second else None,
        "knee_is_floor": server.knee_is_floor and not searched,
    }
    if searched:
        data["peak_per_s"] = server.knee
        data["peak_is_floor"] = server.knee_is_floor
        data["peak_interval_per_s"] = interval and [interval.low, _finite(interval.high)]
        data["peaks"] = [peak.data() for peak in server.peaks]
    return data


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _why(server: ServerSummary) -> dict[str, Any] | None:
    found = why_it_stops(server)
    if found is None:
        return None
    point, cause = found
    return {"x": point.x, **cause.record(), "text": cause.text()}


_FUNCTIONS = 20
"""Functions of a profile that plain data name."""


def _profile_data(profile: Profile) -> dict[str, Any]:
    return {
        "x": profile.x,
        "tool": profile.tool,
        "seconds": profile.seconds,
        "samples": profile.samples,
        "functions": [
            {"name": name, "own_pct": round(100 * own / profile.samples, 2)}
            for name, own in profile.hottest()[:_FUNCTIONS]
        ],
    }


def _note_data(note: Note) -> dict[str, Any]:
    return {"code": note.topic, "severity": severity(note).name.lower(), "text": note.text}


def _point_data(point: PointStop, server: ServerSummary) -> dict[str, Any]:
    return {
        "point": point.point,
        "load_tool": server.load_tool,
        "x": point.x,
        **axes.recorded(server.axis, point.x),
        "pass_number": point.pass_number,
        "look": point.look,
        "counts": server.counts(point),
        "complete": point.complete,
        "offered_per_s": point.offered_per_s,
        "replies_per_s": point.replies_per_s,
        "errors_pct": point.errors_pct,
        "latency_ms": _ms(point.latency_us, mean_us([point], "latency")),
        "service_ms": _ms(point.service_us, mean_us([point], "service")),
        **({"values": point.values} if point.values else {}),
        "cpu_us_per_call": point.values.get(CPU_PER_CALL),
        "verdict": point.verdict,
        "reasons": list(point.reasons),
        "codes": [str(finding.get("code", "")) for finding in point.findings],
    }


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _ms(times: Percentiles | None = None, mean: float | None = None) -> dict[str, float | None]:
    shown = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
    found: dict[str, float | None] = dict.fromkeys([*shown, "mean"])
    if times is None:
        return found
    for name, q in shown.items():
        if percentile_supported(times.count, q):
            found[name] = getattr(times, name) / 1000
    return found | {"mean": None if mean is None else round(mean / 1000, 4)}

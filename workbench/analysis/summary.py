"""What a session says about each server, in a few figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbench.analysis.clients import Together, together
from workbench.analysis.histogram import merge, percentile_supported, percentiles
from workbench.analysis.knee import is_floor, knee, unknown
from workbench.analysis.looks import last_looks
from workbench.documents import (
    AnyDocument,
    Note,
    Percentiles,
    PointStop,
    RunStart,
    RunStop,
    SparseHistogram,
)


@dataclass
class ServerSummary:
    """One server over all its passes."""

    id: str
    name: str
    version: str = ""
    knee_per_s: float | None = None
    """In the plan's unit; None: it held no rate, or it is not known, see `unknown`."""
    unknown: str = ""
    """Why it is not known whether it holds any rate; empty: it is."""
    knee_is_floor: bool = False
    """It may hold more: the next rate above does not show its own limit."""
    latency_at_knee_us: Percentiles | None = None
    """Merged over the passes."""
    service_at_knee_us: Percentiles | None = None
    rss_bytes: int = 0
    """Peak over the sweep, whole process tree; 0: not measured."""
    cpu_at_knee_pct: float | None = None
    """Of one core, whole process tree; the mean of the passes' means."""
    points: list[PointStop] = field(default_factory=list)
    """Of its sweeps, in the order they were run; of several looks at a rate the last counts."""
    gave_up: str = ""
    """Why its sweep ended early; empty: it did not."""
    died: str = ""
    """How it ended under load; empty: it lived."""
    notes: list[str] = field(default_factory=list)
    """About this server, other than `gave_up` and `died`; what was said in every pass stands
    once."""

    def counts(self, point: PointStop) -> bool:
        """Is it the last look at its rate in its pass?"""
        return any(point is last for last in last_looks(self.points))


@dataclass
class Summary:
    """A session in figures."""

    name: str = ""
    """The plan's."""
    unit: str = "connections"
    """What rates count."""
    servers: dict[str, ServerSummary] = field(default_factory=dict)
    """By id, in the plan's order."""
    ceiling_per_s: float | None = None
    """The clients' own; None: not measured."""
    status: str = "interrupted"
    """`RunStop.status`; "interrupted" when the session has no end."""
    reason: str = ""
    notes: list[str] = field(default_factory=list)
    """About no server in particular."""
    together: Together = field(default_factory=Together)
    """The clients, each and all of them."""
    found: dict[str, list[str]] = field(default_factory=dict)
    """What was found of the servers when they were deployed, in words, and their names."""

    def ranked(self) -> list[ServerSummary]:
        """Servers by knee, highest first; those that held nothing last."""
        return sorted(self.servers.values(), key=lambda server: -(server.knee_per_s or 0.0))

    def to_data(self) -> dict[str, Any]:
        """Plain data, the answer of `pongbench summary --json`. None where nothing is known; a
        percentile is None as well where its values are too few for it."""
        return {
            "name": self.name,
            "status": self.status,
            "unit": self.unit,
            "ceiling_per_s": self.ceiling_per_s,
            **self.together.to_data(),
            "servers": {server.id: _server_data(server) for server in self.servers.values()},
        }


def summarise(documents: Iterable[AnyDocument]) -> Summary:
    """Of a session's documents, whole or cut anywhere."""
    summary = Summary()
    points: list[PointStop] = []
    for document in documents:
        if isinstance(document, PointStop):
            points.append(document)
        match document:
            case RunStart():
                _begin(summary, document)
            case PointStop(purpose="sweep"):
                _server(summary, document.server).points.append(document)
            case Note():
                _note(summary, document)
            case RunStop():
                summary.status, summary.reason = document.status, document.reason
            case _:
                pass
    for server in summary.servers.values():
        _conclude(server)
    summary.together = together(points)
    return summary


def _begin(summary: Summary, start: RunStart) -> None:
    plan = start.plan
    summary.name = str(plan.get("name", ""))
    calls = (plan.get("workload") or {}).get("calls_per_connection", 1)
    summary.unit = plan.get("rate_of") or ("connections" if calls == 1 else "requests")
    for record in start.servers:
        summary.servers[record.id] = ServerSummary(record.id, record.name, record.version)


def _server(summary: Summary, id_: str) -> ServerSummary:
    return summary.servers.setdefault(id_, ServerSummary(id_, id_))


def _note(summary: Summary, note: Note) -> None:
    if note.topic == "ceiling":
        ceiling = note.data.get("ceiling_per_s")
        summary.ceiling_per_s = float(ceiling) if ceiling is not None else None
        summary.notes.append(note.text)
    elif note.topic in ("gate", "backlog"):
        _found(summary, note)
    # The null server is a tool: notes about it are about the clients.
    elif note.server not in summary.servers:
        summary.notes.append(note.text)
    elif note.topic == "gave-up":
        server = summary.servers[note.server]
        server.gave_up = _once(server.gave_up, note.text)
    elif note.topic == "died":
        server = summary.servers[note.server]
        server.died = _once(server.died, note.text)
    elif note.text not in summary.servers[note.server].notes:
        summary.servers[note.server].notes.append(note.text)


def _once(said: str, text: str) -> str:
    """What happened in every pass in the same way is told once."""
    return said if text in said else f"{said} {text}".strip()


def _found(summary: Summary, note: Note) -> None:
    server = summary.servers.get(note.server)
    if server is None:
        return
    text = note.text
    if note.topic == "backlog" and "backlog" in note.data:
        text = f"A backlog of {note.data['backlog']:,} is in force."
        if note.data["backlog"] != note.data.get("asked"):
            text = note.text
    names = summary.found.setdefault(text, [])
    if server.name not in names:
        names.append(server.name)


def _conclude(server: ServerSummary) -> None:
    complete = [point for point in last_looks(server.points) if point.complete]
    server.rss_bytes = max((point.server_rss_bytes for point in complete), default=0)
    server.knee_per_s = knee(complete)
    if doubtful := unknown(complete):
        server.unknown = " ".join(doubtful.reasons) or f"The point was {doubtful.verdict}."
    server.knee_is_floor = server.knee_per_s is not None and is_floor(complete, server.knee_per_s)
    at_knee = [p for p in complete if p.rate_per_s == server.knee_per_s and p.verdict == "ok"]
    if not at_knee:
        return
    server.latency_at_knee_us = _together(
        [p.histograms.latency for p in at_knee], at_knee[0].latency_us
    )
    server.service_at_knee_us = _together(
        [p.histograms.service for p in at_knee], at_knee[0].service_us
    )
    server.cpu_at_knee_pct = sum(p.server_cpu_pct for p in at_knee) / len(at_knee)


def _together(
    histograms: Sequence[SparseHistogram], otherwise: Percentiles | None
) -> Percentiles | None:
    """Percentiles over all passes; `otherwise` for sessions kept without histograms."""
    return percentiles(merge(histograms)) or otherwise


def _server_data(server: ServerSummary) -> dict[str, Any]:
    return {
        "name": server.name,
        "version": server.version,
        "knee_per_s": server.knee_per_s,
        "knee_is_floor": server.knee_is_floor,
        "knee_unknown": server.unknown or None,
        "latency_at_knee_ms": _ms(server.latency_at_knee_us),
        "service_at_knee_ms": _ms(server.service_at_knee_us),
        "cpu_at_knee_pct": server.cpu_at_knee_pct,
        "rss_bytes": server.rss_bytes or None,
        "gave_up": server.gave_up or None,
        "died": server.died or None,
        "points": [_point_data(point, server.counts(point)) for point in server.points],
    }


def _point_data(point: PointStop, counts: bool) -> dict[str, Any]:
    return {
        "rate_per_s": point.rate_per_s,
        "pass_number": point.pass_number,
        "look": point.look,
        "counts": counts,
        "complete": point.complete,
        "offered_per_s": point.offered_per_s,
        "replies_per_s": point.replies_per_s,
        "errors_pct": point.errors_pct,
        "latency_ms": _ms(point.latency_us),
        "verdict": point.verdict,
        "reasons": list(point.reasons),
    }


def _ms(times: Percentiles | None) -> dict[str, float | None]:
    shown = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
    if times is None:
        return dict.fromkeys(shown)
    return {
        name: getattr(times, name) / 1000 if percentile_supported(times.count, q) else None
        for name, q in shown.items()
    }

"""A summary as plain data, the output of `pongbench summary --json`."""

from __future__ import annotations

from math import isfinite
from typing import Any

from workbench import axis as axes
from workbench.analysis.causes import why_it_stops
from workbench.analysis.cost import CPU_PER_CALL, cost, cpu_us_per_call, full_core
from workbench.analysis.results import Clock, Percentile, PointResult, known_us, mean_us
from workbench.analysis.server_summary import ServerSummary
from workbench.documents import Note, Percentiles, PointStop
from workbench.messages.notes import Profile
from workbench.messages.topics import severity


def server_data(server: ServerSummary) -> dict[str, Any]:
    """One series with its points."""
    there = server.at_knee
    paid = cost(there)
    unknown = server.all_not_checked
    return {
        "name": server.name,
        "server": server.server,
        "load_tool": server.load_tool,
        "version": server.version,
        "tls": server.tls or None,
        "processes": server.tasks.processes or None,
        "threads": server.tasks.threads or None,
        **_limit_data(server),
        "knee_unknown": server.why_unknown or None,
        "incomplete_at": server.cut.x if server.cut else None,
        "faulty": server.what_is_faulty or None,
        "disqualified": server.disqualified or None,
        "stopped_past": server.stopped_past,
        "latency_at_knee_ms": _there_ms(there, "latency"),
        "service_at_knee_ms": _there_ms(there, "service"),
        "cpu_at_knee_pct": (there.cpu_pct or None) if there else None,
        "cpu_us_per_call_at_knee": cpu_us_per_call(there),
        "cpu_us_per_call_margin_at_knee": _rounded(paid.half if paid else None, 3),
        "core_full_at_per_s": _rounded(full_core(server)),
        "stops_because": _why(server),
        "rss_bytes": server.rss_bytes or None,
        "profile": server.profile and _profile_data(server.profile),
        "gave_up": server.gave_up or None,
        "died": server.died or None,
        "notes": [note_data(note) for note in server.noted],
        "not_checked": list(unknown.what) if unknown else [],
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


_PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p99", "p999")
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


def note_data(note: Note) -> dict[str, Any]:
    """One note."""
    return {"code": note.topic, "severity": severity(note).name.lower(), "text": note.text}


def _point_data(point: PointStop, server: ServerSummary) -> dict[str, Any]:
    return {
        "point": point.point,
        "load_tool": server.load_tool,
        "x": point.x,
        **axes.recorded(server.axis, point.x),
        "pass_number": point.pass_number,
        "look": point.look,
        "counts": point.complete and server.counts(point),
        "complete": point.complete,
        "offered_per_s": point.offered_per_s,
        "replies_per_s": point.replies_per_s,
        "calls_per_s": server.axis.calls_per_s(point.replies_per_s) or point.replies_per_s,
        "errors_pct": point.errors_pct,
        "latency_ms": times_ms(point.latency_us, mean_us([point], "latency")),
        "service_ms": times_ms(point.service_us, mean_us([point], "service")),
        **({"values": point.values} if point.values else {}),
        "cpu_us_per_call": point.values.get(CPU_PER_CALL),
        "verdict": point.verdict,
        "reasons": list(point.reasons),
        "codes": [str(finding.get("code", "")) for finding in point.findings],
        "not_checked": server.not_checked(point),
    }


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def times_ms(times: Percentiles | None, mean: float | None) -> dict[str, float | None]:
    """Percentiles in ms, of which there are enough values, and the mean. None: unknown."""
    found: dict[str, float | None] = {"mean": None if mean is None else round(mean / 1000, 4)}
    for name in _PERCENTILES:
        us = known_us(times, name)
        found[name] = None if us is None else us / 1000
    return found


def _there_ms(there: PointResult | None, clock: Clock) -> dict[str, float | None]:
    if there is None:
        return times_ms(None, None)
    return times_ms(there.times(clock), mean_us(there.stops, clock))

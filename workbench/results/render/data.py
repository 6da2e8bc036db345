"""Sessions and comparisons as plain data, the output of `--json`. None: unknown, or a percentile of
too few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import msgspec

from workbench import axis as axes
from workbench.analysis.causes import why_it_stops
from workbench.analysis.cost import CPU_PER_CALL, cost, cpu_us_per_call, full_core
from workbench.analysis.series import Clock, Percentile, PointResult, known_us, mean_us
from workbench.analysis.summary import ServerSummary, Summary
from workbench.documents import Note, Percentiles, PointStop
from workbench.messages.outcomes import Profile
from workbench.messages.topics import severity
from workbench.results.comparison import Comparison, Contender, Figure, finite
from workbench.results.conditions import Conditions
from workbench.results.cross_check import cross_checks
from workbench.results.differences import difference_in, pairs
from workbench.results.published import then_and_now


def of_session(summary: Summary) -> dict[str, Any]:
    notes = [_note(note) for note in summary.noted]
    if text := summary.background_load:
        notes.append({"code": "background-load", "severity": "warning", "text": text})
    then = then_and_now(summary.plan, summary.servers)
    checks = cross_checks(summary.plan, summary.servers.values())
    return {
        "name": summary.name,
        "status": summary.status,
        "axis": msgspec.to_builtins(summary.axis),
        "unit": summary.unit,
        "load_tool": summary.load_tool,
        "clock": summary.clock,
        "metrics": msgspec.to_builtins(summary.metrics),
        "ceiling_per_s": summary.ceiling_per_s,
        **({"slo": summary.slo} if summary.slo else {}),
        **summary.all_clients.to_data(),
        "notes": notes,
        "audits": [audit.to_data() for audit in summary.audits],
        "servers": {server.id: _server(server) for server in summary.servers.values()},
        "then_and_now": then and asdict(then),
        "cross_check": [check.to_data() for check in checks],
    }


def of_comparison(
    found: Comparison, differing: Conditions, refused: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the object of a comparison. `refused`: sentences on files that cannot be read."""
    return {
        "sessions": {
            side.tag: {
                "file": str(side.path),
                "session": side.start.session,
                "name": side.name,
                "started_utc": side.start.started_utc,
                "unit": side.axis.counts,
                "status": side.summary.status,
                "ceiling_per_s": side.summary.ceiling_per_s,
                "warnings": list(side.warnings),
            }
            for side in found.sides
        },
        "common_rate_per_s": found.rate,
        "servers": [_contender(found, each) for each in found.ranked()],
        "differences": [_difference(found, a, b) for a, b in pairs(found)],
        "conditions": [
            {"what": c.what, "weight": c.weight.name.lower(), "values": dict(c.values)}
            for c in differing.differing
        ],
        "failed_audits": [
            {"what": audit.what, "values": dict(audit.values)} for audit in differing.audits
        ],
        "warnings": list(differing.warnings),
        "refused": list(refused),
    }


def _common(server: ServerSummary) -> dict[str, Any]:
    """What both say of a server."""
    return {
        "name": server.name,
        "version": server.version,
        "processes": server.tasks.processes or None,
        "threads": server.tasks.threads or None,
        "rss_bytes": server.rss_bytes or None,
        "incomplete_at": server.cut.x if server.cut else None,
        "faulty": server.what_is_faulty or None,
        "disqualified": server.disqualified or None,
        "gave_up": server.told("gave-up") or None,
        "died": server.told("died") or None,
    }


def _server(server: ServerSummary) -> dict[str, Any]:
    """One series with its points."""
    there = server.at_knee
    paid = cost(there)
    unknown = server.all_not_checked
    return {
        **_common(server),
        "server": server.server,
        "load_tool": server.load_tool,
        "tls": server.tls or None,
        **_limit(server),
        "knee_unknown": server.why_unknown or None,
        "stopped_past": server.stopped_past,
        "latency_at_knee_ms": _times_of(there, "latency"),
        "service_at_knee_ms": _times_of(there, "service"),
        "cpu_at_knee_pct": (there.cpu_pct or None) if there else None,
        "cpu_us_per_call_at_knee": cpu_us_per_call(there),
        "cpu_us_per_call_margin_at_knee": _rounded(paid.half if paid else None, 3),
        "core_full_at_per_s": _rounded(full_core(server)),
        "stops_because": _why(server),
        "profile": server.profile and _profile(server.profile),
        "notes": [_note(note) for note in server.noted],
        "not_checked": list(unknown.parameters["what"]) if unknown else [],
        "points": [_point(point, server) for point in server.stops],
    }


def _limit(server: ServerSummary) -> dict[str, Any]:
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
        data["peak_interval_per_s"] = interval and [interval.low, finite(interval.high)]
        data["peaks"] = [peak.data() for peak in server.peaks]
    return data


def _why(server: ServerSummary) -> dict[str, Any] | None:
    found = why_it_stops(server)
    if found is None:
        return None
    point, cause = found
    return {"x": point.x, **cause.record(), "text": cause.text()}


_PERCENTILES: tuple[Percentile, ...] = ("p50", "p90", "p99", "p999")
_FUNCTIONS = 20
"""Functions of a profile that plain data name."""


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "x": profile.x,
        "tool": profile.tool,
        "seconds": profile.seconds,
        "samples": profile.samples,
        "functions": [
            {"name": name, "own_pct": round(100 * own / profile.samples, 2)}
            for name, own, _ in profile.hottest()[:_FUNCTIONS]
            if own
        ],
    }


def _note(note: Note) -> dict[str, Any]:
    return {"code": note.topic, "severity": severity(note).name.lower(), "text": note.text}


def _point(point: PointStop, server: ServerSummary) -> dict[str, Any]:
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
        "latency_ms": _times_ms(point.latency_us, mean_us([point], "latency")),
        "service_ms": _times_ms(point.service_us, mean_us([point], "service")),
        **({"values": point.values} if point.values else {}),
        "cpu_us_per_call": point.values.get(CPU_PER_CALL),
        "verdict": point.verdict,
        "reasons": list(point.reasons),
        "codes": [str(finding.get("code", "")) for finding in point.findings],
        "not_checked": server.not_checked(point),
    }


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _times_ms(times: Percentiles | None, mean: float | None) -> dict[str, float | None]:
    """Percentiles in ms, of which there are enough values, and the mean. None: unknown."""
    found: dict[str, float | None] = {"mean": None if mean is None else round(mean / 1000, 4)}
    for name in _PERCENTILES:
        us = known_us(times, name)
        found[name] = None if us is None else us / 1000
    return found


def _times_of(at: PointResult | None, clock: Clock) -> dict[str, float | None]:
    return _times_ms(at.times(clock), at.mean_us(clock)) if at else _times_ms(None, None)


def _contender(comparison: Comparison, contender: Contender) -> dict[str, Any]:
    result, interval = contender.result, contender.result.interval
    return {
        **_common(result),
        "session": contender.tag,
        "server": contender.id,
        "knee_per_s": result.knee,
        "limit": interval
        and {
            "low_per_s": interval.low,
            "high_per_s": finite(interval.high),
            "passes": interval.passes,
            "coverage": interval.coverage,
        },
        "at_knee": _figures(result.at_knee),
        "at_most": None if result.axis.has_limit else _figures(result.most),
        "at_common": _figures(None if comparison.rate is None else result.at(comparison.rate)),
        "verdicts": dict(result.verdicts),
        "backlog": contender.backlog or None,
    }


def _difference(comparison: Comparison, a: Contender, b: Contender) -> dict[str, Any]:
    """Differences of two knees, and of the figures at the common rate."""
    found = comparison.difference(a, b)
    data: dict[str, Any] = {"first": a.key, "second": b.key}
    if found is not None:
        data |= {
            "figure_per_s": found.figure,
            "low_per_s": finite(found.low),
            "high_per_s": finite(found.high),
            "outcome": found.outcome,
            "most_pct": finite(100 * found.most),
            "paired": found.paired,
            "passes": found.passes,
        }
    data["text"] = difference_in(comparison, a, b)
    data["at_common"] = [_figure(each) for each in comparison.figures(a, b)]
    return data


def _figures(at: PointResult | None) -> dict[str, Any] | None:
    if at is None:
        return None
    return {
        "x": at.x,
        "rate_per_s": at.x,
        "replies_per_s": at.replies_per_s,
        "calls_per_s": at.axis.calls_per_s(at.replies_per_s) or at.replies_per_s,
        "errors_pct": at.errors_pct,
        "latency_ms": _times_of(at, "latency"),
        "service_ms": _times_of(at, "service"),
        "cpu_pct": at.cpu_pct or None,
        "rss_bytes": at.rss_bytes or None,
        "passes": len(at.stops),
    }


def _figure(each: Figure) -> dict[str, Any]:
    keys = ("what", "unit", "difference", "low", "high", "change", "finding", "text")
    data = {key: getattr(each, key) for key in keys}
    if each.change:
        data["change"] = vars(each.change) | {"high": finite(each.change.high)}
    return data

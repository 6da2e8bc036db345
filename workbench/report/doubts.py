"""Untrusted results of a session and the reasons, as sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from workbench.analysis.results import TRUSTED
from workbench.analysis.server_summary import ServerSummary
from workbench.analysis.summary import Summary
from workbench.documents import AnyDocument, Note, PointStop
from workbench.formatting import listed
from workbench.messages.notes import Severity
from workbench.messages.topics import severity


def state(summary: Summary) -> str:
    """What a reader must know if the run did not complete; empty: it did."""
    ended = {
        "done": "",
        "interrupted": "The recording was cut off before the run ended.",
        "stopped": "The run was stopped early.",
        "aborted": "The run was aborted.",
        "failed": "The run failed.",
    }[summary.status]
    return f"{ended} {summary.reason}".strip() if ended else ""


def doubts(summary: Summary, documents: Iterable[AnyDocument]) -> Iterable[str]:
    """Doubts about the whole session, then about each server and its points."""
    if ended := state(summary):
        yield ended
    yield from once(
        note.text
        for note in documents
        if isinstance(note, Note)
        and not summary.of_server(note.server)
        and severity(note) >= Severity.WARNING
    )
    for server in summary.servers.values():
        if not server.stops:
            yield " ".join([f"{server.name} was not measured.", *once(server.notes)])
    for server in summary.servers.values():
        yield from _untrusted(server)
    if remarked := _remarked(summary.servers.values()):
        yield remarked
    for server in summary.servers.values():
        cut = [point for point in server.stops if not point.complete]
        if cut:
            rates_cut = listed([server.axis.of(point) for point in cut])
            yield f"{server.name} at {rates_cut}: interrupted; excluded from results."


def _untrusted(server: ServerSummary) -> Iterable[str]:
    """One sentence per untrusted verdict, with its rates and the first reason."""
    grouped: defaultdict[str, list[PointStop]] = defaultdict(list)
    for point in sorted(server.stops, key=lambda p: p.x):
        doubtful = point.verdict not in TRUSTED or point.verdict == "faulty"
        if point.complete and server.counts(point) and doubtful:
            grouped[point.verdict].append(point)
    for verdict, points in grouped.items():
        rates = listed(once(map(server.axis.of, points)))
        why = next((" ".join(point.reasons) for point in points if point.reasons), "")
        yield f"{server.name} at {rates}: {verdict}. {why}".strip()


def _remarked(servers: Iterable[ServerSummary]) -> str:
    """One sentence on sustained points with remarks; empty: none."""
    kept = [p for s in servers for p in s.stops if s.counts(p) and p.verdict == "ok" and p.reasons]
    if not kept:
        return ""
    count = "1 point was" if len(kept) == 1 else f"{len(kept):,} points were"
    return (
        f"{count} sustained with a remark: the rate counts, but response times there may be longer"
        " than the server’s own."
    )


def once(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of first occurrence."""
    return list(dict.fromkeys(texts))

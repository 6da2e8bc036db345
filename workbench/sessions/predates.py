"""What a session of an earlier version could not record, where that matters.

Its verdicts are kept as recorded; nothing is judged again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.documents import AnyDocument, Note, PointStop, RunStart, RunStop, error_class

_KNOWS_FAULTY = 2
"""The version of the document format from which points may be faulty."""

FAULTY_UNKNOWN = (
    "Recorded before servers could be faulty: where replies were unexpected, the verdict is"
    " server-limited or inconclusive instead."
)
TARGET_UNKNOWN = (
    "Recorded before a lost target ended its point: the verdict of the point in which it was lost"
    " may blame the server."
)


def predates(documents: Sequence[AnyDocument]) -> Iterator[str]:
    """Return one sentence per item."""
    if not documents or not isinstance(documents[0], RunStart):
        return
    if (documents[0].recorded_v or documents[0].v) >= _KNOWS_FAULTY:
        return
    notes = [each for each in documents if type(each) in {PointStop, Note, RunStop}]
    if any(isinstance(each, PointStop) and _unexpected(each) for each in notes):
        yield FAULTY_UNKNOWN
    known = any(isinstance(each, Note) and each.topic == "target-lost" for each in notes)
    targets = {machine.name for machine in documents[0].machines if "target" in machine.roles}
    if not known and any(_target_lost(each, targets) for each in notes):
        yield TARGET_UNKNOWN


def _unexpected(stop: PointStop) -> bool:
    unexpected = sum(n for name, n in stop.counts.errors.items() if error_class(name) == "protocol")
    judged = stop.complete and stop.verdict in ("server-limited", "inconclusive")
    return (
        judged
        and stop.purpose == "sweep"
        and unexpected > (1 - SUSTAINED_SHARE) * stop.counts.scheduled
    )


def _target_lost(document: AnyDocument, targets: set[str]) -> bool:
    match document:
        case RunStop(code="machine-gone") | Note(topic="sampler-lost"):
            return True
        case Note(topic="client-lost"):
            named = document.data.get("clients", [])
            return bool(targets & set(named)) and len(targets) == 1
        case _:
            return False

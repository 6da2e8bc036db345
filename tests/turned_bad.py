"""A synthetic session in which one server sends unexpected responses from a rate on."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from workbench.documents import AnyDocument, PointStop
from workbench.messages.reasons import reason


def turned_bad(
    documents: Sequence[AnyDocument],
    server: str,
    from_per_s: float,
    error: str = "protocol-500",
    **more: int,
) -> list[AnyDocument]:
    """One call of a hundred is answered as before, at every point from that rate on. `more`: of
    "unexpected-replies"."""
    return [
        _bad(document, error, more)
        if isinstance(document, PointStop)
        and (document.server, document.purpose) == (server, "sweep")
        and document.x >= from_per_s
        else document
        for document in documents
    ]


def _bad(stop: PointStop, error: str, more: dict[str, int]) -> PointStop:
    scheduled = stop.counts.scheduled
    good = scheduled // 100
    found = reason(
        "unexpected-replies",
        error=error,
        failed=scheduled - good,
        calls=scheduled,
        first_s=0.212,
        received=62,
        example="HTTP/1.0 500 Internal Server Error\\r\\nContent-Length: 0\\r\\n\\r\\n",
        **more,
    )
    lost = {"errors": {error: scheduled - good}, "unsent": 0, "in_flight": 0, "late": 0}
    return msgspec.structs.replace(
        stop,
        counts=msgspec.structs.replace(stop.counts, succeeded=good, sent=scheduled, **lost),
        replies_per_s=good / stop.seconds,
        errors_pct=round(100 * (scheduled - good) / scheduled, 3),
        verdict="faulty",
        reasons=[found.text()],
        findings=[found.record()],
    )

"""A synthetic session whose servers are repeated after all of them had their turn."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from workbench.documents import AnyDocument, PointStart, PointStop, RunStop, Window
from workbench.messages.notes import notice
from workbench.messages.reasons import reason


def with_repeats(
    documents: Sequence[AnyDocument], rate_per_s: float, *servers: str
) -> list[AnyDocument]:
    """The first attempt at the rate is inconclusive; the second has the original result."""
    *first, stop = documents
    assert isinstance(stop, RunStop)
    made: list[AnyDocument] = []
    points: dict[str, list[AnyDocument]] = {server: [] for server in servers}
    number = 0
    for document in first:
        if isinstance(document, PointStart):
            chosen = document.purpose == "sweep" and document.rate_per_s == rate_per_s
            number = document.point if chosen and document.server in points else -1
            server = document.server
        if isinstance(document, PointStart | Window | PointStop) and document.point == number:
            points[server].append(document)
            if isinstance(document, PointStop):
                made.append(_doubted(document))
                continue
        made.append(document)
    t_us = stop.t_us
    for server in servers:
        again = notice("again", name=server, look=1, pass_number=1, rates_per_s=[rate_per_s])
        made.append(again.note(t_us, server=server))
    for n, server in enumerate(servers):
        later = t_us + 1_000_000 - points[server][0].t_us
        for document in points[server]:
            at = {"t_us": document.t_us + later, "point": 900 + n}
            attempt = {} if isinstance(document, Window) else {"look": 2}
            made.append(msgspec.structs.replace(document, **at, **attempt))
            t_us = document.t_us + later
    return [*made, msgspec.structs.replace(stop, t_us=t_us + 500_000)]


def _doubted(stop: PointStop) -> PointStop:
    busy = reason("background-load", cpu_pct=90.0)
    fields = {"reasons": [busy.text()], "findings": [busy.record()]}
    return msgspec.structs.replace(stop, verdict="inconclusive", **fields)

"""Memory that an open connection costs the server."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from workbench.documents import WINDOW_US, Metric
from workbench.metrics.base import Measured

LEAST_OPEN = 100
"""With fewer open connections, the server's own memory would be attributed to them."""

LEAST_GROWN_BYTES = 500_000
"""A server may grow by less for other reasons."""

UNSTEADY = 0.05
"""Relative change allowed in the number of open connections around a reading, and share of them
that may still wait to be accepted."""

NOISE = 0.1
"""Relative difference allowed between readings: more comes from garbage collection, or from memory
that does not belong to connections."""


class Peak:
    """The most memory (RSS) of the server's whole process tree during the point, in 10^6 bytes."""

    record = Metric(key="peak_memory_mb", label="Peak memory (RSS)", unit="MB", better="less")

    def of(self, measured: Measured) -> float | None:
        return round(measured.usage.rss_bytes / 1e6, 3) or None


class PerConnection:
    """Memory (PSS) of the server's process tree per open connection: its growth since the server
    had almost no connections, at the most connections of the point. The kernel's memory for sockets
    is not included.

    Known if at least `LEAST_OPEN` connections were open, their number was stable, and the readings
    of the point agree. Unknown if the server had more connections earlier, because it may have kept
    their memory.
    """

    record = Metric(
        key="memory_kb_per_connection", label="Memory per connection", unit="kB", better="less"
    )

    def of(self, measured: Measured) -> float | None:
        readings = sorted(_readings(measured))
        if not readings:
            return None
        most = readings[-1][0]
        costs = [grown / count for count, grown in readings if count >= (1 - NOISE) * most]
        cost = median(costs)
        grown = cost * most
        if grown < LEAST_GROWN_BYTES or max(costs) - min(costs) > NOISE * cost:
            return None
        return round(cost / 1000, 3)


def _readings(measured: Measured) -> Iterator[tuple[int, int]]:
    """(open connections of the server, bytes), while the number of connections was stable."""
    if not measured.windows:
        return
    open_at = {window.index: window.in_flight for window in measured.windows}
    begun_us = measured.windows[0].t_us - measured.windows[0].index * WINDOW_US
    for reading in measured.usage.readings:
        index = (reading.t_us - begun_us) // WINDOW_US
        before, after = open_at.get(index - 1, 0), open_at.get(index, 0)
        most, least = max(before, after), min(before, after)
        unsteady = max(most - least, reading.waiting)
        if reading.grown_bytes is not None and least >= LEAST_OPEN and unsteady <= UNSTEADY * most:
            yield (before + after) // 2 - reading.waiting, reading.grown_bytes

"""How much of the response times may be the clients' own: what waited until a worker read it."""

from __future__ import annotations

from workbench.analysis import histogram
from workbench.documents import Percentiles, SparseHistogram
from workbench.messages.reasons import ClientLimitedTimes

MEDIAN = 0.1, 200
"""Share of the median, and µs: more than both must be the clients' own to limit it."""
TAIL = 0.5, 5_000
"""The same for p99. In every run on few cores a client waits a millisecond for its core now and
then, and the bound of such waits is generous."""


def client_limited(
    waits: SparseHistogram, latency: Percentiles | None
) -> ClientLimitedTimes | None:
    """Return which percentiles of the response time the clients limit, and by how much; None: none.

    `waits`: upper bounds of how long replies waited to be read; those not in it did not. A
    percentile is limited where the bound at the same percentile exceeds a share of it and a time.
    No reply waited for longer than it took.
    """
    if not waits or latency is None:
        return None
    count = sum(waits[1::2])
    whole = [0, max(0, latency.count - count), *waits] if latency.count > count else waits
    of = histogram.percentiles(whole)
    if of is None:
        return None
    p50_us, p99_us = (
        min(wait, time) if wait > max(least_us, share * time) else 0
        for wait, time, (share, least_us) in (
            (of.p50, latency.p50, MEDIAN),
            (of.p99, latency.p99, TAIL),
        )
    )
    return ClientLimitedTimes(p50_us=p50_us, p99_us=p99_us) if p50_us or p99_us else None

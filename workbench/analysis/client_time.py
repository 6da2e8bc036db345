"""How much of the response times may be the clients' own: what waited until a worker read it."""

from __future__ import annotations

from workbench.analysis import histogram
from workbench.documents import Percentiles, SparseHistogram
from workbench.messages.reasons import ClientLimitedTimes

SHARE = 0.1
"""Of a percentile: less of it may be the clients' own."""
LEAST_US = 200


def client_limited(
    waits: SparseHistogram, latency: Percentiles | None
) -> ClientLimitedTimes | None:
    """Return which percentiles of the response time the clients limit; None: none.

    `waits`: upper bounds of how long replies waited to be read; those not in it did not. A
    percentile is limited where the bound at the same percentile exceeds both `SHARE` of it and
    `LEAST_US`.
    """
    if not waits or latency is None:
        return None
    count = sum(waits[1::2])
    whole = [0, max(0, latency.count - count), *waits] if latency.count > count else waits
    of = histogram.percentiles(whole)
    if of is None:
        return None
    p50_us, p99_us = (
        wait if wait > max(LEAST_US, SHARE * time) else 0
        for wait, time in ((of.p50, latency.p50), (of.p99, latency.p99))
    )
    return ClientLimitedTimes(p50_us=p50_us, p99_us=p99_us) if p50_us or p99_us else None

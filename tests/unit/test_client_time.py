"""Which response times are the clients' own."""

from __future__ import annotations

import pytest

from workbench.analysis.clients import client_limited
from workbench.analysis.histogram import bucket_of
from workbench.documents import Percentiles

TEN_MS = bucket_of(10_000)


def times(p50: int, p99: int) -> Percentiles:
    return Percentiles(count=1_000, p50=p50, p90=p50, p99=p99, p999=p99, max=p99)


@pytest.mark.parametrize(
    ("waits", "latency", "limited"),
    [
        ([], times(1_000, 1_500), None),
        ([TEN_MS, 9], times(1_000, 15_000), None),  # Beyond the percentile.
        ([TEN_MS, 11], times(1_000, 15_000), (0, 10_007)),
        ([TEN_MS, 11], times(1_000, 25_000), None),  # Less than half of it.
        ([1_500, 11], times(1_000, 1_500), None),  # As in every run.
        ([150, 1_000], times(200, 300), None),  # Too short to matter.
        ([1_500, 501], times(1_000, 9_000), (1_000, 0)),  # No longer than it took.
        ([1_500, 501], times(16_000, 19_000), None),  # Less than a tenth of it.
        ([1_500, 3_000], times(1_000, 9_000), (1_000, 0)),  # More waits than replies.
    ],
)
def test_a_percentile_is_limited_where_its_bound_is_a_large_part_of_it(
    waits: list[int], latency: Percentiles, limited: tuple[int, int] | None
) -> None:
    found = client_limited(waits, latency)
    assert (found and tuple(found.data().values())) == limited

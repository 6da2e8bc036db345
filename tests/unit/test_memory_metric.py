"""Memory per connection is reported only where connections account for it."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from workbench.analysis.usage import Reading, Usage
from workbench.documents import WINDOW_US, Window
from workbench.machines.usage import Sample, Tally, Tree
from workbench.metrics import Measured, memory_per_connection

BEGUN_US = 5_000_000
MB = 1_000_000


def measured(open_at: Sequence[int], grown: Sequence[int | None], waiting: int = 0) -> float | None:
    """A window and a reading for each; the readings in the middle of their windows."""
    windows = [
        Window(
            t_us=BEGUN_US + index * WINDOW_US, point=1, index=index,
            due=1, sent=1, late=0, established=1, replies=1, in_flight=count,
        )
        for index, count in enumerate(open_at)
    ]  # fmt: skip
    readings = tuple(
        Reading(BEGUN_US + index * WINDOW_US + WINDOW_US // 2, 0, bytes_, waiting)
        for index, bytes_ in enumerate(grown)
    )
    report = SimpleNamespace()
    return memory_per_connection(Measured(report, windows, Usage(readings=readings)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("case", "open_at", "grown", "reported"),
    [
        ("200 connections with 10 MB", [200] * 4, [10 * MB] * 4, 50.0),
        ("the readings that were made", [200] * 4, [None, 10 * MB, None, None], 50.0),
        ("few connections", [50] * 4, [10 * MB] * 4, None),
        ("their number changes all the time", [200, 300, 400, 500], [10 * MB] * 4, None),
        ("hardly anything", [200] * 4, [100_000] * 4, None),
        ("memory that grows without connections", [200] * 4, [10 * MB, 12 * MB, 14 * MB, 16 * MB],
         None),
        ("the garbage collector", [200] * 4, [10 * MB, 30 * MB, 8 * MB, 20 * MB], None),
        ("nothing was read", [200] * 4, [None] * 4, None),
        ("no windows", [], [], None),
    ],
)  # fmt: skip
def test_memory_per_connection(
    case: str, open_at: list[int], grown: list[int | None], reported: float | None
) -> None:
    assert measured(open_at, grown) == reported, case


def test_connections_that_wait_to_be_accepted_have_no_memory_yet() -> None:
    assert measured([200] * 4, [10 * MB] * 4, waiting=8) == pytest.approx(10_000 / 192, abs=1e-3)
    assert measured([200] * 4, [10 * MB] * 4, waiting=50) is None


def sample(t_us: int, pss: int, descriptors: int, server: str = "a") -> Sample:
    tree = Tree(cpu_us=0, rss=1, pss=pss, processes=1, threads=1, descriptors=descriptors)
    return Sample(
        t_us=t_us, cores=[(0, 0, 0)], softirq=0, memory=0, counters={}, gauges={}, server=server,
        tree=tree, listening=None, own_us=0,
    )  # fmt: skip


def grown(*samples: tuple[int, int]) -> list[int | None]:
    """What readings say of (PSS, descriptors), after a first sample of 10 MB and 5."""
    tally = Tally(sample(0, 10 * MB, 5))
    for t_us, (pss, descriptors) in enumerate(samples, 1):
        tally.add(sample(t_us, pss, descriptors))
    return [reading.grown_bytes for reading in tally.usage().readings]


def test_growth_counts_from_the_idle_server() -> None:
    # The first calls make it allocate what it keeps.
    assert grown((13 * MB, 15), (14 * MB, 6), (30 * MB, 405)) == [3 * MB, None, 16 * MB]
    # With fewer connections than before it may have kept memory: nothing is known of those.
    assert grown((30 * MB, 405), (28 * MB, 105), (30 * MB, 400)) == [20 * MB, None, 20 * MB]


def test_another_server_starts_from_scratch() -> None:
    tally = Tally(sample(0, 10 * MB, 5))
    tally.add(sample(1, 30 * MB, 405))
    tally = tally.again()
    tally.add(sample(2, 50 * MB, 5, "b"))
    tally.add(sample(3, 51 * MB, 205, "b"))
    assert [reading.grown_bytes for reading in tally.usage().readings] == [0, MB]

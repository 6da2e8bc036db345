"""Windows and totals of many workers are merged by count."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.histograms import histogram_of
from workbench.load.base import PointSpec
from workbench.load.events import Done, LoadWindow
from workbench.load.merge import WindowMerger, merge_reports


def window(index: int, **counts: Any) -> LoadWindow:
    empty = dict.fromkeys(("due", "sent", "late", "established", "replies", "in_flight"), 0)
    fields = {"index": index, **empty, "errors": {}, "latency": [], "service": [], **counts}
    return LoadWindow(**fields)


def report(**figures: Any) -> Done:
    counts = dict.fromkeys(
        ("due", "unsent", "sent", "late", "established", "replies", "in_flight"), 0
    )
    times = ("latency", "service", "connect", "first_byte", "lateness")
    end = {"cpu_us": 400_000, "wall_us": 1_000_000, "replies": 0, "in_flight": 0}
    data: dict[str, Any] = {
        "ev": "done",
        **counts,
        "errors": {},
        "cpu_us": 500_000,
        "histograms": {name: [] for name in times},
        "at_schedule_end": end,
        **figures,
    }
    return msgspec.convert(data, Done)


@pytest.fixture
def handed_on() -> list[LoadWindow]:
    return []


@pytest.fixture
def merger(handed_on: list[LoadWindow]) -> WindowMerger:
    return WindowMerger({"a", "b"}, handed_on.append)


def test_a_window_waits_until_every_worker_has_sent_its_part(
    merger: WindowMerger, handed_on: list[LoadWindow]
) -> None:
    merger.add("a", window(0, due=10, errors={"connreset": 1}, latency=histogram_of([5, 7])))
    assert handed_on == []
    merger.add("b", window(0, due=11, errors={"connreset": 2}, latency=histogram_of([5])))
    [whole] = handed_on
    assert (whole.index, whole.due, whole.errors) == (0, 21, {"connreset": 3})
    assert whole.latency == histogram_of([5, 5, 7])


def test_windows_are_handed_on_in_order_however_far_one_worker_is_ahead(
    merger: WindowMerger, handed_on: list[LoadWindow]
) -> None:
    for index in range(3):
        merger.add("a", window(index, due=1))
    for index in range(3):
        merger.add("b", window(index, due=1))
    assert [(w.index, w.due) for w in handed_on] == [(0, 2), (1, 2), (2, 2)]


def test_a_worker_that_ended_early_is_not_waited_for(
    merger: WindowMerger, handed_on: list[LoadWindow]
) -> None:
    merger.add("a", window(0, due=1))
    merger.add("b", window(0, due=1))
    merger.ended("a")
    merger.add("b", window(1, due=1))
    assert [(w.index, w.due) for w in handed_on] == [(0, 2), (1, 1)]


def test_windows_waiting_for_a_worker_are_emitted_when_it_ends(
    merger: WindowMerger, handed_on: list[LoadWindow]
) -> None:
    for index in range(3):
        merger.add("b", window(index, due=1))
    merger.ended("a")
    assert [w.index for w in handed_on] == [0, 1, 2]


def test_a_lost_window_does_not_delay_later_ones(
    merger: WindowMerger, handed_on: list[LoadWindow]
) -> None:
    for index in (0, 2, 3):
        merger.add("a", window(index, due=1))
    for index in (0, 1, 3):
        merger.add("b", window(index, due=1))
    assert [(w.index, w.due) for w in handed_on] == [(0, 2), (1, 1), (2, 1), (3, 2)]


def test_totals_are_added_and_the_busiest_worker_is_reported() -> None:
    ends = [
        {"cpu_us": 900_000, "wall_us": 1_000_000, "replies": 80, "in_flight": 1},
        {"cpu_us": 300_000, "wall_us": 1_200_000, "replies": 90, "in_flight": 0},
    ]
    merged = merge_reports(
        [
            report(
                due=100, replies=95, unsent=2, errors={"client-timo": 3}, at_schedule_end=ends[0]
            ),
            report(due=100, replies=99, errors={"other-EPIPE": 1}, at_schedule_end=ends[1]),
        ],
        [],
    )
    assert (merged.counts.scheduled, merged.counts.succeeded, merged.counts.unsent) == (200, 194, 2)
    assert merged.counts.errors == {"client-timo": 3, "other-EPIPE": 1}
    assert merged.replies_in_schedule == 170
    assert merged.client_cpu_pct == 90
    assert merged.client_cpu_s == 1.0
    assert merged.schedule_s == 1.2
    assert merged.conserved


def test_two_workers_whose_mistakes_cancel_out_are_found_by_the_audit() -> None:
    assert not merge_reports([report(due=10, replies=9), report(due=9, replies=10)], []).conserved


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({}, 7),
        ({"calls_per_connection": 10, "think_time_s": 20.0}, 252),
        ({"mode": "closed", "concurrency": 50}, 7),
        ({"mode": "closed", "concurrency": 30, "seconds": 0.0}, 170),
    ],
)
def test_a_point_may_take_as_long_as_its_slowest_calls(
    changes: dict[str, Any], seconds: float
) -> None:
    plain = PointSpec(host="127.0.0.1", port=9, workload="pong", connections=1_000, seconds=2.0)
    assert replace(plain, **changes).longest_s == seconds

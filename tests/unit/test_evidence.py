"""The figures that a verdict is based on."""

from dataclasses import replace

import msgspec
import pytest

from tests.evidence import HELD, counts, lateness
from workbench.analysis.evidence import Queue, conserved, queue_of
from workbench.analysis.histogram import bucket_of
from workbench.documents import Window


def test_the_figures_of_the_evidence_are_recorded_with_the_verdict() -> None:
    figures = replace(HELD, counts=counts(timo=900, late=90), counters={"ListenDrops": 7}).figures()
    assert figures["success_share"] == 0.9
    assert figures["server_errors_share"] == 0.1
    assert figures["late_share"] == 0.01
    assert figures["lateness_p99_us"] == 400.0
    assert figures["ListenDrops"] == 7.0
    assert all(isinstance(value, float) for value in figures.values())


def test_a_late_connection_is_one_however_many_calls_it_has() -> None:
    """Of 900 connections with ten calls each, 9 are late: all their calls count as late."""
    found = replace(HELD, counts=counts(late=90), lateness_us=lateness(30_000, 900))
    assert replace(found, calls_per_connection=10).late_share == 0.01


def test_a_closed_loop_has_no_schedule_to_be_late_for() -> None:
    assert replace(HELD, counts=counts(late=9_000), closed=True).late_share is None


def test_the_audit_accounts_for_every_call() -> None:
    assert conserved(counts(timo=3, unsent=4, in_flight=5))


@pytest.mark.parametrize("change", [{"succeeded": 8_999}, {"unsent": 1}, {"in_flight": -1}])
def test_the_audit_fails_when_a_call_is_missing_or_counted_twice(change: dict[str, int]) -> None:
    assert not conserved(msgspec.structs.replace(counts(), **change))


def test_the_audit_is_not_fooled_by_a_negative_count() -> None:
    assert not conserved(msgspec.structs.replace(counts(timo=2), in_flight=-2, succeeded=9_000))


def test_a_queue_is_read_from_the_windows_of_the_schedule() -> None:
    # 1,000 due a window, 900 answered: 100 more wait after each. The last one drains.
    open_after = [100, 200, 300, 400, 500, 0]
    windows = [window(i, n) for i, n in enumerate(open_after)]
    queue = queue_of(windows, seconds=1.0)
    assert queue is not None
    assert (queue.due, queue.replied, queue.connections) == (5000, 4500, 5000)
    assert (queue.open_halfway, queue.open_at_end) == (200, 500)
    assert queue.growing


def window(index: int, open_after: int) -> Window:
    return Window(
        t_us=index * 200_000,
        point=1,
        index=index,
        due=1000,
        sent=1000,
        late=0,
        established=1000,
        replies=900,
        in_flight=open_after,
    )


@pytest.mark.parametrize(("halfway", "end"), [(3, 9), (30, 45), (400, 400), (900, 0)])
def test_an_oscillating_queue_is_not_growing(halfway: int, end: int) -> None:
    queue = Queue(due=150, replied=150, connections=150, open_halfway=halfway, open_at_end=end)
    assert not queue.growing


def test_a_schedule_of_a_single_window_shows_no_queue() -> None:
    assert queue_of([window(0, 100)], seconds=0.39) is None


def test_connections_held_open_by_think_time_are_no_queue() -> None:
    windows = [window(i, 100 * i) for i in range(50)]
    assert queue_of(windows, 10.0, calls_per_connection=12, ramp_s=55.0) is None
    assert queue_of(windows, 10.0, calls_per_connection=12, ramp_s=9.1) is None
    assert queue_of(windows, 10.0, calls_per_connection=12, ramp_s=1.1) is not None


def test_users_who_pile_up_after_a_long_ramp_are_a_queue() -> None:
    piling = [window(i, min(100 * i, 3000) + 40 * max(0, i - 30)) for i in range(50)]
    queue = queue_of(piling, 10.0, calls_per_connection=12, ramp_s=6.0)
    assert queue is not None and queue.growing
    steady = [window(i, min(100 * i, 3000)) for i in range(50)]
    queue = queue_of(steady, 10.0, calls_per_connection=12, ramp_s=6.0)
    assert queue is not None and not queue.growing


@pytest.mark.parametrize("seconds", [5.0, 4.4])
def test_calls_that_a_slow_server_has_not_answered_yet_are_no_queue(seconds: float) -> None:
    """It answers every call after 3 s, however many there are."""
    open_after = [1000 * min(i + 1, 15) for i in range(25)]
    windows = [answering(i, open_after=n, after_us=3_000_000) for i, n in enumerate(open_after)]
    queue = queue_of(windows, seconds)
    assert queue is not None and not queue.growing


def test_calls_that_pile_up_at_a_slow_server_are_a_queue() -> None:
    """Only half of those that wait longer than 3 s are answered."""
    open_after = [1000 * (i + 1) - 500 * max(0, i - 14) for i in range(25)]
    windows = [answering(i, open_after=n, after_us=3_000_000) for i, n in enumerate(open_after)]
    queue = queue_of(windows, 5.0)
    assert queue is not None and queue.growing


def test_a_queue_in_the_first_window_does_not_pass_for_a_slow_server() -> None:
    """The first call is answered at once, those of the same window after a second and more."""
    windows = [answering(i, open_after=800 * (i + 1), after_us=1000) for i in range(25)]
    first = replace_service(windows[0], [1023, 1, bucket_of(1_500_000), 199])
    queue = queue_of([first, *windows[1:]], 5.0, calls_per_connection=10)
    assert queue is not None and queue.growing


def test_a_stall_of_the_first_calls_does_not_pass_for_a_slow_server() -> None:
    """The first replies take 1.1 s, all others 10 ms, and more connections wait all the time."""
    windows = [answering(i, open_after=500 * (i + 1), after_us=10_000) for i in range(50)]
    stalled = [replace_service(window, []) for window in windows[:5]]
    first = replace_service(windows[5], [bucket_of(1_100_000), 1000])
    queue = queue_of([*stalled, first, *windows[6:]], 10.0, calls_per_connection=10)
    assert queue is not None and queue.growing


def test_a_point_that_ends_with_the_first_replies_shows_no_queue() -> None:
    windows = [answering(i, open_after=1000 * (i + 1), after_us=4_500_000) for i in range(50)]
    assert queue_of(windows, 5.0) is None


def answering(index: int, *, open_after: int, after_us: int) -> Window:
    """A window of a server whose replies all take that long."""
    answers = (index + 1) * 200_000 >= after_us
    return replace_service(window(index, open_after), [bucket_of(after_us), 1000] * answers)


def replace_service(window: Window, service: list[int]) -> Window:
    return msgspec.structs.replace(window, service=service)

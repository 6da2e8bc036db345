"""Which part of a point gives the server's reply rate."""

from __future__ import annotations

import pytest

from tests.histograms import histogram_of
from workbench.analysis import histogram
from workbench.analysis.over_time import Thinner, merge_windows, skipped
from workbench.analysis.phases import phase, ramp_s, steady
from workbench.documents import WINDOW_US, Window


def window(index: int, due: int, replies: int, service_us: int = 0) -> Window:
    times = histogram_of([service_us] * replies) if service_us else []
    return Window(
        t_us=index * WINDOW_US,
        point=1,
        index=index,
        due=due,
        sent=due,
        late=0,
        established=due,
        replies=replies,
        in_flight=0,
        service_us=histogram.percentiles(times),
        service=histogram.coarse(times),
        latency=histogram.coarse(times),
    )


def course(delay_s: float, seconds: float, per_s: int, calls: int = 1) -> list[Window]:
    """A server that answers every call after `delay_s` and loses nothing; `calls` a connection,
    `per_s` calls are due."""
    found = []
    for index in range(round((seconds + delay_s * calls) / 0.2) + 1):
        replies = 0.0
        for k in range(calls):
            begun = (k + 1) * delay_s
            inside = min(0.2, max(0.0, (index + 1) * 0.2 - begun))
            over = min(0.2, max(0.0, (index + 1) * 0.2 - begun - seconds))
            replies += (inside - over) * per_s / calls
        due = round(per_s * 0.2) if index < round(seconds / 0.2) else 0
        found.append(window(index, due, round(replies), round(delay_s * 1e6)))
    return found


@pytest.mark.parametrize(
    ("delay_s", "seconds", "calls"),
    [(0.0001, 1.0, 1), (0.02, 1.0, 1), (0.044, 1.0, 10), (0.5, 2.0, 1), (0.15, 5.0, 10)],
)
def test_a_server_without_losses_answers_what_was_offered(
    delay_s: float, seconds: float, calls: int
) -> None:
    windows = course(delay_s, seconds, 5000, calls)
    found = steady(windows, seconds, ramp_s(windows, calls, 0.0))
    assert found is not None
    assert found.replies / found.seconds == pytest.approx(5000, rel=0.005)


def test_a_server_at_half_the_rate_is_reported_although_it_catches_up_in_the_end() -> None:
    windows = [window(i, 200, 100, 400 + 100_000 * i) for i in range(5)]
    windows += [window(i, 0, 100, 600_000) for i in range(5, 10)]
    found = steady(windows, 1.0, ramp_s(windows, 1, 0.0))
    assert found is not None
    assert (found.replies / found.seconds, found.due / found.seconds) == (500, 1000)


def test_think_time_makes_a_ramp_of_a_stay() -> None:
    windows = [window(i, 10, 10, 1000) for i in range(50)]
    assert ramp_s(windows, 3, 4.0) == pytest.approx(4.003)
    found = steady(windows, 10.0, ramp_s(windows, 3, 4.0))
    assert found is not None
    assert (found.from_s, found.to_s) == (pytest.approx(4.2), pytest.approx(10.0))


def test_without_a_steady_part_none_is_reported() -> None:
    windows = course(0.6, 0.4, 500)
    assert steady(windows, 0.4, ramp_s(windows, 1, 0.0)) is None
    assert steady([], 1.0, 0.0) is None


def test_windows_are_reported_with_their_phase_while_the_point_runs() -> None:
    assert [phase(i, 1.0, 0.4) for i in range(7)] == [
        *["ramp"] * 2,
        *["measure"] * 3,
        *["drain"] * 2,
    ]


def test_merged_windows_keep_every_count_and_every_time() -> None:
    three = [window(0, 10, 10, 1000), window(1, 10, 30, 9000), window(2, 10, 10, 300)]
    one = merge_windows(three)
    assert (one.due, one.replies, one.length_us, one.index) == (30, 50, 3 * WINDOW_US, 2)
    assert one.service_us is not None
    assert one.service_us.count == 50
    assert one.service_us.p50 == pytest.approx(9000, rel=0.07)
    assert skipped(-1, one) == 0
    assert skipped(-1, window(2, 1, 1)) == 2


@pytest.mark.parametrize(("seconds", "recorded"), [(59.0, 400), (61.0, 80), (3601.0, 8)])
def test_long_points_are_recorded_in_longer_windows(seconds: float, recorded: int) -> None:
    thinner = Thinner(seconds)
    kept = [each for i in range(400) for each in thinner.take(window(i, 10, 10, 500))]
    kept += thinner.rest()
    assert len(kept) == recorded
    assert sum(each.replies for each in kept) == 4000
    assert sum(each.length_us for each in kept) == 400 * WINDOW_US

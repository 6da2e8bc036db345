"""What happened second by second."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import msgspec
import pytest

from tests.histograms import histogram_of
from tests.synthetic import session
from workbench.analysis.histogram import coarse, percentile, percentiles
from workbench.analysis.over_time import OverTime, Slice, known_metrics, without_data
from workbench.analysis.series import View
from workbench.axis import concurrency
from workbench.documents import (
    WINDOW_US,
    AnyDocument,
    HostSample,
    PointStart,
    PointStop,
    RunStart,
    Window,
)

MEDIAN, MEAN = View("p50"), View("mean")
BEGUN_US = 3_000_000


def collected(documents: Sequence[AnyDocument]) -> OverTime:
    found = OverTime()
    for document in documents:
        found(document)
    return found


def point(
    *, x: float = 100.0, begun_us: int = BEGUN_US, number: int = 1, **more: int
) -> PointStart:
    return PointStart(
        t_us=begun_us, point=number, server="a", rate_per_s=x, x=x, seconds=60.0, **more
    )


def window(index: int, times_us: Sequence[int] = (), **fields: object) -> Window:
    sparse = histogram_of(times_us)
    made = Window(
        t_us=BEGUN_US + index * WINDOW_US,
        point=1,
        index=index,
        due=len(times_us),
        sent=len(times_us),
        late=0,
        established=0,
        replies=len(times_us),
        latency_us=percentiles(sparse),
        latency=coarse(sparse),
    )
    return msgspec.structs.replace(made, **fields)


def sample(t_s: float, cpu_pct: float, **fields: object) -> HostSample:
    t_us = BEGUN_US + round(t_s * 1e6)
    made = HostSample(t_us=t_us, machine="m", server="a", cpu_pct=cpu_pct)
    return msgspec.structs.replace(made, **fields)


def slices(*documents: AnyDocument, step_s: float = 1.0) -> list[Slice]:
    return collected(documents).slices("a", 1, 100.0, step_s)


def test_the_end_of_a_point_within_a_window_is_no_drop() -> None:
    """Of a run stopped after 2.8 s of which windows of 1 s are recorded."""
    *_, stop = (d for d in session(1, 1) if isinstance(d, PointStop))
    of_second = [
        window(5 * n + 4, [1000] * count, t_us=BEGUN_US + 1_000_000 * n, length_us=1_000_000)
        for n, count in enumerate((300, 300, 240))
    ]
    for seconds, rates in ((2.8, [300, 300, 300]), (2.1, [300, 300])):
        end = msgspec.structs.replace(stop, point=1, seconds=seconds, complete=False)
        shown = slices(point(), *of_second, end)
        assert [now.replies_per_s for now in shown] == pytest.approx(rates)


def test_windows_are_merged_by_counts_and_histograms() -> None:
    windows = [window(n, [1000] * 9 + [31] * (n == 4)) for n in range(10)]
    first, second = slices(point(), *windows)
    assert (first.x, second.x) == (0.5, 1.5)
    assert (first.replies_per_s, second.replies_per_s) == (46, 45)
    both = histogram_of([1000] * 45 + [31])
    assert first.time_ms(View("p50")) * 1000 == pytest.approx(percentile(both, 0.5), rel=0.07)
    assert first.time_ms(MEAN) == pytest.approx((45 * 1.0 + 0.031) / 46, rel=0.04)


def test_each_server_begins_at_its_own_start() -> None:
    documents = session(3, rates=[1000.0, 2000.0])
    found = collected(documents)
    starts = [found.slices(series, 1, None, 0.2)[0] for series, _ in found.blocks]
    assert [first.from_s for first in starts] == [0.0] * 3
    of_second = [found.slices(series, 1, 2000.0, 0.2)[0] for series, _ in found.blocks]
    assert [first.from_s for first in of_second] == [0.0] * 3
    assert {first.offered for first in of_second} == {"2,000/s"}


def test_replies_and_errors_are_those_of_the_point() -> None:
    documents = session(1, rates=[9000.0])
    stop = next(d for d in documents if isinstance(d, PointStop) and d.judged)
    each = collected(documents).slices("asyncio-streams", 1, None, 1.0)
    assert sum(s.replies_per_s * s.seconds for s in each) == pytest.approx(stop.counts.succeeded)
    assert sum(sum(s.errors.values()) for s in each) == sum(stop.counts.errors.values())


def test_replies_count_what_the_axis_counts() -> None:
    begun = point(calls_per_connection=10)
    assert slices(begun, window(0, [500] * 20), step_s=0.2)[0].replies_per_s == 10
    start = next(d for d in session(1, 1) if isinstance(d, RunStart))
    closed = msgspec.structs.replace(start, axis=concurrency([100.0]))
    documents = [closed, begun, window(0, [500] * 20)]
    assert collected(documents).slices("a", 1, 100.0, 0.2)[0].replies_per_s == 100


def test_errors_are_a_share_of_the_calls_that_ended() -> None:
    failed = window(0, [500] * 3, errors={"client-timo": 1})
    quiet = window(5)
    first, second = slices(point(), failed, quiet)
    assert first.errors_pct == 25.0
    assert first.errors == {"client-timo": 1}
    assert isnan(second.errors_pct)
    assert isnan(second.time_ms(MEDIAN))


def test_missing_measurements_are_marked() -> None:
    ramp, steady = window(0, [500], phase="ramp"), window(1, [500])
    first, second = slices(point(), ramp, steady)
    assert (first.trusted, second.trusted) == (False, True)


def test_a_sample_describes_the_time_before_it() -> None:
    windows = [window(n, [500]) for n in range(15)]
    each = slices(point(), *windows, sample(1.0, 10.0), sample(2.0, 30.0), step_s=0.2)
    cpu = [s.value("cpu", MEDIAN) for s in each]
    assert cpu[:5] == [10.0] * 5
    assert cpu[5:10] == [30.0] * 5
    assert all(isnan(value) for value in cpu[10:])
    [whole, *_] = slices(point(), *windows, sample(1.0, 10.0), sample(2.0, 30.0), step_s=5)
    assert whole.value("cpu", MEDIAN) == 20.0


def test_machines_have_memory_and_servers_too() -> None:
    documents = [point(), window(0, [500]), sample(0.2, 5.0, rss_bytes=21_000_000)]
    [now] = slices(*documents)
    assert now.value("memory", MEDIAN) == 21.0
    assert isnan(now.value("free_memory", MEDIAN))
    assert [metric.key for metric in known_metrics([now])] == ["offered", "cpu", "memory"]


def test_the_load_of_the_machine_is_known_where_it_was_recorded() -> None:
    loads = [sample(0.2, 5.0, gauges={"LoadHundredths": load}) for load in (140, 160)]
    [now] = slices(point(), window(0, [500]), *loads)
    assert now.value("load", MEDIAN) == 1.5
    [before] = slices(point(), window(0, [500]), sample(0.2, 5.0))
    assert "load" not in [metric.key for metric in known_metrics([before])]


def test_windows_of_older_sessions_are_not_merged() -> None:
    old = [window(n, [1000 + n], latency=[]) for n in range(10)]
    each = slices(point(), *old)
    assert [s.time_ms(MEDIAN) for s in each] == [w.latency_us.p50 / 1000 for w in old]
    assert isnan(each[0].time_ms(MEAN))


def test_a_long_run_keeps_as_much_as_its_session() -> None:
    begun = msgspec.structs.replace(point(), seconds=7200.0)
    found = collected([begun, *(window(n, [500]) for n in range(500))])
    (block,) = found.blocks.values()
    assert len(block.stretches[0].windows) == 10


def test_a_running_point_is_there_up_to_now_and_keeps_what_is_known() -> None:
    found = collected([point(), *(window(n, [500]) for n in range(7))])
    before = found.slices("a", 1, None, 1.0)
    found(window(7, [500]))
    after = found.slices("a", 1, None, 1.0)
    assert after[0] is before[0]
    assert after[1] is not before[1]
    assert [s.stretch.stop for s in after] == [None, None]
    assert found.slices("a", 2, None, 1.0) == found.slices("b", 1, None, 1.0) == []


def test_the_last_attempt_at_a_value_counts() -> None:
    again = point(begun_us=BEGUN_US + 60_000_000, number=2, look=2)
    later = window(0, [900], t_us=BEGUN_US + 60_000_000, point=2)
    found = collected([point(), window(0, [500]), again, later])
    [only] = found.slices("a", 1, 100.0, 1.0)
    assert only.time_ms(MEDIAN) == pytest.approx(0.9, rel=0.07)
    [block] = found.slices("a", 1, None, 1.0)
    assert block.time_ms(MEDIAN) == pytest.approx(0.5, rel=0.07)
    assert found.values == [100.0]


def test_a_line_is_interrupted_where_nothing_is_known() -> None:
    later = point(x=200.0, begun_us=BEGUN_US + 60_000_000, number=2)
    found = collected([point(), window(0, [500]), later, window(300, [900], point=2)])
    first, second = found.slices("a", 1, None, 1.0)
    assert (first.from_s, second.from_s) == (0.0, 60.0)
    assert without_data(first, second, 1.0)
    assert not without_data(first, first, 1.0)


def test_a_long_block_has_few_slices() -> None:
    found = collected(session(2, 90))
    step_s = found.step_s(None)
    longest = max(len(found.slices(series, 1, None, step_s)) for series, _ in found.blocks)
    assert 100 < longest <= 500
    assert found.step_s(100.0) == 0.2

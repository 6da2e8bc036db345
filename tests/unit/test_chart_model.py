"""What the charts will draw of a session."""

from __future__ import annotations

from math import isnan

import msgspec
import numpy as np
import pytest

from app.charts import words
from app.charts.model import ChartModel
from app.charts.scales import log_ticks, round_down, round_up, ticks
from app.charts.series import Quantity
from tests.outcomes import LATE, Contestant
from tests.synthetic import contestants, knees, session
from workbench.analysis.series import PointResult, View
from workbench.documents import AnyDocument, PointStart, PointStop, Window
from workbench.results import sustained
from workbench.results.sustained import Sustained


def drawn(documents: list[AnyDocument]) -> ChartModel:
    model = ChartModel()
    for document in documents:
        model(document)
    return model


def test_every_server_has_a_line_through_its_points() -> None:
    documents = session(3, 8)
    model = drawn(documents)
    for series in model.series.values():
        stops = [d for d in documents if isinstance(d, PointStop) and d.server == series.id]
        swept = [stop for stop in stops if stop.purpose == "sweep"]
        values = series.values(Quantity.REPLIES, View())
        assert values.x.tolist() == [stop.x for stop in swept]
        assert values.y.tolist() == [stop.replies_per_s for stop in swept]


def test_knees_are_reported() -> None:
    model = drawn(session(7, 18))
    assert {id_: series.knee for id_, series in model.series.items()} == knees(7, 18)


def test_the_percentile_and_the_clock_choose_the_response_time() -> None:
    documents = session(1, 4)
    stop = next(d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep")
    assert stop.latency_us and stop.service_us
    (series,) = drawn(documents).series.values()
    latency = series.values(Quantity.TIME, View("p50", "latency"))
    service = series.values(Quantity.TIME, View("p999", "service"))
    assert latency.y[0] == stop.latency_us.p50 / 1000
    assert service.y[0] == stop.service_us.p999 / 1000


def test_client_limited_points_are_not_trusted() -> None:
    (series,) = drawn(session(1, 8, untrusted_from=6000)).series.values()
    values = series.values(Quantity.REPLIES, View())
    assert values.trusted.tolist() == [rate < 6000 for rate in values.x]


def test_a_percentile_of_too_few_replies_is_unreliable_but_the_rate_is_not() -> None:
    (series,) = drawn(session(1, rates=[100.0])).series.values()
    assert series.values(Quantity.REPLIES, View("p99")).trusted.tolist() == [True]
    assert series.values(Quantity.TIME, View("p99")).trusted.tolist() == [False]
    assert series.values(Quantity.TIME, View("p50")).trusted.tolist() == [True]


def test_a_server_that_answers_nothing_has_no_response_time() -> None:
    dead = Contestant("dead", "Dead", "", 0, 100, 1 << 20)
    (series,) = drawn(session([dead], 3)).series.values()
    assert np.isnan(series.values(Quantity.TIME, View()).y).all()
    assert series.values(Quantity.ERRORS, View()).y.tolist() == [100.0] * 3
    assert sustained.parts(series).text == "sustains no tested rate"


def test_a_server_behind_limited_clients_has_no_known_sustained_rate() -> None:
    (series,) = drawn(session(1, 4, untrusted_from=1)).series.values()
    assert sustained.parts(series).text == "unknown"
    assert sustained.parts(series, over=False).text == "unknown so far"
    assert sustained.why_unknown(series) == f"At 2,250/s: {LATE.text()}"


def test_passes_are_merged_by_count_and_their_spread_is_known() -> None:
    documents = session(1, 4, repeats=3)
    (series,) = drawn(documents).series.values()
    stops = [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]
    last = series.points[-1]
    assert len(last.stops) == 3
    same_rate = [stop for stop in stops if stop.x == last.x]
    assert last.latency_us
    assert last.latency_us.count == sum(stop.counts.succeeded for stop in same_rate)
    low, high = last.spread(Quantity.REPLIES.value, View()) or (0, 0)
    assert low == min(stop.replies_per_s for stop in same_rate)
    assert high == max(stop.replies_per_s for stop in same_rate)


def test_an_interrupted_point_is_excluded_from_results() -> None:
    model = drawn(session(2, 4, end="interrupted"))
    *_, last = model.series.values()
    assert len(last.points) == 3
    assert model.over


def test_the_running_point_is_known_while_it_runs() -> None:
    documents = session(1, 4)
    begun = next(
        i for i, d in enumerate(documents) if isinstance(d, PointStart) and d.purpose == "sweep"
    )
    model = drawn(documents[: begun + 1])
    assert model.running
    assert isnan(model.running.value(Quantity.REPLIES.value, View()))
    window = documents[begun + 1]
    assert isinstance(window, Window) and window.latency_us
    model(window)
    assert model.running.value(Quantity.REPLIES.value, View()) == model.running.x
    assert model.running.value(Quantity.TIME.value, View("p50")) == window.latency_us.p50 / 1000


def test_a_server_that_is_warmed_up_between_two_points_is_still_running() -> None:
    documents = session(2, 4)
    first = next(d for d in documents if isinstance(d, PointStart) and d.purpose == "sweep")
    until = 1 + next(
        i for i, d in enumerate(documents) if isinstance(d, PointStop) and d.point == first.point
    )
    again = msgspec.structs.replace(first, point=99, purpose="warm_up")
    model = drawn([*documents[:until], again])
    assert model.running_server == first.server
    model(msgspec.structs.replace(again, server="another"))
    assert not model.running_server


def test_errors_of_a_running_point_are_shown_once_its_calls_can_no_longer_be_answered() -> None:
    documents = session(1, 4)
    start = max(i for i, d in enumerate(documents) if isinstance(d, PointStart))
    model = drawn(documents[: start + 1])
    point = documents[start]
    assert isinstance(point, PointStart)

    def window(index: int, **found: int) -> float:
        errors = {"client-timo": found.pop("lost", 0)}
        none = {"sent": 0, "late": 0, "established": 0}
        at = {"t_us": 0, "point": point.point, "index": index}
        model(Window(**at, **none, **found, errors=errors))  # type: ignore[arg-type]
        assert model.running is not None
        return model.running.value(Quantity.ERRORS.value, View())

    assert isnan(window(0, due=1000, replies=300))
    assert model.running is not None
    assert model.running.errors_pct == (0, 70)
    assert isnan(window(1, due=0, replies=50, lost=100))
    assert window(2, due=0, replies=0, lost=530) == pytest.approx(63)


def test_the_x_axis_ends_with_the_plan_before_any_point_is_run() -> None:
    assert drawn(session(2, rates=[500.0, 2500.0])[:1]).last_x == 2500


def test_the_client_limit_is_stated() -> None:
    assert drawn(session(1, 2)).ceiling_per_s == 14000
    assert drawn(session(1, 2, ceiling=False)).ceiling_per_s is None


def test_a_server_without_a_seen_limit_sustains_at_least_its_knee() -> None:
    fast = contestants(3)[2]
    (series,) = drawn(session([fast], rates=[1000.0, 2000.0])).series.values()
    assert sustained.parts(series) == Sustained("sustains", figure="≥ 2,000/s")
    (series,) = drawn(session([fast], rates=[1000.0, 9000.0])).series.values()
    assert sustained.parts(series) == Sustained("sustains", figure="1,000/s")


def test_failed_calls_are_listed_by_class() -> None:
    message = words.errors({"client-timo": 1447, "connreset": 1, "other-ENETUNREACH": 2})
    assert message == "timeout 1,447 · reset 1 · other error: ENETUNREACH 2"


def test_calls_answered_too_late_for_their_rate_are_reported_though_none_was_lost() -> None:
    (series,) = drawn(session(1, rates=[1000.0, 2000.0])).series.values()
    (reached, _) = series.points
    behind = msgspec.structs.replace(
        reached.stops[0], replies_per_s=700.0, evidence={"open_at_end": 590.0}
    )
    assert (reached.waiting, PointResult(1000.0, (behind,)).waiting) == (0, 590)
    assert words.errors({}, 590) == "open at the end 590"


@pytest.mark.parametrize(
    ("high", "most", "found"),
    [
        (9000, 10, [0, 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000]),
        (9000, 5, [0, 2000, 4000, 6000, 8000]),
        (0.7, 4, [0, 0.2, 0.4, 0.6]),
        (0, 4, [0]),
    ],
)
def test_ticks_are_round(high: float, most: int, found: list[float]) -> None:
    assert ticks(0, high, most) == found


def test_log_ticks_are_decades_and_round_ends() -> None:
    assert log_ticks(2, 5000) == [2, 10, 100, 1000, 5000]
    assert log_ticks(1, 20) == [1, 2, 5, 10, 20]


def test_log_ticks_keep_their_distance_and_the_top() -> None:
    assert log_ticks(0.1, 5600, apart=0.8) == [0.1, 1, 10, 100, 5000]


def test_rounding_goes_by_one_two_and_five() -> None:
    assert [round_down(value) for value in (0.3, 1.99, 700)] == [0.2, 1, 500]
    assert [round_up(value) for value in (0.3, 2.01, 700)] == [0.5, 5, 1000]


def test_figures_of_millions_are_short_on_an_axis() -> None:
    assert words.counts([0, 500_000, 1_000_000, 1_500_000]) == ["0", "500,000", "1 M", "1.5 M"]
    close = [1_234_567.0, 1_234_568.0]
    assert words.counts(close) == ["1,234,567", "1,234,568"]

"""The mean response time, beside the percentiles."""

from __future__ import annotations

import io
from math import isnan

import msgspec
import pytest

from app.charts.model import ChartModel
from app.charts.series import Quantity
from tests.histograms import histogram_of
from tests.synthetic import session
from workbench.analysis.results import PointResult, View, mean_us
from workbench.analysis.summary import summarise
from workbench.commands.console import ConsoleView
from workbench.documents import Histograms, PointStart, PointStop, Window
from workbench.formatting import duration
from workbench.results.render.data import of_session
from workbench.terminal import Terminal

FAST, SLOW = [400] * 30, [400] * 10 + [10_000] * 20
MEAN = View("mean")


def stops(*times: list[int]) -> list[PointStop]:
    """Passes of one point with these latencies, in microseconds."""
    found = (d for d in session(1, rates=[1000.0]) if isinstance(d, PointStop) and d.judged)
    stop = next(found)
    return [
        msgspec.structs.replace(
            stop, pass_number=n, histograms=Histograms(latency=histogram_of(each))
        )
        for n, each in enumerate(times, 1)
    ]


def test_the_mean_of_passes_counts_every_reply_once() -> None:
    both = PointResult(1000.0, tuple(stops(FAST, SLOW)))
    expected = sum(FAST + SLOW) / len(FAST + SLOW) / 1000
    assert both.time_ms(MEAN) == pytest.approx(expected, rel=0.001)
    assert both.spread("time", MEAN) == pytest.approx((0.4, 6.8), rel=0.001)


def test_without_replies_or_histograms_the_mean_is_unknown() -> None:
    assert isnan(PointResult(1000.0, tuple(stops([]))).time_ms(MEAN))
    data = of_session(summarise([*session(1, 1)[:1], *stops([])]))
    [server] = data["servers"].values()
    assert server["points"][0]["latency_ms"]["mean"] is None


def test_the_live_table_has_the_mean_of_the_running_point_and_of_a_finished_one() -> None:
    documents = session(1, 2)
    printed = io.StringIO()
    view = ConsoleView(Terminal(file=printed, width=140))
    begun = next(n for n, d in enumerate(documents) if isinstance(d, PointStart) and d.judged)
    first = next(n for n, d in enumerate(documents) if isinstance(d, Window) and n > begun)
    for document in documents[: first + 1]:
        view(document)
    (server,) = view.progress.servers.values()
    assert server.mean_us and server.latency_us
    assert server.latency_us.p50 < server.mean_us
    last = [d for d in documents if isinstance(d, PointStop) and d.judged][-1]
    for document in documents[first + 1 :]:
        view(document)
    assert server.mean_us == mean_us([last], "latency")
    view.console.print(view.render())
    assert "Mean" in printed.getvalue()
    assert duration(server.mean_us) in printed.getvalue()


def test_the_chart_of_the_response_time_can_show_the_mean_also_while_a_point_runs() -> None:
    model = ChartModel()
    documents = session(1, 2)
    last = max(n for n, d in enumerate(documents) if isinstance(d, PointStart) and d.judged)
    for document in documents[: last + 4]:
        model(document)
    (series,) = model.series.values()
    (mean,) = series.values(Quantity.TIME, MEAN).y
    (median,) = series.values(Quantity.TIME, View("p50")).y
    assert median < mean
    assert model.running
    assert model.running.value("time", MEAN) > model.running.value("time", View("p50"))

"""What charts explain: markers, the timeout, and what is to come."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.series import Quantity
from app.charts.view_state import ACROSS, DISTRIBUTION, Look, Showing
from tests.gui.trios import resized, shown, texts, written
from tests.synthetic import CONTESTANTS, session
from workbench.documents import AnyDocument, PointStart, RunStart

AROUND = range(-6, 7)
"""The pixels that a large marker takes."""


def first_point(documents: list[AnyDocument], windows: int) -> list[AnyDocument]:
    """Cut within the first point of the first sweep."""
    sweeps = (isinstance(d, PointStart) and d.purpose == "sweep" for d in documents)
    return documents[: list(sweeps).index(True) + 1 + windows]


def given_up_after(documents: list[AnyDocument], timeout_s: float) -> list[AnyDocument]:
    start = documents[0]
    assert isinstance(start, RunStart)
    workload = {**start.plan.get("workload", {}), "timeout_s": timeout_s}
    return [replace(start, plan={**start.plan, "workload": workload}), *documents[1:]]


def test_an_empty_chart_has_no_line_that_could_be_taken_for_data(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8)[:1])
    assert "Points appear here during the run." in written(trio)
    chart = trio.charts[Quantity.REPLIES]
    image, last, ground = chart.grab().toImage(), chart.limits[1], QColor(theme.LIGHT.card)
    hairs = {QColor(theme.LIGHT.line).rgb(), ground.rgb()}
    for share in np.linspace(0.05, 0.4, 60):
        at = chart.at(last * share, last * share).toPoint()
        assert image.pixel(at) in hairs


def test_it_disappears_when_the_first_point_is_drawn(qtbot: QtBot) -> None:
    trio = shown(qtbot, first_point(session(2, 8), windows=0))
    assert "Points appear here during the run." in written(trio)
    trio = shown(qtbot, first_point(session(2, 8), windows=5))
    assert trio.charts[Quantity.REPLIES].running_at() is not None
    assert "Points appear here during the run." not in written(trio)


def test_large_and_hollow_markers_are_explained_where_they_occur(qtbot: QtBot) -> None:
    large, hollow = "large: sustained rate", "hollow: unreliable"
    assert large in written(shown(qtbot, session(2, 8)))
    assert hollow not in written(shown(qtbot, session(2, 8)))
    doubtful = written(shown(qtbot, session(2, 8, untrusted_from=6000)))
    assert large in doubtful
    assert hollow in doubtful
    weak = [dataclasses.replace(CONTESTANTS[0], capacity_per_s=0.0)]
    assert large not in written(shown(qtbot, session(weak, 4)))


@pytest.mark.parametrize("running", [False, True])
def test_no_small_marker_covers_a_large_one(qtbot: QtBot, running: bool) -> None:
    """Neither of a server that is drawn later, nor of the running one."""
    documents = session(9, 30)
    points = [n for n, d in enumerate(documents) if isinstance(d, PointStart)]
    chart = shown(qtbot, documents[: points[-100] if running else None]).charts[Quantity.REPLIES]
    image = chart.grab().toImage()
    # Of several at the same rate the last one is above.
    large = {curve.series.knee: curve for curve in chart.still() if curve.series.knee}
    assert len(large) > 3
    for knee, curve in large.items():
        ((x, y),) = curve.pixels()[curve.values.x == knee].tolist()
        around = (QPoint(round(x) + dx, round(y) + dy) for dx in AROUND for dy in AROUND)
        own = sum(QColor(image.pixel(at)) == QColor(curve.style.colour) for at in around)
        assert own > 25, curve.series.name


def test_the_end_of_a_line_has_a_marker_however_close_those_before(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, rates=[1000.0]))
    trio.project(Look(DISTRIBUTION))
    chart = trio.charts[Quantity.TIME]
    trio.grab()
    image = chart.grab().toImage()
    [curve] = chart.still()
    x, y = curve.pixels()[-1].tolist()
    around = (QPoint(round(x) + dx, round(y) + dy) for dx in AROUND for dy in AROUND)
    own = np.array(QColor(curve.style.colour).getRgb())
    inks = (np.array(QColor(image.pixel(at)).getRgb()) for at in around)
    assert sum(np.abs(ink - own).max() < 80 for ink in inks) > 20


@pytest.mark.parametrize("width", [800, 1500])
def test_a_response_time_of_few_replies_says_why_it_is_hollow(qtbot: QtBot, width: int) -> None:
    few = "hollow: too few samples"
    trio = shown(qtbot, session(1, 3, rates=[100, 3000, 6000]), (width, 540))
    shown_as = [trio.charts[q].curves["asyncio-streams"].trusts(100) for q in Quantity]
    assert shown_as == [True, False, True]
    assert few in written(trio)
    trio.set_view(percentile="p50")
    assert few not in written(trio)


def test_each_reason_for_hollow_markers_is_given_where_it_occurs(qtbot: QtBot) -> None:
    rates = [100.0, 3000.0, 6000.0]
    both = shown(qtbot, session(1, rates=rates, untrusted_from=5000))
    assert "hollow: unreliable or too few samples" in written(both)
    late = written(shown(qtbot, session(1, rates=rates[1:], untrusted_from=5000)))
    assert late.count("hollow: unreliable") == 2
    assert "too few samples" not in late


@pytest.mark.parametrize(("timeout_s", "message"), [(5.0, "timeout 5 s"), (0.8, "timeout 800 ms")])
def test_lines_that_end_at_the_timeout_say_so_and_cover_nothing(
    qtbot: QtBot, timeout_s: float, message: str
) -> None:
    trio = shown(qtbot, given_up_after(session(3, 8), timeout_s))
    for log in (True, False):
        trio.show_part(Showing(log={"time": log}))
        assert message in written(trio)
        chart = trio.charts[Quantity.TIME]
        head, timeout = texts(chart)[:2]
        assert timeout.top() >= head.bottom() + (4 if log else 0)
        assert timeout.left() < chart.plot_rect().left() + 10
        line = chart.at(0, 1000 * timeout_s)
        assert timeout.bottom() <= line.y()


def test_the_timeout_stays_clear_of_the_head_in_charts_that_become_lower(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(9, 30), (960, 900))
    trio.resize(800, 460)
    trio.grab()
    head, timeout = texts(trio.charts[Quantity.TIME])[:2]
    assert timeout.top() >= head.bottom() + 4


def test_the_timeout_is_not_marked_when_no_response_time_is_near(qtbot: QtBot) -> None:
    fast = [dataclasses.replace(CONTESTANTS[0], capacity_per_s=1e6)]
    assert "timeout" not in written(shown(qtbot, session(fast, 8)))


def test_the_timeout_is_named_beside_the_axis_in_every_part(qtbot: QtBot) -> None:
    trio = shown(qtbot, given_up_after(session(3, 8), 0.8))
    chart = trio.charts[Quantity.TIME]
    whole, last = texts(chart)[1], chart.limits[1]
    trio.show_part(trio.showing.zoomed({ACROSS: (0.5 * last, 0.9 * last)}))
    part = texts(chart)[1]
    assert (part.left(), part.right()) == (whole.left(), whole.right())
    assert part.left() > chart.plot_rect().left()


def test_a_header_has_whole_parts_and_never_drops_hollow(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, rates=[3000.0, 6000.0], untrusted_from=5000))
    for width in range(420, 900, 60):
        resized(trio, (width, 540))
        assert texts(trio.charts[Quantity.TIME])[0].right() <= width
        text = written(trio)
        assert "hollow: unreliable" in text[text.index("Response time") :]


def test_the_ideal_lines_text_stays_clear_of_the_header(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(9, 30, untrusted_from=6000))
    for height in (300, 360, 460, 640):
        resized(trio, (600, height))
        head, *others = texts(trio.charts[Quantity.REPLIES])
        assert not any(head.intersects(each) for each in others)

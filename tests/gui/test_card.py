"""The card of a point: its title is not cut, and it covers nothing of interest."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.charts.chart import Chart
from tests.gui.trios import shown
from tests.outcomes import Contestant
from tests.synthetic import CONTESTANTS, session
from workbench.documents import Note

LONG = "asyncio streams with a buffer for every single call"


def named(contestant: Contestant, name: str) -> Contestant:
    return dataclasses.replace(contestant, name=name)


@pytest.mark.parametrize("name", ["Go", "asyncio streams", LONG, LONG.replace(" ", "-")])
@pytest.mark.parametrize("size", [(1200, 900), (795, 545), (806, 380)])
def test_the_title_and_every_figure_of_the_card_fit(
    qtbot: QtBot, name: str, size: tuple[int, int]
) -> None:
    trio = shown(qtbot, session([named(CONTESTANTS[0], name)], 8, repeats=2), size)
    (server,) = trio.model.series
    trio.highlight(server, 7875.0)
    card = trio.card
    for shape in card.SHAPES:
        card.take(shape)
        card.layout().activate()
        texts = [each for each in card.findChildren(QLabel) if each.isVisible() and each.text()]
        assert {name, "at 7,875/s offered"} <= {each.text() for each in texts}
        for each in texts:
            assert each.width() >= each.minimumSizeHint().width()
            assert each.height() >= each.heightForWidth(each.width())
        inside = [QRectF(each.rect()).translated(each.mapTo(card, QPointF())) for each in texts]
        assert all(QRectF(card.rect()).contains(each) for each in inside)
        assert not any(a.intersects(b) for a, b in combinations(inside, 2))


def drawn(chart: Chart, servers: Iterable[str]) -> list[QPointF]:
    """Pixels of these servers' lines, three apart, and of their points."""
    found = []
    for curve in map(chart.curves.__getitem__, servers):
        points = curve.pixels()
        points = points[~np.isnan(points).any(axis=1)]
        for first, last in pairwise(points):
            steps = max(2, int(np.abs(last - first).max() / 3))
            found += [QPointF(*at) for at in np.linspace(first, last, steps)]
        found += [QPointF(*at) for at in points]
    return found


@pytest.mark.parametrize("servers", [1, 3, 7])
@pytest.mark.parametrize("rate", [1125.0, 4500.0, 7875.0])
def test_the_card_covers_no_line_no_point_no_name_and_no_axis(
    qtbot: QtBot, servers: int, rate: float
) -> None:
    documents = session(servers, 8, untrusted_from=6000)
    limit = Note(t_us=0, topic="ceiling", text="", data={"ceiling_per_s": 6000})
    trio = shown(qtbot, [*documents[:-1], limit, documents[-1]], (795, 530))
    for server in trio.model.series:
        # Among many lines there may be no place that is free of all.
        lines = list(trio.model.series) if servers < 7 else [server]
        trio.highlight(server, rate)
        assert trio.rect().contains(trio.card.geometry())
        for chart in trio.charts.values():
            here = QRectF(trio.card.geometry().translated(-chart.pos()))
            assert not any(here.contains(at) for at in drawn(chart, lines))
            plot, height = chart.plot_rect(), chart.sizes.label_px
            axis = QRectF(0, plot.top(), plot.left(), plot.height())
            names = [QRectF(n.x, n.y - height / 2, n.width, height) for n in chart.names.placed]
            left, top, right, foot = chart.words()[0]
            head = QRectF(left, top, right - left, foot - top)
            assert not any(here.intersects(each) for each in (axis, head, *names))


def test_a_single_point_without_a_line_is_not_covered(qtbot: QtBot) -> None:
    documents = session(1, 8)
    stops = [d for d in documents if getattr(d, "purpose", "") == "sweep"]
    trio = shown(qtbot, documents[: documents.index(stops[1]) + 1], (795, 530))
    trio.highlight("asyncio-streams", 1125.0)
    for chart in trio.charts.values():
        here = QRectF(trio.card.geometry().translated(-chart.pos()))
        assert drawn(chart, ["asyncio-streams"])
        assert not any(here.contains(at) for at in drawn(chart, ["asyncio-streams"]))


def test_without_free_space_the_card_still_leaves_its_line_visible(
    qtbot: QtBot,
) -> None:
    trio = shown(qtbot, session(12, 10), (806, 380))
    for server in trio.model.series:
        trio.highlight(server, 4500.0)
        for chart in trio.charts.values():
            here = QRectF(trio.card.geometry().translated(-chart.pos()))
            line = chart.curves[server].pixels()
            assert not any(here.contains(QPointF(*at)) for at in line)


@pytest.mark.parametrize("servers", [9, 24])
@pytest.mark.parametrize("size", [(795, 480), (955, 580), (1435, 760)])
def test_why_a_point_is_hollow_can_be_read_at_every_size(
    qtbot: QtBot, servers: int, size: tuple[int, int]
) -> None:
    trio = shown(qtbot, session(servers, 30, untrusted_from=6000), size)
    trio.highlight("asyncio-streams", 7500.0)
    texts = [each for each in trio.findChildren(QLabel) if each.isVisible()]
    said = " ".join(each.text() for each in texts)
    assert "The clients started 25.0" in said
    assert all(caption in said for caption in ("Replies", "p99", "Errors"))
    for each in texts:
        assert each.height() >= each.heightForWidth(each.width())
    trio.highlight("")
    assert not any(each.isVisible() for each in texts)

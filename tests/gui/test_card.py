"""The card of a point: no text is cut, and it does not cover its point."""

from __future__ import annotations

import dataclasses
from itertools import combinations, product

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from tests.gui.trios import resized, shown
from tests.outcomes import Contestant
from tests.synthetic import CONTESTANTS, session

LONG = "asyncio streams with a buffer for every single call"


def named(contestant: Contestant, name: str) -> Contestant:
    return dataclasses.replace(contestant, name=name)


@pytest.mark.parametrize("name", ["Go", "asyncio streams", LONG, LONG.replace(" ", "-")])
def test_the_title_and_every_figure_of_the_card_fit(qtbot: QtBot, name: str) -> None:
    trio = shown(qtbot, session([named(CONTESTANTS[0], name)], 8, repeats=2))
    (server,) = trio.model.series
    card = trio.pointing.card
    for size in ((1200, 900), (795, 545), (806, 380)):
        resized(trio, size)
        trio.highlight(server, 7875.0)
        texts = [each for each in card.findChildren(QLabel) if each.isVisible() and each.text()]
        assert {name, "at 7,875/s offered"} <= {each.text() for each in texts}
        for each in texts:
            assert each.width() >= each.minimumSizeHint().width()
            assert each.height() >= each.heightForWidth(each.width())
        inside = [QRectF(each.rect()).translated(each.mapTo(card, QPointF())) for each in texts]
        assert all(QRectF(card.rect()).contains(each) for each in inside)
        assert not any(a.intersects(b) for a, b in combinations(inside, 2))


@pytest.mark.parametrize("servers", [1, 3, 12])
def test_the_card_stays_within_the_charts_and_leaves_the_points_at_its_rate_visible(
    qtbot: QtBot, servers: int
) -> None:
    trio = shown(qtbot, session(servers, 8, untrusted_from=6000))
    for size in ((795, 530), (806, 380)):
        resized(trio, size)
        for (server, series), rate in product(trio.model.series.items(), (1125.0, 4500.0, 7875.0)):
            trio.highlight(server, rate)
            assert trio.rect().contains(trio.pointing.card.geometry())
            for chart in trio.charts.values():
                here = QRectF(trio.pointing.card.geometry().translated(-chart.pos()))
                reading = next(each for each in series.shown if each.x == rate)
                value = reading.value(chart.metric, trio.view)
                assert not here.contains(chart.at(rate, value))


@pytest.mark.parametrize("servers", [9, 24])
def test_why_a_point_is_hollow_can_be_read_at_every_size(qtbot: QtBot, servers: int) -> None:
    trio = shown(qtbot, session(servers, 30, untrusted_from=6000))
    for size in ((795, 480), (955, 580), (1435, 760)):
        resized(trio, size)
        trio.highlight("asyncio-streams", 7500.0)
        texts = [each for each in trio.findChildren(QLabel) if each.isVisible()]
        said = " ".join(each.text() for each in texts)
        assert "The clients started 25.0" in said
        assert all(caption in said for caption in ("Replies", "p99", "Errors"))
        for each in texts:
            assert each.height() >= each.heightForWidth(each.width())
        trio.highlight("")
        assert not any(each.isVisible() for each in texts)

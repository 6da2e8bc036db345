"""Several percentiles of the response time at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.series import Quantity
from app.charts.trio import Trio
from tests.gui.trios import shown, written
from tests.synthetic import session

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

CARD = QColor(theme.LIGHT.card)


def is_tinted(trio: Trio, server: str, rate: float) -> bool:
    """Whether the place between p99 and p50 of a server is coloured."""
    chart = trio.charts[Quantity.TIME]
    point = next(p for p in trio.model.series[server].points if p.x == rate)
    assert point.latency_us is not None
    high, low = (chart.at(rate, us / 1000) for us in (point.latency_us.p99, point.latency_us.p50))
    middle = (high + low) / 2
    return chart.grab().toImage().pixelColor(middle.toPoint()) != CARD


def test_a_key_shows_a_second_percentile_of_few_servers(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(1, 8))
    title = trio.charts[Quantity.TIME].title_text
    assert not is_tinted(trio, "asyncio-streams", 2250)
    qtbot.keyClick(trio, Qt.Key.Key_B)
    assert is_tinted(trio, "asyncio-streams", 2250)
    assert title()[1].startswith("p99 (band: p50)")
    trio.set_view(percentile="p50")
    assert title()[1].startswith("p50 (band: p99)")
    qtbot.keyClick(trio, Qt.Key.Key_B)
    assert title()[1].startswith("p50, ")


def test_both_percentiles_lie_within_the_axis(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 8))
    trio.toggle_part("band")
    trio.show_part(trio.showing.zoomed({"x": (2000.0, 6000.0)}))
    chart = trio.charts[Quantity.TIME]
    for series in trio.model.series.values():
        for point in series.points:
            if 2000 <= point.x <= 6000 and point.latency_us:
                for us in (point.latency_us.p50, point.latency_us.p99):
                    assert chart.contains(chart.at(point.x, us / 1000))


def test_with_many_servers_only_the_selected_one_has_a_band(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(7, 8))
    trio.toggle_part("band")
    trio.highlight("gevent", 2250.0)
    assert is_tinted(trio, "gevent", 5625)
    trio.highlight("")
    assert not is_tinted(trio, "gevent", 5625)
    assert "p99 (band: p50 of the selected server)" in written(trio)
    for server in ["eventlet", "twisted", "tornado"]:
        trio.set_shown(server, False)
    assert "p99 (band: p50)" in written(trio)

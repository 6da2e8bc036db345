"""Sessions over one another in the charts: colours, single passes, the figures of 2009."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app import stylesheet, theme
from app.charts.drawing import side_style
from app.charts.series import Quantity
from app.fields import Choice
from app.pages.compare import ComparePage
from app.widgets import dress
from tests.gui.compare.steps import RATES, R, compare, elsewhere, near, pixel, ranking
from tests.gui.trios import beside_lines, rest
from tests.gui.windows import press, says
from tests.recording import record_session
from tests.synthetic import contestants, session
from workbench.documents import RunStart

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def test_the_second_session_has_a_paler_shade_of_the_firsts_colour(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    place = page.trio.model.series["A/gevent"].index
    full = theme.LIGHT.series(place).colour
    assert page.trio.model.series["B/gevent"].index == place
    assert near(*pixel(page, "A/gevent", 9000), full)
    pale = side_style(theme.LIGHT.series(place), 1, theme.LIGHT).colour
    assert near(*pixel(page, "B/gevent", 7000), pale)
    assert not near(*pixel(page, "B/gevent", 7000), full, within=6)


def test_in_the_dark_it_has_the_dark_colours(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    try:
        stylesheet.apply(app, theme.DARK)
        dress(page, theme.DARK)
        dark = theme.DARK.series(page.trio.model.series["A/gevent"].index).colour
        assert near(*pixel(page, "A/gevent", 9000), dark)
        card = page.ranking.grab().toImage().pixelColor(page.ranking.width() // 2, 6)
        assert card.name().upper() == theme.DARK.card
    finally:
        stylesheet.apply(app, theme.LIGHT)


def test_pointing_at_a_row_highlights_its_line(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    full = theme.LIGHT.series(page.trio.model.series["B/gevent"].index).colour
    bars = page.ranking.bars
    line = next(n for n, row in enumerate(bars.rows) if row.key == "B/gevent")
    at = QPoint(60, bars.height() * (2 * line + 1) // (2 * len(bars.rows)))
    leave = QEvent(QEvent.Type.Leave)
    qtbot.mouseMove(bars.viewport(), at)
    qtbot.waitUntil(lambda: near(*pixel(page, "B/gevent", 7000), full))
    for kept in (True, False):
        qtbot.mouseClick(bars.viewport(), Qt.MouseButton.LeftButton, pos=at)
        QApplication.sendEvent(bars, leave)
        assert near(*pixel(page, "B/gevent", 7000), full, within=3 if kept else 6) is kept


def test_a_row_of_the_ranking_is_reached_and_picked_by_keys(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    bars, trio = page.ranking.bars, page.trio
    assert bars.focusPolicy() & Qt.FocusPolicy.TabFocus
    bars.setFocus(Qt.FocusReason.TabFocusReason)
    assert trio.charts[R].highlighted == bars.rows[0].key
    qtbot.keyClick(bars, Qt.Key.Key_Down)
    wanted = bars.rows[1]
    assert bars.currentItem().data(Qt.ItemDataRole.AccessibleTextRole) == wanted.spoken
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    trio.setFocus()
    assert trio.pointing.server == wanted.key
    bars.setFocus()
    assert bars.currentRow() == 1
    qtbot.keyClick(bars, Qt.Key.Key_Return)
    assert trio.pointing.server == ""


def test_every_pass_lies_within_the_axes(qtbot: QtBot, page: ComparePage, tmp_path: Path) -> None:
    path = record_session(tmp_path / "p.yaml", session(2, rates=RATES, repeats=3))
    compare(qtbot, page, path)
    chart = page.trio.charts[Quantity.TIME]
    plot = chart.plot_rect()
    series = page.trio.model.series["A/asyncio-streams"]
    for number in series.pass_numbers:
        values = series.values(Quantity.TIME, page.trio.view, number)
        for x, y in zip(values.x, values.y, strict=True):
            assert plot.contains(chart.at(x, y))


def test_rates_of_another_unit_are_in_the_table_and_not_in_the_charts(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    other = record_session(
        tmp_path / "r.yaml", elsewhere(session(3, rates=RATES), rate_of="requests")
    )
    compare(qtbot, page, a, other)
    assert says(page, "B is not comparable, and not in the charts: ")
    assert set(page.trio.model.series) == {f"A/{c.id}" for c in contestants(3)}
    assert len(ranking(page)) == 6


def test_the_figures_of_2009_are_crosses(qtbot: QtBot, page: ComparePage, tmp_path: Path) -> None:
    compare(qtbot, page, record_session(tmp_path / "all.yaml", session(7, rates=RATES)))
    chart = page.trio.charts[R]
    assert not chart.published()
    page.trio.toggle_part("published")
    arm = chart.at(7400, 7400) + QPointF(0, -6)
    assert near(chart.grab().toImage(), arm, theme.LIGHT.text, within=1)


def test_a_cross_of_2009_is_drawn_only_with_the_server_it_is_about(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    servers = [
        # The Circuits of 2009 did not use epoll.
        replace(server, id="circuits-select") if server.id == "circuits" else server
        for server in contestants(7)
    ]
    compare(qtbot, page, record_session(tmp_path / "all.yaml", session(servers, rates=RATES)))
    chart = page.trio.charts[R]
    page.trio.toggle_part("published")

    def crossed(rate: float) -> bool:
        at = chart.at(rate, rate) + QPointF(0, -6)
        return near(chart.grab().toImage(), at, theme.LIGHT.text, within=1)

    assert crossed(7400)
    assert crossed(1400)
    page.trio.set_shown("A/circuits-select", False)
    assert crossed(7400)
    assert not crossed(1400)
    page.trio.set_shown("A/tornado", False)
    assert not crossed(7400)


def test_the_figures_of_2009_are_not_drawn_for_another_workload(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    start = session(1)[0]
    assert isinstance(start, RunStart)
    workload = start.plan["workload"] | {"protocol": "http/1.1"}
    other = record_session(
        tmp_path / "h.yaml", elsewhere(session(1, rates=RATES), workload=workload)
    )
    compare(qtbot, page, other)
    page.trio.toggle_part("published")
    assert not page.trio.charts[R].published()


def test_distributions_of_two_sessions_are_drawn_over_one_another(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Distribution")
    chart = page.trio.charts[Quantity.TIME]
    assert chart.isVisible()
    assert not page.trio.charts[Quantity.REPLIES].isVisible()
    assert chart.height() > page.height() / 2, "the charts have the room"
    for key in ("A/gevent", "B/gevent"):
        assert len(chart.curves[key].values.x)
    press(page, "Sweep")
    assert page.trio.charts[Quantity.REPLIES].isVisible()


def test_two_sessions_are_laid_over_one_another_over_time(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Over time")
    chart = page.trio.charts[Quantity.REPLIES]
    for key in ("A/gevent", "B/gevent"):
        values = chart.curves[key].values
        # Each from its own start.
        assert len(values.x) > 10 and min(values.x) < 1
    boxes = [box for box in page.findChildren(Choice) if box.isVisible()]
    (box,) = (each for each in boxes if each.findText(f"At {RATES[0]:,.0f}/s") >= 0)
    box.setCurrentIndex(box.findText(f"At {RATES[0]:,.0f}/s"))
    box.activated.emit(box.currentIndex())
    assert max(chart.curves["A/gevent"].values.x) < 10


@pytest.mark.parametrize("view", ["Sweep", "Over time", "Distribution"])
def test_all_values_of_both_sessions_are_listed_in_every_view(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, view: str
) -> None:
    compare(qtbot, page, a, b)
    press(page, view)
    page.grab()
    trio = page.trio
    qtbot.keyClick(trio, Qt.Key.Key_V)
    assert {"A", "B"} <= set(trio.accessibleDescription().replace(":", " ").split())
    qtbot.keyClick(trio, Qt.Key.Key_V)
    chart = trio.charts[Quantity.TIME]
    rest(qtbot, chart, beside_lines(chart, float(chart.curves["A/gevent"].values.x[-2])))
    assert trio.crosshair.readout.isVisible()

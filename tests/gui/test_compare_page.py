"""Sessions over one another as a person sees them: lines, ranking, table, what differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QGuiApplication, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app import theme
from app.charts.overlay import FAINT
from app.charts.series import Quantity
from app.colour import mix
from app.comparing.chooser import Chooser
from app.comparing.figures import FiguresView
from app.comparing.held import groups
from app.desk import Desk
from app.export.dialog import ExportDialog
from app.live.present import Presentation
from app.pages.compare import ComparePage
from app.widgets import dress
from tests.gui.windows import control, name_of, press, says, shown
from tests.synthetic import Contestant, contestants, session
from workbench import paths
from workbench.documents import AnyDocument, RunStart
from workbench.sessions import Recorder
from workbench.shelf import shelf

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")

RATES = [1000.0 * n for n in range(1, 10)]
R = Quantity.REPLIES


def record(path: Path, documents: list[AnyDocument]) -> Path:
    recorder = Recorder(path)
    for document in documents:
        recorder(document)
    recorder.close()
    return path


def slower(count: int, by: float) -> list[Contestant]:
    return [replace(c, capacity_per_s=c.capacity_per_s * by) for c in contestants(count)]


def elsewhere(documents: list[AnyDocument], **plan: Any) -> list[AnyDocument]:
    """The same on another kernel, with another plan where asked."""
    start = documents[0]
    assert isinstance(start, RunStart)
    (machine,) = start.machines
    machine = msgspec.structs.replace(machine, facts=machine.facts | {"kernel": "Linux 5.10"})
    changed = start.plan | {"name": "Old kernel"} | plan
    return [msgspec.structs.replace(start, machines=[machine], plan=changed), *documents[1:]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    return paths.data_dir() / "sessions"


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return record(tmp_path / "a.pong.yaml", session(3, rates=RATES))


@pytest.fixture
def b(tmp_path: Path) -> Path:
    """gevent and the streams hold less, on another kernel."""
    return record(tmp_path / "b.pong.yaml", elsewhere(session(slower(3, 0.5), rates=RATES)))


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> ComparePage:
    return built(qtbot, desk)


def built(qtbot: QtBot, desk: Desk) -> ComparePage:
    made = ComparePage(desk)
    dress(made, desk.theme)
    qtbot.addWidget(made)
    made.resize(1196, 800)
    with qtbot.waitExposed(made):
        made.show()
    return made


def compare(qtbot: QtBot, page: ComparePage, *files: Path) -> None:
    page.compare(list(files))
    holds(qtbot, page, *files)


def holds(qtbot: QtBot, page: ComparePage, *files: Path) -> None:
    """Wait until these sessions are compared, in this order, and to be seen."""
    qtbot.waitUntil(lambda: page.selection.paths() == list(files))
    cards = page.sessions.isVisibleTo(page)
    qtbot.waitUntil(lambda: not cards or len(unfolding(page)) == len(files))


def unfolding(page: ComparePage) -> list[QAbstractButton]:
    """The visible buttons that unfold a session's servers."""
    buttons = page.sessions.findChildren(QAbstractButton)
    return [b for b in buttons if name_of(b).startswith("Servers of") and b.isVisible()]


def ranking(page: ComparePage) -> list[str]:
    """What the rows say, from top to bottom."""
    QApplication.processEvents()  # a layout does its work with the next event
    rows = [b for b in page.held.findChildren(QAbstractButton) if b.isVisibleTo(page)]
    return [name_of(row) for row in sorted(rows, key=lambda row: row.y())]


def pixel(
    page: ComparePage, key: str, rate: float, quantity: Quantity = R
) -> tuple[QImage, QPointF]:
    chart = page.trio.charts[quantity]
    series = page.trio.model.series[key]
    (value,) = [r.value(quantity, page.trio.view) for r in series.readings() if r.offered == rate]
    return chart.grab().toImage(), chart.at(rate, value)


def near(image: QImage, at: QPointF, colour: str, within: int = 3) -> bool:
    want = QColor(colour)
    for x in range(round(at.x()) - within, round(at.x()) + within + 1):
        for y in range(round(at.y()) - within, round(at.y()) + within + 1):
            got = image.pixelColor(x, y)
            parts = zip(got.getRgb()[:3], want.getRgb()[:3], strict=True)
            if all(abs(p - q) <= 12 for p, q in parts):
                return True
    return False


def cell(view: FiguresView, line: int, title: str) -> str:
    table = view.table
    for column in range(table.columnCount()):
        if table.horizontalHeaderItem(column).text() == title:
            return table.item(line, column).text()
    raise AssertionError(title)


def choose(box: QComboBox, text: str) -> None:
    place = box.findText(text)
    assert place >= 0, [box.itemText(n) for n in range(box.count())]
    box.setCurrentIndex(place)
    box.activated.emit(place)


def combo(page: QWidget, name: str) -> QComboBox:
    (found,) = [box for box in page.findChildren(QComboBox) if box.accessibleName() == name]
    return found


# States


def test_empty_it_says_what_belongs_here_and_offers_a_choice(page: ComparePage) -> None:
    assert says(page, "Lay sessions over one another")
    assert says(page, "Nothing is compared yet.")
    assert not page._add.isVisible()
    assert not combo(page, "Percentile").isVisible()
    assert ranking(page) == []
    press(page, "Choose sessions…")
    (chooser,) = page.findChildren(Chooser)
    assert says(chooser, "Sessions you run appear here.")
    chooser.reject()


def test_one_session_is_ranked_and_asks_for_another(
    qtbot: QtBot, page: ComparePage, a: Path
) -> None:
    compare(qtbot, page, a)
    assert says(page, "3 servers of one session · add another to compare")
    assert [row.partition(":")[0] for row in ranking(page)] == [
        "gevent",
        "asyncio Protocol",
        "asyncio streams",
    ]
    assert not page.conditions.isVisible()


def test_two_sessions_are_ranked_together_with_the_limits_of_each(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    assert says(page, "3 servers that both sessions have")
    assert ranking(page)[0] == (
        "gevent in A: holds 8,000/s, its limit lies within 8,000 to 9,000/s"
    )
    assert ranking(page)[3] == (
        "gevent in B: holds 4,000/s, its limit lies within 4,000 to 5,000/s"
    )


def test_what_cannot_be_read_is_refused_in_words_and_the_others_stay(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text("just: yaml\n")
    page.compare([foreign, a, tmp_path / "gone.yaml"])
    holds(qtbot, page, a)
    assert "foreign.yaml is not a session" in page.refused.text
    assert "gone.yaml" in page.refused.text
    assert len(ranking(page)) == 3
    press(page, "Dismiss")
    assert not page.refused.isVisible()


def test_of_a_newer_session_what_is_understood_can_be_compared(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    newer = record(tmp_path / "newer.yaml", session(1, rates=RATES))
    newer.write_text(newer.read_text().replace("\nv: 1\n", "\nv: 99\n", 1))
    page.compare([a, newer])
    holds(qtbot, page, a)
    assert "newer.yaml is from a newer Pongbench (99)" in page.newer.text
    press(page, "Open what this one understands")
    holds(qtbot, page, a, newer)
    assert not page.newer.isVisible()
    assert len(ranking(page)) == 4


def test_a_session_that_was_cut_off_is_compared_and_said_to_be_one(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    cut = record(tmp_path / "cut.pong.yaml", session(2, rates=RATES, end="crashed"))
    compare(qtbot, page, a, cut)
    assert says(page, "The run did not come to its end; what was recorded is compared.")


def test_more_than_six_sessions_find_no_room(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    files = [
        record(tmp_path / f"{n}.pong.yaml", session(1, rates=RATES[:3], seed=n + 1))
        for n in range(7)
    ]
    page.compare(files)
    holds(qtbot, page, *files[:6])
    assert "6 sessions are shown at a time; one session had no room." in page.refused.text
    assert not control(page, "Add a session…").isEnabled()


# Charts


def test_the_first_session_is_in_full_colour_and_the_second_pale_in_the_same(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    full = theme.LIGHT.series(page.trio.model.series["A/gevent"].index).colour
    assert page.trio.model.series["B/gevent"].index == page.trio.model.series["A/gevent"].index
    assert near(*pixel(page, "A/gevent", 9000), full)
    pale = mix(theme.LIGHT.card, full, FAINT)
    assert near(*pixel(page, "B/gevent", 7000), pale)
    assert not near(*pixel(page, "B/gevent", 7000), full, within=6)


def test_pointing_at_a_row_brings_its_line_out(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    full = theme.LIGHT.series(page.trio.model.series["B/gevent"].index).colour
    row = next(r for r in page.held.findChildren(QAbstractButton) if "gevent in B" in name_of(r))
    row.setFocus(Qt.FocusReason.TabFocusReason)
    assert near(*pixel(page, "B/gevent", 7000), full)
    qtbot.keyClick(row, Qt.Key.Key_Return)
    row.clearFocus()
    assert near(*pixel(page, "B/gevent", 7000), full)
    qtbot.keyClick(row, Qt.Key.Key_Return)
    row.clearFocus()
    assert not near(*pixel(page, "B/gevent", 7000), full, within=6)


def test_the_figures_of_2009_are_crosses_that_can_be_switched_off(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    compare(qtbot, page, record(tmp_path / "all.yaml", session(7, rates=RATES)))
    page._published_on.setChecked(True)
    chart = page.trio.charts[R]
    arm = chart.at(7400, 7400) + QPointF(-3, -3)
    assert near(chart.grab().toImage(), arm, theme.LIGHT.text, within=1)
    press(page, "Show the figures of 2009")
    assert not near(chart.grab().toImage(), arm, theme.LIGHT.text, within=1)


def test_a_cross_of_2009_stands_only_beside_the_server_it_is_about(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    compare(qtbot, page, record(tmp_path / "all.yaml", session(7, rates=RATES)))
    page._published_on.setChecked(True)
    chart = page.trio.charts[R]

    def crossed(rate: float) -> bool:
        at = chart.at(rate, rate) + QPointF(-3, -3)
        return near(chart.grab().toImage(), at, theme.LIGHT.text, within=1)

    assert crossed(7400)
    assert crossed(1400)
    page.trio.set_shown("A/circuits", False)
    assert crossed(7400)
    assert not crossed(1400)
    page.trio.set_shown("A/tornado", False)
    assert not page._published_on.isVisible()


def test_the_figures_of_2009_are_not_offered_for_servers_of_which_there_are_none(
    qtbot: QtBot, page: ComparePage, a: Path
) -> None:
    compare(qtbot, page, a)
    assert not page._published_on.isVisible()


def test_a_session_that_is_compared_already_is_told(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.add([a])
    told = "a.pong.yaml is in the comparison already."
    qtbot.waitUntil(lambda: page.refused.text == told)
    assert page.selection.paths() == [a, b]


def test_a_copy_of_a_session_is_said_to_be_one(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_bytes(a.read_bytes())
    compare(qtbot, page, a, copy)
    assert "A and B are the same session; keep one of them." in page.conditions.text()


def test_the_figures_of_2009_are_not_offered_beside_another_question(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    start = session(1)[0]
    assert isinstance(start, RunStart)
    workload = start.plan["workload"] | {"protocol": "http/1.1"}
    other = record(tmp_path / "h.yaml", elsewhere(session(1, rates=RATES), workload=workload))
    compare(qtbot, page, other)
    assert not page._published_on.isVisible()


def test_rates_of_another_unit_are_in_the_table_and_not_in_the_charts(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    other = record(tmp_path / "r.yaml", elsewhere(session(3, rates=RATES), rate_of="requests"))
    compare(qtbot, page, a, other)
    assert says(page, "A measured connections, B requests: their rates do not compare")
    assert set(page.trio.model.series) == {f"A/{c.id}" for c in contestants(3)}
    assert len(ranking(page)) == 6


# Choosing


def test_a_server_unticked_leaves_charts_ranking_and_table(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    control(page, "Servers of B").click()
    control(page, "Show gevent in B").click()
    assert not page.trio.is_shown("B/gevent")
    assert not any("gevent in B" in row for row in ranking(page))
    assert page.figures.table.rowCount() == 5
    assert says(page, "5 of 6 lines shown")
    control(page, "Show gevent in B").click()
    assert page.trio.is_shown("B/gevent")


def test_a_digit_hides_a_line_and_unticks_its_server(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    qtbot.keyClick(page, Qt.Key.Key_1)
    assert len(ranking(page)) == 5
    control(page, "Servers of A").click()
    assert not control(page, "Show asyncio streams in A").isChecked()
    qtbot.keyClick(page, Qt.Key.Key_0)
    assert control(page, "Show asyncio streams in A").isChecked()


def test_of_many_servers_those_all_sessions_have_come_first(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    many = record(tmp_path / "many.yaml", session(12, rates=RATES))
    few = record(tmp_path / "few.yaml", session(slower(4, 0.5), rates=RATES))
    compare(qtbot, page, many, few)
    shown_servers = {key.partition("/")[2] for key in page.selection.shown()}
    assert {c.id for c in contestants(4)} <= shown_servers
    assert len(page.selection.shown()) <= 12
    assert says(page, "10 of 16 lines shown")


def test_another_session_can_be_the_one_the_others_are_compared_with(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    control(page, "Servers of B").click()
    press(page, "Compare the others with this one")
    holds(qtbot, page, b, a)
    assert ranking(page)[0].startswith("gevent in B: holds 8,000/s")


def test_taking_a_session_out_leaves_the_other_as_the_first(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Take A out of the comparison")
    holds(qtbot, page, b)
    assert ranking(page)[0].startswith("gevent: holds 4,000/s")
    press(page, "Take A out of the comparison")
    assert says(page, "Lay sessions over one another")


def test_files_dropped_are_added(qtbot: QtBot, page: ComparePage, a: Path, b: Path) -> None:
    compare(qtbot, page, a)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(b))])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    nothing = Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPointF(50, 50), copy, data, left, nothing))
    holds(qtbot, page, a, b)


def test_sessions_of_this_computer_are_found_and_added_with_the_keyboard(
    qtbot: QtBot, page: ComparePage, desk: Desk, home: Path, a: Path
) -> None:
    home.mkdir(parents=True)
    known = record(home / "old.pong.yaml", elsewhere(session(1, rates=RATES)))
    record(home / "other.pong.yaml", session(1, rates=RATES))
    desk.set_shelf(shelf())
    compare(qtbot, page, a)
    page.search()
    (chooser,) = page.findChildren(Chooser)
    (field,) = chooser.findChildren(QLineEdit)
    qtbot.keyClicks(field, "kernel")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    holds(qtbot, page, a, known)


def test_of_sessions_of_one_name_and_minute_the_files_tell_which_is_which(
    qtbot: QtBot, page: ComparePage, desk: Desk, tmp_path: Path
) -> None:
    folder = paths.data_dir() / "sessions"
    folder.mkdir(parents=True)
    taken = record(folder / "one.pong.yaml", session(1, rates=RATES))
    for name in ("two", "three"):
        record(folder / f"{name}.pong.yaml", session(1, rates=RATES))
    desk.set_shelf(shelf())
    compare(qtbot, page, folder / ".." / "sessions" / taken.name)
    page.search()
    (chooser,) = page.findChildren(Chooser)
    items = [chooser._list.topLevelItem(n) for n in range(chooser._list.topLevelItemCount())]
    assert {item.text(0) for item in items} == {
        "Socket ping-pong · two.pong.yaml",
        "Socket ping-pong · three.pong.yaml",
    }
    chooser.reject()


# What differs, and the figures


def test_what_differs_is_named_with_both_values(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    assert says(page, "They ran under different conditions")
    for text in ("Kernel of the target", "Linux 6.1.0-41-amd64", "Linux 5.10"):
        assert says(page.conditions, text)
    assert "Kernel of the target: A Linux 6.1.0-41-amd64, B Linux 5.10." in page.conditions.text()


def test_who_cannot_be_told_apart_is_bracketed_and_said(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    again = record(tmp_path / "again.yaml", session(3, rates=RATES, seed=5))
    compare(qtbot, page, a, again)
    assert groups(page.comparison) == [(0, 1), (2, 3), (4, 5)]
    assert says(page, "gevent in A and gevent in B are indistinguishable: their intervals overlap.")


def test_presented_a_server_of_two_sessions_is_one_and_letters_are_explained(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    again = record(tmp_path / "again.yaml", elsewhere(session(3, rates=RATES, seed=5)))
    compare(qtbot, page, a, again)
    page.present()
    (large,) = page.findChildren(Presentation)
    assert large.headline.accessibleName() == "gevent, holds 8,000/s"
    large._hint.stop()
    large.refresh()
    told = [each.accessibleName() for each in large.findChildren(QWidget)]
    assert any(text.startswith("A: ") and " · B: Old kernel, " in text for text in told)
    with qtbot.waitSignal(large.destroyed):
        large.leave()
    assert combo(page, "Percentile").isVisible()


def test_the_table_is_sorted_by_choice_and_what_is_not_known_is_last(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    dead = [replace(contestants(1)[0], capacity_per_s=0), *contestants(3)[1:]]
    compare(qtbot, page, record(tmp_path / "a.yaml", session(dead, rates=RATES)))
    press(page, "Show the figures in a table")
    view = page.figures
    holds_first = [cell(view, n, "Holds") for n in range(3)]
    assert holds_first == ["8,000/s", "7,000/s", "no rate"]
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        view.table.sortByColumn(2, order)
        assert cell(view, 2, "Holds") == "no rate"
    choose(combo(page, "Sort by"), "Server")
    assert [view.table.item(n, 0).text() for n in range(3)] == [
        "asyncio Protocol",
        "asyncio streams",
        "gevent",
    ]


def test_all_are_told_at_a_rate_of_ones_choice(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Show the figures in a table")
    rates = combo(page, "Rate at which all are told")
    assert rates.currentText() == "2,000/s"
    choose(rates, "5,000/s")
    assert page.comparison.rate == 5000
    assert cell(page.figures, 0, "Replies/s") != ""


def test_any_two_servers_are_told_apart_in_a_sentence(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Show the figures in a table")
    assert says(page, "gevent in A holds 4,000/s more than gevent in B (3,000 to 5,000/s).")
    choose(combo(page, "Second server"), "asyncio streams in A")
    assert says(page, "gevent in A holds 3,000/s more than asyncio streams in A")
    choose(combo(page, "Second server"), "gevent in A")
    assert says(page, "Choose two different ones.")


def test_the_figures_can_be_copied_as_text(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Show the figures in a table")
    press(page, "Copy as text")
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("Server\tSession\tHolds\tLimit lies\t")
    assert lines[1].startswith("gevent\tA\t8,000/s\t8,000 to 9,000/s\t")
    assert any("Kernel of the target" in line for line in lines)


def test_the_charts_can_be_copied_and_the_table_exported(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, tmp_path: Path
) -> None:
    page.export()  # nothing yet, so nothing is asked
    assert page.findChildren(ExportDialog) == []
    compare(qtbot, page, a, b)
    page.copy_chart()
    assert QGuiApplication.clipboard().image().width() >= page.trio.width()
    press(page, "Show the figures in a table")
    press(page, "Export…")
    (dialog,) = page.findChildren(ExportDialog)
    assert ".csv" in dialog._source.kinds
    qtbot.waitUntil(dialog.isVisible)
    dialog.reject()


def test_every_pass_lies_within_the_axes_and_can_be_hidden(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    path = record(tmp_path / "p.yaml", session(2, rates=RATES, repeats=3))
    compare(qtbot, page, path)
    chart = page.trio.charts[Quantity.TIME]
    plot = chart.plot_rect()
    series = page.trio.model.series["A/asyncio-streams"]
    for number in series.passes:
        values = series.pass_values(number, Quantity.TIME, page.trio.view)
        for x, y in zip(values.x, values.y, strict=True):
            assert plot.contains(chart.at(x, y))
    with_passes = chart.grab().toImage()
    press(page, "Show single passes")
    assert chart.grab().toImage() != with_passes


# Kept, dressed, reached


def test_the_last_comparison_comes_back_with_the_next_start(
    qtbot: QtBot, page: ComparePage, desk: Desk, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.trio.toggle("B/gevent")
    again = built(qtbot, desk)
    holds(qtbot, again, a, b)
    assert len(ranking(again)) == 5
    assert not again.trio.is_shown("B/gevent")


def test_settings_that_make_no_sense_are_no_comparison(qtbot: QtBot, desk: Desk) -> None:
    desk.settings.more["Compare"] = {"sessions": 3, "hidden": [["x"], 5], "passes": "?"}
    assert says(built(qtbot, desk), "Lay sessions over one another")


def test_in_the_dark_it_has_the_dark_colours(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    try:
        theme.apply(app, theme.DARK)
        dress(page, theme.DARK)
        dark = theme.DARK.series(page.trio.model.series["A/gevent"].index).colour
        assert near(*pixel(page, "A/gevent", 9000), dark)
        card = page.held.grab().toImage().pixelColor(page.held.width() // 2, 6)
        assert card.name().upper() == theme.DARK.card
    finally:
        theme.apply(app, theme.LIGHT)


def test_in_a_narrow_window_the_column_beside_is_there_when_asked_for(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    page.resize(876, 620)
    qtbot.waitUntil(lambda: not page.held.isVisible())
    press(page, "Show the column beside")
    assert page.held.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_F9)
    assert not page.held.isVisible()
    qtbot.keyClick(page, Qt.Key.Key_F9)
    page.resize(1196, 800)
    qtbot.waitUntil(lambda: not page._beside_on.isVisible())
    assert page.held.isVisible()


@pytest.mark.parametrize("size", [(1196, 800), (876, 620), (1836, 1080)])
def test_nothing_is_cut_off_at_any_size(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, size: tuple[int, int]
) -> None:
    compare(qtbot, page, a, b)
    page.resize(*size)
    qtbot.waitUntil(lambda: page.trio.width() > 0)
    assert page.size().toTuple() == size
    for action in ("Show the charts", "Show the figures in a table", "Add a session…"):
        found = control(page, action)
        right = found.mapTo(page, QPoint(found.width(), 0)).x()
        assert right <= page.width()


def test_sessions_asked_to_be_compared_are_shown_in_the_window(
    qtbot: QtBot, a: Path, b: Path
) -> None:
    with shown(qtbot) as window:
        window.desk.compare_wanted.emit([a, b])
        page = window.page("Compare")
        assert isinstance(page, ComparePage)
        holds(qtbot, page, a, b)
        assert page.isVisible()
        assert says(page, "3 servers that both sessions have")

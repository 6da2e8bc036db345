"""Differences between sessions, in figures and text, and how they are copied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.comparing.figures import FiguresTable
from app.live.present import Presentation
from app.pages.compare import ComparePage
from app.widgets import Elided
from tests.gui.compare.steps import RATES, cell, choose, combo, compare, elsewhere
from tests.gui.windows import offers, painted, press, says
from tests.recording import record_session
from tests.synthetic import contestants, session
from workbench.results import differences
from workbench.results.conditions import conditions

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


def difference(page: ComparePage, first: str, second: str) -> str:
    """The text that compares the two."""
    by_label = {each.label: each for each in page.comparison.contenders}
    return differences.difference_in(page.comparison, by_label[first], by_label[second])


def test_differences_are_named_with_both_values(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    assert says(page, "Different conditions: ")
    press(page, "Differences between the sessions")
    for text in ("Kernel of the target", "Linux 6.1.0-41-amd64", "Linux 5.10"):
        assert says(page.conditions, text)
    for each in conditions(page.selection.sides).differing:
        assert each.text in page.conditions.accessibleName()


def test_sessions_without_a_significant_difference_are_said_to_have_none(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, tmp_path: Path
) -> None:
    again = record_session(tmp_path / "again.yaml", session(3, rates=RATES, seed=5))
    compare(qtbot, page, a, again)
    assert says(page.ranking, "The sessions show no significant difference of a server.")
    compare(qtbot, page, a, b)
    assert says(page.ranking, difference(page, "gevent in A", "gevent in B").partition(".")[0])
    assert not says(page.ranking, "no significant difference")


def test_a_server_of_two_sessions_is_presented_once_and_letters_are_explained(
    qtbot: QtBot, page: ComparePage, a: Path, tmp_path: Path
) -> None:
    again = record_session(tmp_path / "again.yaml", elsewhere(session(3, rates=RATES, seed=5)))
    compare(qtbot, page, a, again)
    page.present()
    (large,) = page.findChildren(Presentation)
    assert large.headline.accessibleName() == "gevent, sustains 8,000/s"

    texts = [each.whole for each in large.findChildren(Elided)]
    assert any(text.startswith("A: ") and " · B: Old kernel, " in text for text in texts)
    with qtbot.waitSignal(large.destroyed):
        large.close()
    assert page.trio.isVisibleTo(page)


def test_the_table_is_sorted_with_unknown_values_last(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    dead = [replace(contestants(1)[0], capacity_per_s=0), *contestants(3)[1:]]
    compare(qtbot, page, record_session(tmp_path / "a.yaml", session(dead, rates=RATES)))
    press(page, "Figures")
    view = page.figures
    holds_first = [cell(view, n, "Sustained rate") for n in range(3)]
    assert holds_first == ["8,000/s", "7,000/s", "no tested rate"]
    for order in (Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder):
        view.table.sortByColumn(2, order)
        assert cell(view, 2, "Sustained rate") == "no tested rate"
    view.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
    assert [view.table.model().index(n, 0).data() for n in range(3)] == [
        "asyncio Protocol",
        "asyncio streams",
        "gevent",
    ]


def test_a_column_without_a_figure_is_not_shown(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Figures")
    (table,) = page.findChildren(FiguresTable)
    found = table.model()
    heads = [found.headerData(n, Qt.Orientation.Horizontal) for n in range(found.columnCount())]
    shown = [head for n, head in enumerate(heads) if not table.isColumnHidden(n)]
    assert "Processes" in heads and "Processes" not in shown
    assert "Peak RSS" in shown


def test_a_failed_audit_stands_last_and_does_not_head_the_differences(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    late = record_session(tmp_path / "late.pong.yaml", session(3, rates=RATES, untrusted_from=1.0))
    twice = record_session(tmp_path / "twice.pong.yaml", session(3, rates=RATES, repeats=2))
    compare(qtbot, page, late, twice)
    lines = page.conditions.accessibleName().splitlines()
    assert lines[0].startswith("Differences: ") and "Audit" not in lines[0]
    passes, audit = (next(n for n, t in enumerate(lines) if t.startswith(what))
                     for what in ("Passes", "Audit failed in A: "))  # fmt: skip
    assert passes < audit


def test_the_names_stay_in_place_while_the_figures_scroll(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    page.resize(860, 800)
    compare(qtbot, page, record_session(tmp_path / "a.yaml", session(4, rates=RATES)))
    press(page, "Figures")
    table = page.figures.table
    bar, head = table.horizontalScrollBar(), table.horizontalHeader().viewport()
    bar.setValue(bar.maximum())
    assert bar.value() > table.columnWidth(0)
    names = [table.model().index(n, 0).data() for n in range(4)]
    qtbot.waitUntil(lambda: all(name in painted(table) for name in names))
    qtbot.mouseClick(head, Qt.MouseButton.LeftButton, pos=QPoint(20, head.height() - 10))
    assert [table.model().index(n, 0).data() for n in range(4)] == sorted(names, key=str.casefold)
    table.setCurrentIndex(table.model().index(0, table.model().columnCount() - 1))
    table.setFocus()
    while table.currentIndex().column() > 2:
        assert table.columnViewportPosition(table.currentIndex().column()) >= table.columnWidth(0)
        qtbot.keyClick(table, Qt.Key.Key_Left)


def test_servers_that_are_not_in_the_charts_can_be_added_to_the_table(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    compare(qtbot, page, record_session(tmp_path / "many.yaml", session(24, rates=RATES)))
    press(page, "Figures")
    assert page.figures.table.model().rowCount() == 12
    press(page, "Show all 24 servers")
    assert page.figures.table.model().rowCount() == 24
    assert all(page.trio.is_shown(each.key) for each in page.comparison.contenders)
    assert not offers(page, "Show all 24 servers")


def test_the_differences_stand_directly_below_the_table_of_a_high_window(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    page.resize(1836, 2000)
    compare(qtbot, page, a, b)
    press(page, "Figures")
    table, below = page.figures.table, page.figures.differences

    def close_by() -> None:
        last = table.visualRect(table.model().index(table.model().rowCount() - 1, 0))
        end = table.viewport().mapTo(page, last.bottomLeft()).y()
        assert 0 < below.mapTo(page, QPoint()).y() - end < 60

    qtbot.waitUntil(close_by)
    assert not table.verticalScrollBar().isVisible()


def test_all_servers_can_be_compared_at_a_chosen_rate(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Figures")
    rates = combo(page, "Rate for all servers")
    assert rates.currentText() == "2,000/s"
    choose(rates, "5,000/s")
    assert page.comparison.rate == 5000
    assert cell(page.figures, 0, "Replies/s") != ""


def test_any_two_servers_are_compared_in_one_sentence(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path
) -> None:
    compare(qtbot, page, a, b)
    press(page, "Figures")
    assert says(page, difference(page, "gevent in A", "gevent in B"))
    choose(combo(page, "Second server"), "asyncio streams in A")
    assert says(page, difference(page, "gevent in A", "asyncio streams in A"))
    choose(combo(page, "Second server"), "gevent in A")
    assert says(page, "Select two different servers.")
    for name in ("gevent in A", "asyncio Protocol in A", "asyncio streams in A"):
        compare(qtbot, page, a, b)
        choose(combo(page, "First server"), name)
        compare(qtbot, page, a)  # without the second
        assert len({combo(page, f"{n} server").currentText() for n in ("First", "Second")}) == 2


def test_how_the_figures_of_two_servers_differ_is_said_where_passes_show_it(
    qtbot: QtBot, page: ComparePage, tmp_path: Path
) -> None:
    many = record_session(tmp_path / "m.yaml", session(2, rates=RATES[:3], repeats=6))
    compare(qtbot, page, many)
    press(page, "Figures")
    pair = next(iter(differences.pairs(page.comparison)))
    sentence = differences.figures_in(page.comparison, *pair)
    assert sentence and says(page.figures, sentence)


def test_charts_can_be_copied_and_the_table_exported(
    qtbot: QtBot, page: ComparePage, a: Path, b: Path, tmp_path: Path
) -> None:
    page.export()  # nothing yet, so nothing is asked
    assert page.findChildren(QFileDialog) == []
    compare(qtbot, page, a, b)
    page.copy_chart()
    assert QGuiApplication.clipboard().image().width() >= page.trio.width()
    press(page, "Figures")
    press(page, "Export…")
    (dialog,) = page.findChildren(QFileDialog)
    assert any("*.csv" in each for each in dialog.nameFilters())
    dialog.reject()

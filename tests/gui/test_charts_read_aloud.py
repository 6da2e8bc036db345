"""What a screen reader finds of the charts: every shown point in a table, and the selected one."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QTableView, QWidget
from pytestqt.qtbot import QtBot

from tests.gui.trios import shown
from tests.synthetic import session


def tree(widget: QWidget) -> list[QAccessibleInterface]:
    """All that the platform's tree has below a widget."""
    found = QAccessible.queryAccessibleInterface(widget)
    parts = [found.child(place) for place in range(found.childCount())]
    return [part for part in parts if part is not None]


def table(charts: QWidget) -> QTableView:
    (found,) = charts.findChildren(QTableView, "", Qt.FindChildOption.FindDirectChildrenOnly)
    return found


def words(charts: QWidget, role: QAccessible.Role) -> list[str]:
    return [i.text(QAccessible.Text.Name) for i in tree(table(charts)) if i.role() == role]


def test_every_point_is_a_row_of_a_table_in_the_accessibility_tree(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(3, 5))
    names = [i.text(QAccessible.Text.Name) for i in tree(trio)]
    assert "Points of the charts" in names
    heads = words(trio, QAccessible.Role.ColumnHeader)
    assert heads == ["Server", "Offered rate", "Replies", "p99", "Errors", "Verdict"]
    cells = words(trio, QAccessible.Role.Cell)
    points = sum(len(series.shown) for series in trio.model.series.values())
    assert points == 15
    assert len(cells) == points * len(heads)
    for series in trio.model.series.values():
        assert cells.count(series.name) == len(series.shown)
    assert all(cells)


def test_hidden_servers_and_another_percentile_change_what_is_read(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 4))
    first, second = trio.model.series.values()
    trio.toggle(first.id)
    assert first.name not in words(trio, QAccessible.Role.Cell)
    assert second.name in words(trio, QAccessible.Role.Cell)
    trio.set_view(percentile="p50")
    assert "p50" in words(trio, QAccessible.Role.ColumnHeader)


def test_keys_select_the_row_of_the_point_that_the_charts_describe(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 4))
    trio.setFocus()
    qtbot.keyClick(trio, Qt.Key.Key_Down)
    qtbot.keyClick(trio, Qt.Key.Key_Left)
    described = QAccessible.queryAccessibleInterface(trio).text(QAccessible.Text.Description)
    chosen = [i for i in tree(table(trio)) if i.state().selected]
    assert chosen
    assert chosen[0].text(QAccessible.Text.Description) == described
    assert described.startswith(chosen[0].text(QAccessible.Text.Name))


def test_the_table_is_neither_seen_nor_a_stop_of_tab(qtbot: QtBot) -> None:
    trio = shown(qtbot, session(2, 4))
    with_table = trio.grab().toImage()
    table(trio).hide()
    assert trio.grab().toImage() == with_table
    assert not table(trio).focusPolicy() & Qt.FocusPolicy.TabFocus

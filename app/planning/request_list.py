"""The requests of a plan as a list, with their weights, and a table of headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from app.widgets import beside, button, column, tool
from workbench.workloads.http.requests import MOST_REQUESTS, PLACE, Request
from workbench.workloads.options import fields

TITLES = {field.key: field.label for field in fields(Request)}
_ROW_PX, _MOST_ROWS, _WEIGHT_PX = 30, 8, 96


class _Rows(QTableWidget):
    """Two columns, of which Tab leaves the table."""

    def __init__(self, name: str, titles: Sequence[str], wide: int) -> None:
        """`wide`: the column that takes the room that there is."""
        super().__init__(
            0, len(titles), accessibleName=name, tabKeyNavigation=False, showGrid=False
        )
        self.setProperty("kind", "rows")
        self.setHorizontalHeaderLabels(titles)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW_PX)
        self.horizontalHeader().setSectionResizeMode(wide, QHeaderView.ResizeMode.Stretch)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        self.horizontalHeader().setHighlightSections(False)

    def put(self, place: int, texts: Sequence[str]) -> None:
        for at, text in enumerate(texts):
            self.setItem(place, at, QTableWidgetItem(text))


class RequestList(QWidget):
    """A field whose value are the requests, as a plan has them. At least one stays."""

    edited = Signal()
    wanted = Signal(int)
    """The request at this place is to be shown for editing."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._requests: list[dict[str, Any]] = [{"path": "/"}]
        self.table = _Rows(name, ("Request", "Weight"), 0)
        self.table.setColumnWidth(1, _WEIGHT_PX)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.cellActivated.connect(lambda *_: self.edit())
        edit = button("Edit…", "pencil", on_click=self.edit)
        self._add = button("Add", "plus", on_click=self.add)
        self._copy = tool("Duplicate the request", "copy", self.duplicate)
        self._remove = tool("Remove the request", "trash-2", self.remove)
        below = beside(edit, self._add, self._copy, self._remove, None, gap=6)
        column(self, self.table, below, gap=6)
        self.setFocusProxy(self.table)
        self._show(0)

    def value(self) -> list[dict[str, Any]]:
        return [dict(each) for each in self._requests]

    def set_value(self, value: Any) -> None:
        given = value if isinstance(value, list) and value else [{"path": "/"}]
        if given != self._requests:
            self._requests = [dict(each) for each in given]
            self._show(self.table.currentRow())

    def put(self, place: int, request: Mapping[str, Any]) -> None:
        self._change([*self._requests[:place], dict(request), *self._requests[place + 1 :]], place)

    def edit(self) -> None:
        self.wanted.emit(self.table.currentRow())

    def add(self) -> None:
        self._change([*self._requests, {"path": "/"}], len(self._requests))
        self.edit()

    def duplicate(self) -> None:
        place = self.table.currentRow()
        self._change([*self._requests, dict(self._requests[place])], len(self._requests))

    def remove(self) -> None:
        place = self.table.currentRow()
        self._change([*self._requests[:place], *self._requests[place + 1 :]], max(0, place - 1))

    def _change(self, requests: list[dict[str, Any]], place: int) -> None:
        self._requests = requests
        self._show(place)
        self.edited.emit()

    def _show(self, place: int) -> None:
        self.table.setRowCount(len(self._requests))
        weights = [_weight(each) for each in self._requests]
        several = len(weights) > 1
        for at, (each, weight) in enumerate(zip(self._requests, weights, strict=True)):
            share = f"{weight:,} ({100 * weight / sum(weights):.0f} %)" if several else "–"
            method, path = each.get("method", "GET"), each.get("path", "")
            name = f" ({each['name']})" if each.get("name") else ""
            self.table.put(at, (f"{method} {path}{name}", share))
        self.table.setCurrentCell(min(max(place, 0), len(weights) - 1), 0)
        rows = min(len(weights), _MOST_ROWS)
        self.table.setFixedHeight(rows * _ROW_PX + _ROW_PX + 4)
        room = len(weights) < MOST_REQUESTS
        for each, usable in ((self._add, room), (self._copy, room), (self._remove, several)):
            each.setEnabled(usable)


def _weight(request: Mapping[str, Any]) -> int:
    weight = request.get("weight", 1)
    return weight if isinstance(weight, int) and weight > 0 else 1


class HeaderTable(_Rows):
    """A field whose value are headers; the last row is for another. `{secret: NAME}` is a secret.
    Delete removes a row."""

    edited = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name, ("Name", "Value"), 1)
        self.setColumnWidth(0, 170)
        self.setFixedHeight(6 * _ROW_PX)
        self.cellChanged.connect(lambda *_: self._on_changed())
        self.set_value({})

    def value(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for place in range(self.rowCount()):
            name, value = (self._text(place, at).strip() for at in (0, 1))
            secret = PLACE.fullmatch(value)
            if name or value:
                found[name] = {"secret": secret[1]} if secret else value
        return found

    def set_value(self, value: Any) -> None:
        given = value if isinstance(value, dict) else {}
        with QSignalBlocker(self):
            self.setRowCount(len(given) + 1)
            for place, (name, text) in enumerate(given.items()):
                secret = text.get("secret") if isinstance(text, dict) else None
                self.put(place, (name, f"{{secret: {secret}}}" if secret else str(text)))
            self.put(len(given), ("", ""))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        last = self.rowCount() - 1
        if event.key() == Qt.Key.Key_Delete and 0 <= self.currentRow() < last:
            self.removeRow(self.currentRow())
            self.edited.emit()
        else:
            super().keyPressEvent(event)

    def _text(self, place: int, at: int) -> str:
        item = self.item(place, at)
        return item.text() if item else ""

    def _on_changed(self) -> None:
        if self._text(self.rowCount() - 1, 0):
            with QSignalBlocker(self):
                self.insertRow(self.rowCount())
                self.put(self.rowCount() - 1, ("", ""))
        self.edited.emit()

"""Rows in the order of a ranking that changes during a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QWidget

from app.scrolling import Scrolled
from app.widgets import column, empty, frame

Row = TypeVar("Row", bound=QWidget)


class RankedRows(Scrolled, Generic[Row]):
    """A row for each key; it stays the same widget when its place changes."""

    def __init__(self, name: str = "", *, gap: int = 0) -> None:
        """`name`: see `Scrolled`. `gap`: between rows, in pixels."""
        around = column(outer := frame("rows"))
        self._list = column(inner := frame("rows"), gap=gap)
        around.addWidget(inner)
        around.addStretch(1)
        super().__init__(outer, name)
        self._order: list[str] = []
        self.rows: dict[str, Row] = {}

    def arrange(self, order: list[str], make: Callable[[str], Row]) -> None:
        """Show the rows of these keys from top to bottom; `make` builds a new one."""
        if order == self._order:
            return
        for gone in self.rows.keys() - set(order):
            self.rows.pop(gone).deleteLater()
        for place, key in enumerate(order):
            if key not in self.rows:
                self.rows[key] = make(key)
            self._list.insertWidget(place, self.rows[key])
        self._order = order

    def clear(self) -> None:
        """Remove all rows; they are made anew by the next `arrange`."""
        self.rows.clear()
        self._order = []
        empty(self._list)

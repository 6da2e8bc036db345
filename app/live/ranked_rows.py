"""Lists in the cards beside the charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtWidgets import QFrame, QWidget

from app.charts.drawing import name_among
from app.charts.trio import Trio
from app.scrolling import Scrolled
from app.theme import Weight, font
from app.widgets import LONGEST_LINE, Elided, column, empty, frame
from workbench.untrusted import one_line

Row = TypeVar("Row", bound=QWidget)


def server_name(trio: Trio, name: str) -> Elided:
    """Return a line for a server's name; where it is shortened, no other server's reads the
    same.
    """
    size = font(13, Weight.Medium)

    def shorten(text: str, width: float) -> str:
        names = (one_line(series.name, LONGEST_LINE) for series in trio.model.series.values())
        return name_among(text, names, size, width)

    made = Elided(13, Weight.Medium, shorten=shorten)
    made.show_text(name)
    return made


class ListCard(QFrame):
    """A card with a list of anything, which is scrolled."""

    def __init__(self, name: str, *, gap: int = 8) -> None:
        """`name`: see `Scrolled`. `gap`: between entries, in pixels."""
        super().__init__()
        self.setObjectName("card")
        around = column(content := QWidget())
        self.entries = column(entries := QWidget(), gap=gap)
        around.addWidget(entries)
        around.addStretch(1)
        column(self, margin=12).addWidget(Scrolled(content, name))


class RankedRows(Scrolled, Generic[Row]):
    """A row for each key in the order of a ranking that changes; it stays the same widget when its
    place does.
    """

    def __init__(self) -> None:
        around = column(outer := frame("rows"))
        self._list = column(inner := frame("rows"))
        around.addWidget(inner)
        around.addStretch(1)
        super().__init__(outer)
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

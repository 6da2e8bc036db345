"""The points of the charts as a table of the platform's accessibility tree.

Lines are pictures to a screen reader. A table of one pixel below the charts, which Qt maps to
AT-SPI, UI Automation and NSAccessibility, has every point that they show, in words.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QAccessible, QPaintEvent
from PySide6.QtWidgets import QTableView

from app.charts.words import Card

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()
_COLUMNS = 6


class Points(QAbstractTableModel):
    """A row for every point that is shown, by server in the legend's order."""

    def __init__(self, trio: Any) -> None:
        """`trio`: a `Trio`, as for `Pointing`."""
        self._trio = trio
        self._known: object = None
        self.rows: list[tuple[Any, Any]] = []
        """Series and reading."""
        super().__init__(trio)

    def renew(self) -> None:
        trio, drawn = self._trio, self._trio.drawn
        # Of time there may be very many, which nobody reads without a screen reader.
        wanted = drawn is trio.model or QAccessible.isActive()
        shown = [s for s in drawn.ranked() if trio.is_shown(s.id)] if wanted else []
        known = drawn, [(series.id, series.version) for series in shown], trio.view
        if known == self._known:
            return
        self.beginResetModel()
        self._known = known
        self.rows = [(series, reading) for series in shown for reading in series.shown]
        self.endResetModel()

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else _COLUMNS

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        column = index.column()
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and column == 0:
            return self._card(index.row()).text
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        card, (series, reading) = self._card(index.row()), self.rows[index.row()]
        figures = [f"{text} {unit}".replace(" /s", "/s").strip() for _, text, unit in card.figures]
        place = card.at if self._trio.drawn.bars else self._trio.drawn.axis.at(reading.x)
        return str((series.name, place, *figures, card.sentence)[column])

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if role != Qt.ItemDataRole.DisplayRole or not self.rows:
            return None
        if orientation == Qt.Orientation.Vertical:
            return f"{self.rows[section][0].name} {self._card(section).at}"
        ends = self._card(0).figures, self._card(len(self.rows) - 1).figures
        # In a distribution, every row is of another percentile.
        captions = (a[0] if a[0] == b[0] else "Response time" for a, b in zip(*ends, strict=True))
        return ("Server", self._trio.drawn.axis.label, *captions, "Verdict")[section]

    def _card(self, row: int) -> Card:
        return self._trio.drawn.card(*self.rows[row], self._trio.view)


class PointsTable(QTableView):
    """No stop of the Tab key: the charts themselves take the keys, and select its rows."""

    def __init__(self, trio: Any) -> None:
        super().__init__(trio, accessibleName="Points of the charts")
        self.points = Points(trio)
        self.setModel(self.points)
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.verticalHeader().hide()
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setGeometry(0, 0, 1, 1)
        self.lower()
        self.hide()

    def renew(self) -> None:
        self.points.renew()
        self.setVisible(self.points.rowCount() > 0)

    def choose(self, server: str, x: float) -> None:
        self.clearSelection()
        for place, (series, reading) in enumerate(self.points.rows):
            if series.id == server and reading.x == x:
                self.selectRow(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Nothing is to be seen of it."""

"""The points of the charts as a table of the platform's accessibility tree.

Lines are pictures to a screen reader. A table of one pixel below the charts, which Qt maps to
AT-SPI, UI Automation and NSAccessibility, has every point that they show, in words.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import TypeAlias

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QTableView

from app.charts import words
from app.charts.hover import HoverCard
from app.charts.series import Quantity, Series
from app.charts.stack import Stack
from workbench import formatting
from workbench.analysis.results import PointResult, View

Index: TypeAlias = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()
_Cell: TypeAlias = Callable[[Series, PointResult, View], str]


def _time(series: Series, reading: PointResult, view: View) -> str:
    ms = reading.value(Quantity.TIME.value, view)
    return "no replies" if isnan(ms) else formatting.duration(ms * 1000)


_COLUMNS: tuple[_Cell, ...] = (
    lambda series, reading, view: series.name,
    lambda series, reading, view: reading.axis.at(reading.x),
    lambda series, reading, view: words.per_second(reading.replies_per_s),
    _time,
    lambda series, reading, view: formatting.percent(reading.errors_pct),
    lambda series, reading, view: words.verdict(reading),
)


class Points(QAbstractTableModel):
    """A row for every point that is shown, by server in the legend's order."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self._stack = stack
        self._known: object = None
        self._rows: list[tuple[Series, PointResult]] = []

    def renew(self) -> None:
        """Read the points again, if there are others."""
        stack = self._stack
        shown = [s for s in stack.model.ranked() if s.shown and stack.is_shown(s.id)]
        known = [(series.id, series.version, len(series.shown)) for series in shown], stack.view
        if known == self._known:
            return
        self.beginResetModel()
        self._known = known
        self._rows = [(series, reading) for series in shown for reading in series.shown]
        self.endResetModel()

    def row_of(self, server: str, x: float) -> int:
        """Return the row of a point; -1: it is not shown."""
        places = (n for n, (s, r) in enumerate(self._rows) if s.id == server and r.x == x)
        return next(places, -1)

    def rowCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NONE) -> int:
        return 0 if parent.isValid() else len(_COLUMNS)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> str | None:
        series, reading = self._rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return _COLUMNS[index.column()](series, reading, self._stack.view)
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and index.column() == 0:
            return HoverCard.text(series, reading, self._stack.view)
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> str | None:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation == Qt.Orientation.Vertical:
            series, reading = self._rows[section]
            return f"{series.name} {words.offered(reading)}"
        time = f"{words.percentile(self._stack.view.percentile)} response time"
        label = self._stack.model.axis.label
        return ("Server", label, "Replies", time, "Errors", "Verdict")[section]


class PointsTable(QTableView):
    """No stop of the Tab key: the charts themselves take the keys, and select its rows."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(stack)
        self.points = Points(stack)
        self.setModel(self.points)
        self.setAccessibleName("Points of the charts")
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
        """Handle a changed model or view."""
        self.points.renew()
        self.setVisible(self.points.rowCount() > 0)

    def choose(self, server: str, x: float) -> None:
        """Select the row of the charts' selected point; without one, none."""
        place = self.points.row_of(server, x)
        if place < 0:
            self.clearSelection()
        else:
            self.selectRow(place)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Nothing is to be seen of it."""

"""The percentiles of every server as figures, below the chart of the distributions."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
)

from app.charts.projection import DistributionModel
from app.charts.trio import Trio
from app.plain import tip
from app.theme import Weight, font
from workbench.results import tables

_ROW, _MOST = 24, 9
"""The height of a line, and how many are seen at most."""

_WIDEST = 320
"""Pixels of a column."""


class DistributionTable(QTableWidget):
    """One line a server, in the legend's order. A click on a line highlights the server."""

    def __init__(self, trio: Trio) -> None:
        super().__init__(accessibleName="Percentiles of the response times", showGrid=False)
        self._trio = trio
        self._content: object = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        titles = ["Server", "At", *tables.TITLES, "Replies"]
        self.setColumnCount(len(titles))
        self.setHorizontalHeaderLabels(titles)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setWordWrap(False)
        self.setFont(font(12, figures=True))
        self.setStyleSheet(
            "QTableView::item { padding: 0 3px; } QHeaderView { background: transparent; }"
        )
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setMinimumSectionSize(40)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setMaximumSectionSize(_WIDEST)
        for place in range(len(titles)):
            self.horizontalHeaderItem(place).setTextAlignment(_side(place))
        self.cellClicked.connect(self._on_clicked)
        trio.visibility_changed.connect(lambda server, shown: self.refresh())
        trio.view_changed.connect(self.refresh)

    def refresh(self) -> None:
        drawn = self._trio.drawn
        if not isinstance(drawn, DistributionModel) or self.isHidden():
            return
        shown = [s for s in drawn.ranked() if s.distribution and self._trio.is_shown(s.id)]
        content = drawn, drawn.version, [series.id for series in shown], self._trio.view.clock
        if content == self._content:
            return
        self._content = content
        answered = drawn.of.axis.replies.capitalize()
        self.horizontalHeaderItem(self.columnCount() - 1).setText(answered)
        self.setRowCount(len(shown))
        for line, series in enumerate(shown):
            found, point = series.distribution, series.point
            at = series.shown[0].at if series.shown else point.axis.at(point.x)
            if drawn.chosen == "best" and self._trio.model.running_server == series.id:
                at = f"{at} so far"  # a later point of its sweep may take its place
            name = " · ".join(filter(None, (series.name, series.tasks.text)))
            cells = [name, at, *tables.percentile_cells(found)]
            for place, text in enumerate([*cells, f"{found.count:,}"]):
                item = QTableWidgetItem(text)
                item.setToolTip(tip(found.sentence if place != 0 else name))
                item.setTextAlignment(_side(place))
                item.setData(Qt.ItemDataRole.UserRole, series.id)
                if place == 0:
                    item.setFont(font(12, Weight.Medium))
                self.setItem(line, place, item)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        head, bar = self.horizontalHeader(), self.horizontalScrollBar()
        around = head.sizeHint().height() + bar.sizeHint().height() + 2 * self.frameWidth()
        return QSize(super().sizeHint().width(), around + min(self.rowCount(), _MOST) * _ROW)

    def minimumSizeHint(self) -> QSize:
        """Return no height: the table must not keep its window from becoming lower."""
        return QSize(super().minimumSizeHint().width(), 0)

    def _on_clicked(self, line: int, _place: int) -> None:
        server = self.item(line, 0).data(Qt.ItemDataRole.UserRole)
        chosen = "" if self._trio.pointing.server == server else server
        self._trio.highlight(chosen)


def _side(place: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter

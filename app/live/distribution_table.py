"""The percentiles of every server as figures, below the chart of the distributions."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QSizePolicy,
    QTableWidget,
    QTableWidgetItem,
)

from app.charts.distribution import DistributionModel
from app.charts.drawing import name_among, text_width
from app.charts.trio import Trio
from app.plain import tip
from app.theme import Weight, font
from workbench.results import tables

_ROW = 24
_SHARE = 0.4
"""The largest share of the height; more lines are scrolled."""
_FEWEST = 2
"""Lines; with room for fewer, there is only the chart."""
_BESIDE, _NARROWEST = 14, 110
"""Pixels beside a name, and the least of its column: with less, figures are scrolled."""
_WIDE = 860
"""Narrower, the number of replies is only in the tool tips."""


class DistributionTable(QTableWidget):
    """One line a server, in the legend's order. A click on a line highlights the server."""

    def __init__(self, trio: Trio) -> None:
        super().__init__()
        self._trio = trio
        self._content: object = None
        self._names: list[str] = []
        self._height = 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        titles = ["Server", "At", *tables.TITLES, "Replies"]
        self.setColumnCount(len(titles))
        self.setHorizontalHeaderLabels(titles)
        self.setAccessibleName("Percentiles of the response times")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.setShowGrid(False)
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
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        for place in range(len(titles)):
            self.horizontalHeaderItem(place).setTextAlignment(_side(place))
        self.cellClicked.connect(self._on_clicked)
        trio.visibility_changed.connect(lambda server, shown: self.refresh())
        trio.view_changed.connect(self.refresh)

    def refresh(self) -> None:
        """Apply changes of the model."""
        drawn = self._trio.drawn
        if not isinstance(drawn, DistributionModel) or self.isHidden():
            return
        shown = [s for s in drawn.ranked() if s.distribution and self._trio.is_shown(s.id)]
        content = drawn, drawn.version, [series.id for series in shown], self._trio.view.clock
        if content == self._content:
            return
        self._content = content
        self.horizontalHeaderItem(self.columnCount() - 1).setText(drawn.replies.capitalize())
        self.setRowCount(len(shown))
        names = [" · ".join(filter(None, (s.name, s.tasks.text))) for s in shown]
        for line, series in enumerate(shown):
            found, point = series.distribution, series.point
            at = series.shown[0].at if series.shown else point.axis.at(point.x)
            if drawn.chosen == "best" and self._trio.model.running_server == series.id:
                at = f"{at} so far"  # a later point of its sweep may take its place
            name = names[line]
            cells = [name, at, *tables.percentile_cells(found)]
            for place, text in enumerate([*cells, f"{found.count:,}"]):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_side(place))
                item.setData(Qt.ItemDataRole.UserRole, series.id)
                item.setToolTip(tip(found.sentence if place != 0 else name))
                if place == 0:
                    item.setFont(font(12, Weight.Medium))
                    item.setData(Qt.ItemDataRole.AccessibleTextRole, name)
                self.setItem(line, place, item)
        self._names = names
        self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        self.parentWidget().installEventFilter(self)
        self._content = None
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.parentWidget() and event.type() == QEvent.Type.Resize:
            self._fit()
        return bool(super().eventFilter(watched, event))

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height)

    def minimumSizeHint(self) -> QSize:
        """Return no height: the table must not keep its window from becoming lower."""
        return QSize(super().minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self.isHidden() or self._trio.parentWidget() is not self.parentWidget():
            return
        self.setColumnHidden(self.columnCount() - 1, self.width() < _WIDE)
        head = self.horizontalHeader()
        self._fit_names(self.viewport().width() - head.length() + head.sectionSize(0))
        around = head.sizeHint().height() + 2 * self.frameWidth()
        if head.length() > self.viewport().width():
            around += self.horizontalScrollBar().sizeHint().height()
        lines = min(self.rowCount(), (self._room() - around) // _ROW)
        enough = lines >= min(_FEWEST, self.rowCount()) > 0
        height = around + lines * _ROW if enough else 0
        if height != self._height:
            self._height = height
            self.updateGeometry()

    def _room(self) -> int:
        """Return the height that is left below the lowest chart that can be read."""
        card, trio = self.parentWidget(), self._trio
        inside = card.layout()
        below = card.height() - inside.contentsMargins().bottom() - trio.y()
        left = below - trio.minimumSizeHint().height() - inside.spacing()
        return min(left, int(_SHARE * card.height()))

    def _fit_names(self, most: int) -> None:
        """Shorten names that do not fit into `most` pixels, so that all of them differ."""
        name = font(12, Weight.Medium)
        widest = max((text_width(each, name) for each in self._names), default=0.0)
        if most < _NARROWEST:  # the figures scroll anyway
            most = max(_NARROWEST, self.viewport().width() // 2)
        width = max(_NARROWEST, min(ceil(widest) + _BESIDE, most))
        self.setColumnWidth(0, width)
        for line, each in enumerate(self._names):
            self.item(line, 0).setText(name_among(each, self._names, name, width - _BESIDE))

    def _on_clicked(self, line: int, _place: int) -> None:
        server = self.item(line, 0).data(Qt.ItemDataRole.UserRole)
        chosen = "" if self._trio.pointing.server == server else server
        self._trio.highlight(chosen)


def _side(place: int) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignLeft if place == 0 else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter

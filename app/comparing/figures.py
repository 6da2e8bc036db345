"""The figures of a comparison in a table, and the difference of any two of its servers."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.choices import Choice
from app.comparing.differences import Differences
from app.comparing.figures_table import LEFT_OUT, FiguresTable
from app.stacking import stacked
from app.theme import Theme, Weight
from app.widgets import GAP, button, column, frame, label, row, tool
from workbench.results.comparison import Comparison
from workbench.results.rows import compared


class FiguresView(QWidget):
    """Sorted by a click on a header, or by the choice above."""

    rate_requested = Signal(object)
    """The rate of the table; None: the highest rate that all sustain."""
    all_requested = Signal()
    """The user wants to see the servers that are not shown, too."""
    copy_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        inside = column(self, gap=GAP)
        card = frame()
        body = column(card, margin=12, gap=8)
        self._choices = QWidget()
        head, choices = row(), row(self._choices)
        head.addWidget(label("Figures", 14, Weight.DemiBold))
        self._all = button("", "eye", kind="ghost", on_click=self.all_requested.emit)
        head.addWidget(self._all)
        head.addStretch()
        self._sort = Choice("Sort by")
        self._sort.activated.connect(lambda _: self._sort_by(self._sort.currentData()))
        self._rate = Choice("Rate for all servers")
        self._rate.activated.connect(lambda _: self.rate_requested.emit(self._rate.currentData()))
        for text, box in (("Sort by", self._sort), ("At rate", self._rate)):
            choices.addWidget(label(text, 12, tone="soft"))
            choices.addWidget(box, 1)
        copy = tool("Copy as text", "copy", self.copy_requested.emit)
        export = button("Export…", "share-2", on_click=self.export_requested.emit)
        self._head = grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        grid.setSpacing(8)
        grid.addLayout(head, 0, 0)
        for at, part in enumerate((copy, export), start=2):
            grid.addWidget(part, 0, at)
        body.addLayout(grid)
        self._place_choices(below=False)
        self.table = FiguresTable(theme)
        body.addWidget(self.table, 1)
        # The differences stand directly below the last row.
        card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        inside.addWidget(card)
        self.differences = Differences(theme)
        inside.addWidget(self.differences)
        inside.addStretch(1)

    def display(self, comparison: Comparison) -> None:
        self._comparison = comparison
        total = sum(len(side.contenders) for side in comparison.sides)
        self._all.setText(f" Show all {total}")
        self._all.setAccessibleName(f"Show all {total} servers")
        self._all.setVisible(len(comparison.contenders) < total)
        self.table.display(comparison)
        self.differences.display(comparison)
        chosen = self._sort.currentData()
        self._sort.clear()
        for place, each in enumerate(compared(comparison).columns):
            if each.key in LEFT_OUT:
                continue
            group = f", {each.group[:1].lower()}{each.group[1:]}" if each.group else ""
            self._sort.addItem(f"{each.title}{group}", (place, each.key))
        kept = next((n for n in range(self._sort.count()) if self._sort.itemData(n) == chosen), 1)
        self._sort.setCurrentIndex(kept)
        self._sort_by(self._sort.currentData())
        self._rate.clear()
        for rate in reversed(comparison.shared):
            self._rate.addItem(comparison.axis.at(rate), rate)
        if comparison.rate is not None:
            self._rate.setCurrentIndex(self._rate.findData(comparison.rate))
        self._rate.setEnabled(self._rate.count() > 0)
        if not self._rate.count():
            self._rate.addItem("no common rate")

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_choices(below=stacked(self.width()))
        self.differences.fit(self.width(), self.height())

    def _place_choices(self, *, below: bool) -> None:
        """Put the choices beside the title of the table, or below it."""
        self._head.removeWidget(self._choices)
        self._head.addWidget(self._choices, *((1, 0, 1, 4) if below else (0, 1, 1, 1)))

    def _sort_by(self, chosen: tuple[int, str] | None) -> None:
        if chosen is None:
            return
        place, key = chosen
        up = key in ("server", "session") or key.endswith(("_ms", "_pct", "rss_bytes"))
        order = Qt.SortOrder.AscendingOrder if up else Qt.SortOrder.DescendingOrder
        self.table.sortByColumn(place, order)

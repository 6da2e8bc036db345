"""The figures of a comparison in a table, in which the names stay in place, and the difference of
any two of its servers."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QResizeEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QFrame, QSizePolicy, QWidget

from app.charts.drawing import draw_swatch, draw_tag, text_width
from app.charts.overlay import contender_style
from app.fields import Choice
from app.painted import write
from app.plain import tip
from app.table import GROUP, LEFT, ORDER, RIGHT, Cells, FixedTable, Index, Ordered
from app.theme import Weight, font
from app.widgets import GAP, beside, button, column, frame, label
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import difference_in, figures_in, pairs
from workbench.results.rows import compared
from workbench.results.tables import Cell, Column

LEFT_OUT = ("session", "at_knee_replies_per_s", "at_knee_errors_pct", "at_most_replies_per_s")
_LINE, _LETTER = 42, 22
"""Pixels before a name: its line, and its session's letter where there are several."""
_SUSTAINED = 2
"""The column of sustained rates, by which the table is sorted at first."""
_MOST_SPARE = 40
"""By how many pixels a column is widened where all are seen."""
_MOST_LESS = -6
"""As many pixels a column can do without."""
_ROW = 30
_CONTENDER = Qt.ItemDataRole.UserRole


class FiguresTable(FixedTable):
    def __init__(self) -> None:
        super().__init__("Figures of all servers", row_px=_ROW, pad_px=4)
        self.comparison: Comparison | None = None
        self._widths: list[int] = []
        self._items = QStandardItemModel(self)
        ordered = Ordered(self)
        ordered.setSourceModel(self._items)
        self.setModel(ordered)
        self.setItemDelegate(_Who(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)

    def display(self, comparison: Comparison) -> None:
        self.comparison = comparison
        found = compared(comparison)
        heads, sorted_by = found.columns, self.horizontalHeader()
        place, order = sorted_by.sortIndicatorSection(), sorted_by.sortIndicatorOrder()
        self._items.clear()
        self._widths = [_width(head.title, font(11, Weight.Medium)) for head in heads]
        for line in found.rows:
            contender, cells = line.of, [line.cells[head.key] for head in heads]
            self._items.appendRow(
                [_item(cell, contender, figure=place > 1) for place, cell in enumerate(cells)]
            )
            widths = [_width(cell.text, font(12, figures=True)) for cell in cells]
            self._widths = list(map(max, self._widths, widths))
            name = _width(contender.name, font(13, Weight.Medium))
            self._widths[0] = max(self._widths[0], self.before + name)
        for n, head in enumerate(heads):
            self._items.setHorizontalHeaderItem(n, _head(head, figures=n > 1))
            # The letter beside the name is the session; at the limit 99 % is answered by
            # definition.
            rows = range(self._items.rowCount())
            texts = {self._items.item(line, n).text() for line in rows}
            self.setColumnHidden(n, head.key in LEFT_OUT or texts <= {"", "0"})
        self.sortByColumn(place if 0 <= place < len(heads) else _SUSTAINED, order)
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        bar, around = self.horizontalScrollBar().sizeHint().height(), 2 * self.frameWidth()
        head = self.horizontalHeader().sizeHint().height()
        high = head + self._items.rowCount() * _ROW + bar + around
        return QSize(super().sizeHint().width(), high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make columns as wide as their widest figure, wider where there is room, and a little
        narrower where that shows all of them."""
        shown = [n for n in range(self._items.columnCount()) if not self.isColumnHidden(n)]
        room = self.viewport().width() - sum(self._widths[n] for n in shown)
        more = min(_MOST_SPARE, room // max(1, len(shown)))
        more = 0 if more < _MOST_LESS else more
        for n in shown:
            self.setColumnWidth(n, self._widths[n] + more)

    @property
    def before(self) -> int:
        """Return the pixels before a name."""
        several = self.comparison is not None and len(self.comparison.sides) > 1
        return _LINE + _LETTER * several


class _Who(Cells):
    table: FiguresTable

    def paint_first(self, painter: QPainter, cell: QRectF, index: Index) -> None:
        theme, comparison, middle = self.table.theme, self.table.comparison, cell.center().y()
        contender: Contender = index.data(_CONTENDER)
        assert comparison is not None
        style = contender_style(comparison, contender, theme)
        draw_swatch(painter, style, QRectF(cell.left() + 5, middle - 6, 30, 12), theme.card)
        if len(comparison.sides) > 1:
            tag = QRectF(cell.left() + _LINE, middle - 7.5, 15, 15)
            draw_tag(painter, tag, contender.tag, theme)
        room = cell.adjusted(self.table.before, 0, -4, 0)
        write(painter, room, contender.name, font(13, Weight.Medium), theme.text)


def _head(head: Column, *, figures: bool) -> QStandardItem:
    made = QStandardItem(head.title)
    made.setToolTip(tip(head.about))
    made.setData(head.group, GROUP)
    made.setAccessibleText(f"{head.title} {head.group}".strip())
    made.setTextAlignment(RIGHT if figures else LEFT)
    return made


def _item(cell: Cell, contender: Contender, *, figure: bool) -> QStandardItem:
    """Unknown values are always last."""
    made = QStandardItem(cell.text)
    value = cell.value.casefold() if isinstance(cell.value, str) else cell.value or 0
    made.setData([cell.value is None, value], ORDER)
    made.setData(contender, _CONTENDER)
    made.setTextAlignment(RIGHT if figure else LEFT)
    if not figure:
        made.setAccessibleText(contender.label)
    return made


def _width(text: str, size: QFont) -> int:
    """Return the width of the text with the cell's margins."""
    return round(text_width(text, size)) + 12


class Differences(QFrame):
    """The difference of two chosen servers; at first of the pair of most interest."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._comparison: Comparison | None = None
        self._first, self._second = Choice("First server"), Choice("Second server")
        for box in (self._first, self._second):
            box.activated.connect(lambda _: self._refresh())
        self._chosen = label("", 13, Weight.Medium, wrap=True)
        self._figures = label("", 12, tone="soft", wrap=True)
        title, between = label("Side by side", 14, Weight.DemiBold), label("and", 12, tone="soft")
        head = beside(title, None, self._first, between, self._second)
        column(self, head, self._chosen, self._figures, margin=12, gap=8)

    def display(self, comparison: Comparison) -> None:
        self._comparison = comparison
        ranked, several = [c for c in comparison.ranked() if c.measured], len(comparison.sides) > 1
        self.setVisible(len(ranked) > 1)
        if len(ranked) < 2:
            return
        boxes = (self._first, self._second)
        keys = [box.currentData() for box in boxes]
        if keys[0] == keys[1] or not {contender.key for contender in ranked}.issuperset(keys):
            keys = [c.key for c in next(iter(pairs(comparison)), ranked[:2])]
        for key, box in zip(keys, boxes, strict=True):
            box.clear()
            for contender in ranked:
                box.addItem(contender.label if several else contender.name, contender.key)
            box.setCurrentIndex(box.findData(key))
        self._refresh()

    def _refresh(self) -> None:
        found = self._comparison
        by_key = {contender.key: contender for contender in found.contenders} if found else {}
        a, b = by_key.get(self._first.currentData()), by_key.get(self._second.currentData())
        if found is None or a is None or b is None:
            return
        same = "Select two different servers."
        self._chosen.setText(same if a is b else difference_in(found, a, b))
        figures = "" if a is b else figures_in(found, a, b)
        self._figures.setText(figures)
        self._figures.setVisible(bool(figures))


class FiguresView(QWidget):
    """Sorted by a click on a header."""

    rate_requested = Signal(object)
    """The rate of the table; None: the highest rate that all sustain."""
    all_requested = Signal()
    """The user wants to see the servers that are not shown, too."""
    export_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._all = button("", "eye", kind="ghost", on_click=self.all_requested.emit)
        self._rate = Choice("Rate for all servers")
        self._rate.activated.connect(lambda _: self.rate_requested.emit(self._rate.currentData()))
        head = beside(
            label("Figures", 14, Weight.DemiBold),
            self._all,
            None,
            label("At rate", 12, tone="soft"),
            self._rate,
            button("Export…", "share-2", on_click=self.export_requested.emit),
        )
        self.table = FiguresTable()
        self.table.sortByColumn(_SUSTAINED, Qt.SortOrder.DescendingOrder)
        column(card := frame(), head, (self.table, 1), margin=12, gap=8)
        # The differences stand directly below the last row.
        card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.differences = Differences()
        column(self, card, self.differences, None, gap=GAP)

    def display(self, comparison: Comparison) -> None:
        total = sum(len(side.contenders) for side in comparison.sides)
        self._all.setText(f" Show all {total}")
        self._all.setAccessibleName(f"Show all {total} servers")
        self._all.setVisible(len(comparison.contenders) < total)
        self.table.display(comparison)
        self.differences.display(comparison)
        self._rate.clear()
        for rate in reversed(comparison.shared):
            self._rate.addItem(comparison.axis.at(rate), rate)
        if comparison.rate is not None:
            self._rate.setCurrentIndex(self._rate.findData(comparison.rate))
        self._rate.setEnabled(self._rate.count() > 0)
        if not self._rate.count():
            self._rate.addItem("no common rate")

"""The table of a comparison: the names stay in place while the figures scroll beside them."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QResizeEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView

from app.charts.drawing import draw_swatch, text_width
from app.charts.overlay import contender_style
from app.charts.session_tags import draw_tag
from app.painted import write
from app.plain import tip
from app.table import GROUP, LEFT, ORDER, RIGHT, Cells, FixedTable, Index, Ordered
from app.theme import Theme, Weight, font
from workbench.results.comparison import Comparison, Contender
from workbench.results.rows import compared
from workbench.results.table import Cell, Column

LEFT_OUT = ("session", "at_knee_replies_per_s", "at_knee_errors_pct", "at_most_replies_per_s")
_LINE, _LETTER = 42, 22
"""Pixels before a name: its line, and its session's letter where there are several."""
_TIGHTER = 13
"""Pixels of its margins that a column can do without."""
_MOST_SPARE = 40
"""By how many pixels a column is widened where all are seen."""
_ROW, _LOW_ROW = 34, 28
"""The height of a row, and its least so that all rows fit."""
_CONTENDER = Qt.ItemDataRole.UserRole


class FiguresTable(FixedTable):
    def __init__(self, theme: Theme) -> None:
        super().__init__("Figures of all servers", theme, row_px=_ROW, pad_px=4)
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
        heads = found.columns
        self._items.clear()
        self._widths = [_width(head.title, font(11, Weight.Medium)) for head in heads]
        for row in found.rows:
            contender, cells = row.of, [row.cells[head.key] for head in heads]
            self._items.appendRow(
                [_item(cell, contender, figure=place > 1) for place, cell in enumerate(cells)]
            )
            widths = [_width(cell.text, font(12, figures=True)) for cell in cells]
            self._widths = list(map(max, self._widths, widths))
            name = _width(contender.name, font(13, Weight.Medium))
            self._widths[0] = max(self._widths[0], self.before + name)
        for place, head in enumerate(heads):
            self._items.setHorizontalHeaderItem(place, _head(head, figures=place > 1))
            # The letter beside the name is the session; at the limit 99 % is answered by
            # definition.
            rows = range(self._items.rowCount())
            texts = {self._items.item(line, place).text() for line in rows}
            self.setColumnHidden(place, head.key in LEFT_OUT or texts <= {"", "0"})
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as all rows."""
        bar, around = self.horizontalScrollBar().sizeHint().height(), 2 * self.frameWidth()
        head = self.horizontalHeader().sizeHint().height()
        high = head + self._items.rowCount() * _ROW + bar + around
        return QSize(super().sizeHint().width(), high)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make columns as wide as their widest figure. Those that have room share the rest of it
        equally, so that none is cut at the edge; a small deficit is shared, too. Rows are a little
        lower where all of them fit so.
        """
        rows, high = max(1, self._items.rowCount()), self.viewport().height()
        fits = rows * _LOW_ROW <= high
        self.verticalHeader().setDefaultSectionSize(min(_ROW, high // rows) if fits else _ROW)
        shown = [n for n in range(self._items.columnCount()) if not self.isColumnHidden(n)]
        if not shown:
            return
        widths, room = [self._widths[n] for n in shown], self.viewport().width()
        needed = accumulate(width - _TIGHTER for width in widths)
        fit = max(1, sum(width <= room for width in needed))
        more, rest = divmod(room - sum(widths[:fit]), fit)
        if fit == len(shown) and more >= _MOST_SPARE:
            more, rest = _MOST_SPARE, 0
        for place, (n, width) in enumerate(zip(shown, widths, strict=True)):
            self.setColumnWidth(n, width + (place < fit) * more + (place < rest))

    @property
    def before(self) -> int:
        """Return the pixels before a name."""
        several = self.comparison is not None and len(self.comparison.sides) > 1
        return _LINE + _LETTER * several


class _Who(Cells):
    """Line, letter and name."""

    table: FiguresTable

    def paint_first(self, painter: QPainter, cell: QRectF, index: Index) -> None:
        theme, comparison, middle = self.table.theme, self.table.comparison, cell.center().y()
        contender: Contender = index.data(_CONTENDER)
        assert comparison is not None
        style = contender_style(comparison, contender, theme)
        draw_swatch(painter, style, QRectF(cell.left() + 5, middle - 6, 30, 12), theme.card)
        if len(comparison.sides) > 1:
            tag = QRectF(cell.left() + _LINE, middle - 7.5, 15, 15)
            draw_tag(painter, tag, contender.tag, theme, filled=contender.tag == "A")
        room = cell.adjusted(self.table.before, 0, -4, 0)
        write(painter, room, contender.name, font(13, Weight.Medium), theme.text)


def _head(head: Column, *, figures: bool) -> QStandardItem:
    made = QStandardItem(head.title)
    made.setData(head.group, GROUP)
    made.setToolTip(tip(head.about))
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
    return round(text_width(text, size)) + 22

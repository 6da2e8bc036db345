"""The figures of a comparison in a table, and the difference of any two of its servers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.charts.drawing import draw_swatch, draw_text, text_width
from app.charts.overlay import contender_style
from app.charts.sides import draw_tag
from app.choices import Choice
from app.comparing.differences import Differences
from app.plain import tip
from app.sorting import SortedHead
from app.theme import Theme, Weight, font
from app.widgets import GAP, button, column, frame, label, row
from workbench.comparison import table as compare_table
from workbench.comparison.contenders import Contender
from workbench.comparison.sides import Comparison
from workbench.comparison.table import Cell, Column

_LEFT_OUT = ("session", "at_knee_replies_per_s", "at_knee_errors_pct")
_WHO = 69
"""Pixels before a name: its line and letter."""
_TIGHTER = 5
"""Pixels of its margins that a column can do without."""

_VALUE, _CONTENDER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class FiguresView(QWidget):
    """Sorted by a click on a header, or by the choice above."""

    rate_requested = Signal(object)
    """The rate of the table; None: the highest rate that all sustain."""
    copy_requested = Signal()
    export_requested = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._comparison: Comparison | None = None
        inside = column(self, gap=GAP)
        card = frame()
        body = column(card, margin=12, gap=8)
        head = row()
        head.addWidget(label("Figures", 14, Weight.DemiBold))
        head.addStretch()
        self._sort = Choice("Sort by")
        self._sort.activated.connect(lambda _: self._sort_by(self._sort.currentData()))
        self._rate = Choice("Rate for all servers")
        self._rate.activated.connect(lambda _: self.rate_requested.emit(self._rate.currentData()))
        for text, box in (("Sort by", self._sort), ("At rate", self._rate)):
            head.addWidget(label(text, 12, tone="soft"))
            head.addWidget(box)
        head.addWidget(button("Copy as text", "copy", on_click=self.copy_requested.emit))
        head.addWidget(button("Export…", "download", on_click=self.export_requested.emit))
        body.addLayout(head)
        self.table = _Table(theme)
        body.addWidget(self.table, 1)
        inside.addWidget(card, 1)
        self.differences = Differences()
        inside.addWidget(self.differences)

    def display(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.table.display(comparison)
        self.differences.display(comparison)
        chosen = self._sort.currentData()
        self._sort.clear()
        for place, each in enumerate(compare_table.columns(comparison)):
            if each.key in _LEFT_OUT:
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

    def set_theme(self, theme: Theme) -> None:
        self.table.set_theme(theme)

    def _sort_by(self, chosen: tuple[int, str] | None) -> None:
        if chosen is None:
            return
        place, key = chosen
        up = key in ("server", "session") or key.endswith(("_ms", "_pct", "rss_bytes"))
        order = Qt.SortOrder.AscendingOrder if up else Qt.SortOrder.DescendingOrder
        self.table.sortByColumn(place, order)


class _Table(QTableWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._widths: list[int] = []
        self.setWordWrap(False)
        self.setStyleSheet("QTableView::item { padding: 0 5px; }")
        self.setAccessibleName("Figures of all servers")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFont(font(12, figures=True))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(34)
        self._head = _Head(theme)
        self.setHorizontalHeader(self._head)
        self.setItemDelegateForColumn(0, _Who(self))
        self.setSortingEnabled(True)

    def display(self, comparison: Comparison) -> None:
        heads = compare_table.columns(comparison)
        self._comparison = comparison
        self._head.columns = heads
        self.setSortingEnabled(False)
        self.setColumnCount(len(heads))
        self.setRowCount(len(comparison.contenders))
        for place, head in enumerate(heads):
            item = QTableWidgetItem(head.title)
            item.setToolTip(tip(head.about))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{head.title} {head.group}".strip())
            right = Qt.AlignmentFlag.AlignRight if place > 1 else Qt.AlignmentFlag.AlignLeft
            item.setTextAlignment(right | Qt.AlignmentFlag.AlignBottom)
            self.setHorizontalHeaderItem(place, item)
        self._widths = [_width(head.title, font(11, Weight.Medium)) for head in heads]
        for line, contender in enumerate(comparison.ranked()):
            cells = compare_table.row(comparison, contender)
            for place, head in enumerate(heads):
                cell = cells[head.key]
                self._widths[place] = max(self._widths[place], _width(cell.text, self.font()))
                self.setItem(line, place, _Item(cell, contender, place > 1))
            bold = font(13, Weight.Medium)
            self._widths[0] = max(self._widths[0], _WHO + _width(contender.name, bold))
        self.setSortingEnabled(True)
        for place, head in enumerate(heads):
            # The letter beside the name is the session; at the limit 99 % is answered by
            # definition.
            self.setColumnHidden(place, head.key in _LEFT_OUT)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Make columns as wide as their widest figure. Those that have room share the rest of it
        equally, so that none is cut at the edge; a small deficit is shared, too.
        """
        shown = [n for n in range(self.columnCount()) if not self.isColumnHidden(n)]
        if not shown:
            return
        widths, room = [self._widths[n] for n in shown], self.viewport().width()
        needed = accumulate(width - _TIGHTER for width in widths)
        fit = max(1, sum(width <= room for width in needed))
        more, rest = divmod(room - sum(widths[:fit]), fit)
        if fit == len(shown):
            more, rest = min(more, 40), 0
        for place, (n, width) in enumerate(zip(shown, widths, strict=True)):
            self.setColumnWidth(n, width + (place < fit) * more + (place < rest))

    def set_theme(self, theme: Theme) -> None:
        self._theme = self._head.theme = theme
        self._head.setStyleSheet(f"QHeaderView {{ background: {theme.card}; }}")
        self.viewport().update()

    def paint_who(self, painter: QPainter, box: QRectF, contender: Contender) -> None:
        theme, middle = self._theme, box.center().y()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = contender_style(self._comparison, contender, theme)
        draw_swatch(painter, style, QRectF(box.left() + 8, middle - 6, 30, 12), theme.card)
        where = box.left() + 46
        tag = QRectF(where, middle - 7.5, 15, 15)
        draw_tag(painter, tag, contender.tag, theme, filled=contender.tag == "A")
        size = font(13, Weight.Medium)
        at = QRectF(box).adjusted(_WHO, 0, -4, 0)
        painter.setFont(size)
        painter.setPen(QColor(theme.text))
        painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, contender.name)
        painter.restore()

    _comparison: Comparison


class _Who(QStyledItemDelegate):
    """Line, letter and name."""

    def __init__(self, table: _Table) -> None:
        super().__init__(table)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: object) -> None:
        contender = index.data(_CONTENDER)  # type: ignore[attr-defined]
        super().paint(painter, option, index)  # type: ignore[arg-type]
        self._table.paint_who(painter, QRectF(option.rect), contender)

    def initStyleOption(self, option: QStyleOptionViewItem, index: object) -> None:
        super().initStyleOption(option, index)  # type: ignore[arg-type]
        option.text = ""


class _Item(QTableWidgetItem):
    """Sorts by its value; unknown values are always last."""

    def __init__(self, cell: Cell, contender: Contender, figure: bool) -> None:
        super().__init__(cell.text)
        self.setData(_VALUE, cell.value)
        self.setData(_CONTENDER, contender)
        if figure:
            self.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        else:
            self.setData(Qt.ItemDataRole.AccessibleTextRole, contender.label)

    def __lt__(self, other: QTableWidgetItem) -> bool:
        mine, theirs = self.data(_VALUE), other.data(_VALUE)
        if mine is None or theirs is None:
            table = self.tableWidget()
            down = table.horizontalHeader().sortIndicatorOrder() is Qt.SortOrder.DescendingOrder
            return (mine is None) == down and mine is not theirs
        if isinstance(mine, str):
            return mine.casefold() < str(theirs).casefold()
        return bool(mine < theirs)


class _Head(SortedHead):
    """Two lines: what several columns have in common, and each column's own title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.columns: Sequence[Column] = ()
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setFixedHeight(44)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        size = font(11, Weight.Medium)
        for name in dict.fromkeys(c.group for c in self.columns if c.group):
            places = [
                n
                for n, c in enumerate(self.columns)
                if c.group == name and not self.isSectionHidden(n)
            ]
            end = self.sectionViewportPosition(places[-1]) + self.sectionSize(places[-1])
            left = max(0, self.sectionViewportPosition(places[0]))
            right = min(end, self.viewport().width())
            if right - left < text_width(name, size) + 18:
                continue
            draw_text(
                painter,
                QRectF(left, 4, right - left - 8, 14).center(),
                name,
                size,
                self.theme.soft,
                "middle",
            )
            painter.setPen(QPen(QColor(self.theme.line2), 1))
            painter.drawLine(left + 10, 20, right - 8, 20)
        painter.end()


def _width(text: str, size: QFont) -> int:
    """Return the width of the text with the cell's margins."""
    return round(text_width(text, size)) + 22

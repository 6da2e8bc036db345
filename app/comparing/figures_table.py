"""The table of a comparison: the names stay in place while the figures scroll beside them."""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
)

from app.charts.drawing import draw_swatch, text_width
from app.charts.overlay import contender_style
from app.charts.sides import draw_tag
from app.comparing.figures_head import HEIGHT, FiguresHead
from app.plain import tip
from app.theme import Theme, Weight, font
from workbench.comparison import table as compare_table
from workbench.comparison.contenders import Contender
from workbench.comparison.sides import Comparison
from workbench.comparison.table import Cell

LEFT_OUT = ("session", "at_knee_replies_per_s", "at_knee_errors_pct", "at_most_replies_per_s")
_LINE, _LETTER = 42, 22
"""Pixels before a name: its line, and its session's letter where there are several."""
_TIGHTER = 12
"""Pixels of its margins that a column can do without."""
_ROW, _LOW_ROW = 34, 28
"""The height of a row, and its least so that all rows fit."""

_VALUE, _CONTENDER = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class FiguresTable(QTableWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._widths: list[int] = []
        self.setWordWrap(False)
        self.setStyleSheet("QTableView::item { padding: 0 1px; }")
        self.setAccessibleName("Figures of all servers")
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setShowGrid(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setFont(font(12, figures=True))
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(_ROW)
        self._head = FiguresHead(theme)
        self.setHorizontalHeader(self._head)
        self._who = _Who(self)
        self.setItemDelegateForColumn(0, self._who)
        # What is scrolled would take the names with it.
        for view in (self.viewport(), self._head.viewport()):
            self.horizontalScrollBar().valueChanged.connect(lambda _, view=view: view.update())
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
            self._widths[0] = max(self._widths[0], self._before + _width(contender.name, bold))
        self.setSortingEnabled(True)
        for place, head in enumerate(heads):
            # The letter beside the name is the session; at the limit 99 % is answered by
            # definition.
            texts = {self.item(line, place).text() for line in range(self.rowCount())}
            self.setColumnHidden(place, head.key in LEFT_OUT or texts <= {"", "0"})
        self.updateGeometry()
        self._fit()

    def sizeHint(self) -> QSize:
        """As high as all rows."""
        bar, around = self.horizontalScrollBar().sizeHint().height(), 2 * self.frameWidth()
        return QSize(super().sizeHint().width(), HEIGHT + self.rowCount() * _ROW + bar + around)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the names over what is scrolled beneath them."""
        super().paintEvent(event)
        if not self.horizontalOffset():
            return
        painter = QPainter(self.viewport())
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        for line in range(self.rowCount()):
            index = self.model().index(line, 0)
            option.rect = self.visualRect(index).translated(self.horizontalOffset(), 0)
            if not option.rect.intersects(event.rect()):
                continue
            painter.fillRect(option.rect, QColor(self._theme.card))
            option.state = QStyle.StateFlag.State_Enabled
            if self.selectionModel().isSelected(index):
                option.state |= QStyle.StateFlag.State_Selected
            self._who.paint(painter, option, index)
        painter.fillRect(self._head.edge(self.height()), QColor(self._theme.line2))
        painter.end()

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Bring a cell into view, not beneath the names."""
        super().scrollTo(index, hint)
        hidden = self.columnWidth(0) - self.columnViewportPosition(index.column())
        if index.column() and hidden > 0:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - hidden)

    def _fit(self) -> None:
        """Make columns as wide as their widest figure. Those that have room share the rest of it
        equally, so that none is cut at the edge; a small deficit is shared, too. Rows are a little
        lower where all of them fit so.
        """
        rows, high = max(1, self.rowCount()), self.viewport().height()
        fits = rows * _LOW_ROW <= high
        self.verticalHeader().setDefaultSectionSize(min(_ROW, high // rows) if fits else _ROW)
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

    @property
    def _before(self) -> int:
        return _LINE + _LETTER * (len(self._comparison.sides) > 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = self._head.theme = theme
        self._head.setStyleSheet(
            f"QHeaderView {{ background: {theme.card}; }}"
            "QHeaderView::section { padding: 4px 4px; }"
        )
        self.viewport().update()

    def paint_who(self, painter: QPainter, box: QRectF, contender: Contender) -> None:
        theme, middle = self._theme, box.center().y()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        style = contender_style(self._comparison, contender, theme)
        draw_swatch(painter, style, QRectF(box.left() + 5, middle - 6, 30, 12), theme.card)
        if len(self._comparison.sides) > 1:
            tag = QRectF(box.left() + _LINE, middle - 7.5, 15, 15)
            draw_tag(painter, tag, contender.tag, theme, filled=contender.tag == "A")
        size = font(13, Weight.Medium)
        at = QRectF(box).adjusted(self._before, 0, -4, 0)
        painter.setFont(size)
        painter.setPen(QColor(theme.text))
        painter.drawText(at, Qt.AlignmentFlag.AlignVCenter, contender.name)
        painter.restore()

    _comparison: Comparison


class _Who(QStyledItemDelegate):
    """Line, letter and name."""

    def __init__(self, table: FiguresTable) -> None:
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


def _width(text: str, size: QFont) -> int:
    """Return the width of the text with the cell's margins."""
    return round(text_width(text, size)) + 22

"""A table on as many pages as it needs, each like the page of charts before it: for a PDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen

from app.charts.drawing import draw_text, elided, text_width
from app.charts.page import wrapped
from app.export.picture import Paint, Size
from app.theme import Theme, Weight, font

_WIDTH = 1600.0
"""The table is designed for pages of this width, as the charts are; other widths scale it."""
_MARGIN, _GAP = 56.0, 28.0
"""Around the page, and between two columns."""
_TOP = 172.0
"""Where the rows of a page begin, below heading, remark and titles."""
_LINE, _PAD = 23.0, 9.0
"""The height of a line of a cell, and above and below its text."""
_FIRST = 0.25
"""The widest first column, as a share of the page; the last takes what the others leave."""


@dataclass(frozen=True)
class Table:
    """A table whose first and last columns are texts, and the others figures."""

    heading: str
    remark: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]

    def pages(self, theme: Theme, size: Size) -> list[Paint]:
        """Return the painting of each page; empty: it has no rows."""
        return _Layout(self, theme, size).pages() if self.rows else []


class _Layout:
    """Where the parts of a table are."""

    def __init__(self, table: Table, theme: Theme, size: Size) -> None:
        self._table, self._theme, self._size = table, theme, size
        self._unit = size[0] / _WIDTH
        self._small, self._plain = font(self._px(14)), font(self._px(16))
        self._big, self._soft = font(self._px(28), Weight.DemiBold), font(self._px(16))
        self._left, self._gap, self._top = (self._px(each) for each in (_MARGIN, _GAP, _TOP))
        self._room = size[0] - 2 * self._left
        self._widths = self._columns()
        self._lines = [
            wrapped(row[-1], self._plain, self._widths[-1]) if row[-1] else [""]
            for row in table.rows
        ]

    def pages(self) -> list[Paint]:
        return [self._painting(*part) for part in self._parts()]

    def _px(self, size: float) -> float:
        return size * self._unit

    def _columns(self) -> list[float]:
        texts = zip(self._table.titles, *self._table.rows, strict=True)
        widths = [
            max(text_width(title, self._small), *(text_width(cell, self._plain) for cell in cells))
            for title, *cells in texts
        ]
        widths[0] = min(widths[0], _FIRST * self._room)
        taken = sum(widths[:-1]) + self._gap * (len(widths) - 1)
        return [*widths[:-1], max(self._room - taken, self._px(100))]

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Yield the first row of each page, and that after its last one."""
        first, y = 0, self._top
        for number in range(len(self._table.rows)):
            tall = self._tall(number)
            if number > first and y + tall > self._size[1] - self._left:
                yield first, number
                first, y = number, self._top
            y += tall
        yield first, len(self._table.rows)

    def _tall(self, row: int) -> float:
        return self._px(len(self._lines[row]) * _LINE + 2 * _PAD)

    def _painting(self, first: int, end: int) -> Paint:
        def paint(painter: QPainter) -> None:
            theme, table = self._theme, self._table
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(QRectF(0, 0, *self._size), QColor(theme.card))
            at = QPointF(self._left, self._px(58))
            draw_text(painter, at, table.heading, self._big, theme.text)
            at += QPointF(0, self._px(40))
            said = elided(table.remark, self._soft, self._room)
            draw_text(painter, at, said, self._soft, theme.soft)
            y = self._top
            self._row(painter, table.titles, y - self._px(16), title=True)
            self._rule(painter, y, theme.line2)
            for number in range(first, end):
                row, lines = table.rows[number], self._lines[number]
                at_y = y + self._px(_PAD + _LINE / 2)
                self._row(painter, [*row[:-1], lines[0]], at_y)
                x = self._left + self._room - self._widths[-1]
                for line in lines[1:]:
                    at_y += self._px(_LINE)
                    draw_text(painter, QPointF(x, at_y), line, self._plain, theme.text)
                y += self._tall(number)
                self._rule(painter, y, theme.line)

        return paint

    def _row(
        self, painter: QPainter, cells: Sequence[str], y: float, *, title: bool = False
    ) -> None:
        """Draw one line of each cell."""
        theme, x = self._theme, self._left
        size, colour = (self._small, theme.muted) if title else (self._plain, theme.text)
        last = len(cells) - 1
        for number, (cell, width) in enumerate(zip(cells, self._widths, strict=True)):
            text = number in (0, last)
            at = QPointF(x if text else x + width, y)
            shown = elided(cell, size, width + 1) if number == 0 else cell
            draw_text(painter, at, shown, size, colour, "left" if text else "right")
            x += width + self._gap

    def _rule(self, painter: QPainter, y: float, colour: str) -> None:
        painter.setPen(QPen(QColor(colour), max(1.0, self._px(1))))
        painter.drawLine(QPointF(self._left, y), QPointF(self._left + self._room, y))

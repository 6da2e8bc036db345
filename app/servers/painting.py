"""How the table of servers is drawn: its two-line head, its cells."""

from __future__ import annotations

from math import ceil
from typing import Protocol

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.colour import mix
from app.painted import mark_chosen
from app.servers.columns import COLUMNS, QUIET
from app.servers.known import Known
from app.servers.rows import KNOWN, Index, Rows
from app.theme import Theme, Weight, font, icon_pixmap, paint_icon

HEAD_PX = 48
BOX_PX = 38
"""The width of the check box, from the left."""
_NAME_AT_PX, _NAME_RIGHT_PX, _BEFORE_TAG_PX = BOX_PX + 2, 8, 6
_TAGS = ("yours", "unsaved")
_LEAST_TEXT_PX = 34
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class Drawn(Protocol):
    """What the delegates need from the table."""

    @property
    def theme(self) -> Theme: ...

    @property
    def rows(self) -> Rows: ...

    @property
    def sorting(self) -> tuple[int, bool]: ...

    @property
    def focused(self) -> bool: ...


class ServerHeader(QHeaderView):
    """Two lines: groups, and columns."""

    def __init__(self, table: Drawn) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._table = table
        self.setSectionsClickable(True)
        self.setHighlightSections(False)
        self.setFixedHeight(HEAD_PX)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), HEAD_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._table.theme
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(theme.card))
        for band in dict.fromkeys(column.band for column in COLUMNS if column.band):
            self._paint_band(painter, band, theme)
        for place in range(self.count()):
            if not self.isSectionHidden(place):
                self._paint_title(painter, place, theme)
        painter.fillRect(QRectF(0, HEAD_PX - 1, self.viewport().width(), 1), QColor(theme.line2))
        painter.end()

    def _paint_band(self, painter: QPainter, band: str, theme: Theme) -> None:
        places = [
            n for n, c in enumerate(COLUMNS) if c.band == band and not self.isSectionHidden(n)
        ]
        if not places:
            return
        left = self.sectionViewportPosition(places[0])
        right = self.sectionViewportPosition(places[-1]) + self.sectionSize(places[-1])
        room = QRectF(left, 0, right - left, HEAD_PX)
        painter.fillRect(room.adjusted(0, 2, -6, 0), QColor(theme.sunken))
        # It stays visible while its columns scroll, as far as there is room for it.
        edge = min(right - 6, self.viewport().width())
        box = QRectF(max(left, 0) + 10, 4, edge - max(left, 0) - 16, 20)
        if box.width() >= _LEAST_TEXT_PX:
            write(painter, box, band, theme.muted, size=11, weight=Weight.DemiBold)

    def _paint_title(self, painter: QPainter, place: int, theme: Theme) -> None:
        left, width = self.sectionViewportPosition(place), self.sectionSize(place)
        room = QRectF(left + 10, 24, width - 20, 20)
        if place == 0:
            room.setLeft(left + BOX_PX + 2)
        sorted_by, rising = self._table.sorting
        chosen = place == sorted_by
        painter.setFont(font(11, Weight.DemiBold if chosen else Weight.Medium))
        painter.setPen(QColor(theme.text if chosen else theme.muted))
        align = _RIGHT if COLUMNS[place].right else _LEFT
        if not (room := visible_part(room, self.viewport().width(), align)).isValid():
            return
        elide = Qt.TextElideMode.ElideRight
        title = QFontMetricsF(painter.font()).elidedText(
            COLUMNS[place].head, elide, room.width() + 0.5
        )
        painter.drawText(room, int(align), title)
        if chosen:
            used = QFontMetricsF(painter.font()).horizontalAdvance(title)
            x = room.right() - used - 13 if COLUMNS[place].right else room.left() + used + 4
            painter.setBrush(QColor(theme.text))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            y, up = 34.0, -2.5 if rising else 2.5
            painter.drawPolygon(_triangle(x + 4.5, y, up))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


class RowDelegate(QStyledItemDelegate):
    def __init__(self, table: Drawn) -> None:
        super().__init__()
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, column = self._table.theme, COLUMNS[index.column()]
        known: Known = index.data(KNOWN)
        cell, edge = QRectF(option.rect), option.widget.viewport().width()
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        ground = theme.card
        if chosen:
            ground = mix(theme.card, theme.focus, 0.13)
        painter.fillRect(cell, QColor(ground))
        if column.group and not chosen:
            last = index.column() + 1 == len(COLUMNS) or (
                COLUMNS[index.column() + 1].band != column.band
            )
            painter.fillRect(cell.adjusted(0, 0, -6 if last else 0, 0), QColor(theme.sunken))
        painter.fillRect(
            QRectF(cell.left(), cell.bottom() - 1, cell.width(), 1), QColor(theme.line)
        )
        if index.column() == 0:
            self._paint_name(painter, cell, known, chosen=chosen)
        elif index.column() == 1:
            cell.setRight(min(cell.right(), edge))
            self._paint_state(painter, cell, known)
        else:
            text = str(index.data() or "")
            quiet = text in QUIET or not known.runs
            colour = theme.muted if quiet else theme.soft
            align = _RIGHT if column.right else _LEFT
            room = visible_part(cell.adjusted(10, 0, -10, -1), edge, align)
            if room.isValid():
                write(painter, room, text or "–", colour, align=align)
        painter.restore()

    def editorEvent(self, *arguments: object) -> bool:
        """Ignored: the view ticks, because Qt expects the box elsewhere than it is painted."""
        return False

    def _paint_name(self, painter: QPainter, cell: QRectF, known: Known, *, chosen: bool) -> None:
        theme, rows = self._table.theme, self._table.rows
        on = known.id in rows.ticked and known.comparable
        box = QRectF(cell.left() + 12.5, cell.center().y() - 8.5, 16, 16)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = (theme.primary if on else theme.edge) if known.comparable else theme.line2
        painter.setPen(QPen(QColor(edge), 1.2))
        painter.setBrush(QColor(theme.primary if on else theme.sunken))
        painter.drawRoundedRect(box, 4, 4)
        if on:
            paint_icon(painter, "check", theme.on_primary, box.adjusted(2, 2, -2, -2))
        if chosen and self._table.focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.focus), 2))
            painter.drawRoundedRect(cell.adjusted(1, 1, -1, -2), 5, 5)
        elif chosen:
            mark_chosen(painter, cell, 6, QColor(theme.text))
        room = cell.adjusted(_NAME_AT_PX, 0, -_NAME_RIGHT_PX, -1)
        if known.own:
            unsaved = known.key in rows.unsaved
            tag_text = _TAGS[unsaved]
            wide = _tag_px(tag_text)
            tag = QRectF(room.right() - wide, cell.center().y() - 9, wide, 18)
            tone = theme.warn if unsaved else theme.soft
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.tinted(tone)))
            painter.drawRoundedRect(tag, 9, 9)
            write(painter, tag, tag_text, tone, size=11, align=Qt.AlignmentFlag.AlignCenter)
            room.setRight(tag.left() - _BEFORE_TAG_PX)
        colour = theme.text if known.runs else theme.muted
        write(painter, room, known.name, colour, weight=Weight.DemiBold, size=13)

    def _paint_state(self, painter: QPainter, cell: QRectF, known: Known) -> None:
        theme = self._table.theme
        colour = getattr(theme, known.state.tone)
        icon = icon_pixmap(known.state.icon, colour, 15)
        painter.drawPixmap(cell.topLeft().toPoint().x() + 10, int(cell.center().y() - 7), icon)
        room = cell.adjusted(31, 0, -6, -1)
        write(painter, room, known.state.word, colour, weight=Weight.Medium)


def name_px(known: Known) -> int:
    """Return the width of the column in which a server's name is seen whole, with any tag."""
    text = QFontMetricsF(font(13, Weight.DemiBold)).horizontalAdvance(known.name)
    tag = max(map(_tag_px, _TAGS)) + _BEFORE_TAG_PX if known.own else 0
    return ceil(_NAME_AT_PX + text + tag + _NAME_RIGHT_PX)


def _tag_px(text: str) -> float:
    return QFontMetricsF(font(11, Weight.Medium)).horizontalAdvance(text) + 12


def visible_part(room: QRectF, edge: float, align: Qt.AlignmentFlag) -> QRectF:
    """Return the visible part of a cell, so that elided text starts and ends there; invalid: too
    narrow for text, or a figure would be cut.
    """
    if room.left() >= 0 and room.right() <= edge:
        return room
    seen = room.intersected(QRectF(10, room.top(), edge - 14, room.height()))
    cut = align != _LEFT or seen.width() < _LEAST_TEXT_PX
    return QRectF() if cut else seen


def write(
    painter: QPainter,
    room: QRectF,
    text: str,
    colour: str,
    *,
    size: float = 12,
    weight: Weight = Weight.Normal,
    align: Qt.AlignmentFlag = _LEFT,
) -> None:
    """Draw a line of text, elided."""
    face = font(size, weight)
    painter.setFont(face)
    painter.setPen(QColor(colour))
    shown = QFontMetricsF(face).elidedText(text, Qt.TextElideMode.ElideRight, room.width() + 0.5)
    painter.drawText(room, int(align), shown)


def _triangle(x: float, y: float, up: float) -> list[QPointF]:
    return [QPointF(x - 3.5, y - up), QPointF(x + 3.5, y - up), QPointF(x, y + up)]

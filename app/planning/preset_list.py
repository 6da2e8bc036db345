"""The presets, each with a sketch of its sweep and its purpose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.plain import tip, wrapped
from app.theme import LIGHT, Theme, Weight, font, paint_icon
from workbench.plan.search import example

if TYPE_CHECKING:
    from workbench.plan.library import Preset
    from workbench.plan.model import Plan

_PRESET = Qt.ItemDataRole.UserRole
_STAIRS = Qt.ItemDataRole.UserRole + 1
_TALL, _HEAD = 76, 30
_BESIDE_TEXT = 61
"""The width of a plan's box beside its text."""
_MOST_STAIRS = 9
_CLAUSE = re.compile(r"[.:;,](?= )")
"""Where a description can be cut."""


class PresetList(QListWidget):
    """A click or Enter takes a preset."""

    taken = Signal(object)
    """A `Preset`."""

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self.setAccessibleName("Presets")
        self.setItemDelegate(_Painter(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.setMouseTracking(True)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setStyleSheet("QListView, QListView:focus { background: transparent; border: none; }")
        self.itemClicked.connect(self._take)
        self.itemActivated.connect(self._take)

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Show other presets; whoever goes through them by keys stays where they are."""
        current = self.currentItem()
        at = current.data(_PRESET).id if current is not None else self._id
        self.clear()
        group = ""
        for preset in presets:
            if preset.group != group:
                group = preset.group
                head = QListWidgetItem(group, self)
                head.setFlags(Qt.ItemFlag.NoItemFlags)
                head.setToolTip(tip(group))
            item = QListWidgetItem(preset.name, self)
            about = _about(preset)
            item.setData(_PRESET, preset)
            item.setData(_STAIRS, _stairs(preset.plan) if preset.plan else [])
            item.setToolTip(tip(about))
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, about)
        self._go_to(at)

    def mark(self, id: str) -> None:
        """Mark the preset that the plan was made from."""
        self._id = id
        self._go_to(id)

    def _go_to(self, id: str) -> None:
        for n in range(self.count()):
            preset = self.item(n).data(_PRESET)
            if preset is not None and preset.id == id:
                self.setCurrentRow(n)
                # The buttons that appear with it change the visible area.
                QTimer.singleShot(0, self, self._show_marked)
                return
        self.setCurrentRow(-1)

    def _show_marked(self) -> None:
        if (item := self.currentItem()) is not None:
            self.scrollToItem(item)

    @property
    def text_px(self) -> int:
        """Return the width in pixels for the text of a plan."""
        return self.viewport().width() - _BESIDE_TEXT

    @property
    def presets(self) -> list[Preset]:
        return [p for n in range(self.count()) if (p := self.item(n).data(_PRESET)) is not None]

    def preset(self, id: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.id == id), None)

    @property
    def marked(self) -> str:
        return self._id

    def set_theme(self, theme: Theme) -> None:
        self.itemDelegate().theme = theme  # type: ignore[attr-defined]
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus() and self.currentRow() < 0:
            painter = QPainter(self.viewport())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            theme: Theme = self.itemDelegate().theme  # type: ignore[attr-defined]
            painter.setPen(QPen(QColor(theme.focus), 2))
            painter.drawRoundedRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1), 8, 8)
            painter.end()

    def _take(self, item: QListWidgetItem) -> None:
        if (preset := item.data(_PRESET)) is not None:
            self.taken.emit(preset)


class _Painter(QStyledItemDelegate):
    def __init__(self, parent: PresetList) -> None:
        super().__init__(parent)
        self.theme = LIGHT

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        preset = index.data(_PRESET)
        if preset is None:
            return QSize(120, _HEAD)
        list_: PresetList = self.parent()  # type: ignore[assignment]
        names = len(wrapped(preset.name, font(13, Weight.DemiBold), list_.text_px))
        return QSize(120, _TALL + 17 * (min(names, 2) - 1))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme, preset = self.theme, index.data(_PRESET)
        rect = QRectF(option.rect)  # type: ignore[attr-defined]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if preset is None:
            painter.setFont(font(12, Weight.Medium))
            painter.setPen(QColor(theme.muted))
            box = rect.adjusted(4, 6, 0, 0)
            group, right = index.data(Qt.ItemDataRole.DisplayRole), Qt.TextElideMode.ElideRight
            text = painter.fontMetrics().elidedText(group, right, int(box.width()))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
            return
        list_: PresetList = self.parent()  # type: ignore[assignment]
        state = option.state  # type: ignore[attr-defined]
        chosen = preset.id == list_.marked
        current = bool(state & QStyle.StateFlag.State_Selected) and list_.hasFocus()
        hover = bool(state & QStyle.StateFlag.State_MouseOver)
        box = rect.adjusted(0.5, 1, -0.5, -7)
        edge = theme.focus if current else theme.text if chosen else theme.line
        painter.setPen(QPen(QColor(edge), 2 if current else 1))
        painter.setBrush(QColor(theme.raised if chosen or hover else theme.card))
        painter.drawRoundedRect(box, 8, 8)
        pen = QPen(QColor(theme.soft if preset.plan else theme.bad), 1.6)
        stairs = index.data(_STAIRS)
        at = QRectF(box.left() + 11, box.top() + 16, 28, box.height() - 32)
        if stairs:
            _paint_stairs(painter, stairs, at, pen)
        else:
            paint_icon(painter, "triangle-alert", theme.bad, QRectF(at.x() + 4, at.y() + 8, 20, 20))
        text_box = box.adjusted(50, 9, 51 - _BESIDE_TEXT, -8)
        painter.setFont(font(13, Weight.DemiBold))
        painter.setPen(QColor(theme.text))
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        names = _at_most_two(
            wrapped(preset.name, painter.font(), text_box.width()), painter, text_box
        )
        for name in names:
            painter.drawText(text_box, left, name)
            text_box.setTop(text_box.top() + 17)
        tone = theme.muted if preset.plan else theme.bad
        _paint_about(painter, text_box.adjusted(0, 1, 0, 0), _about(preset), tone)
        painter.restore()


def _at_most_two(lines: list[str], painter: QPainter, rect: QRectF) -> list[str]:
    right, size = Qt.TextElideMode.ElideRight, painter.fontMetrics()
    kept = [lines[0], " ".join(lines[1:])] if len(lines) > 1 else lines
    return [size.elidedText(line, right, int(rect.width())) for line in kept]


def _about(preset: Preset) -> str:
    """Return the purpose of a plan or, without a note, what it measures; or its file's problem."""
    if preset.plan is None:
        return preset.problem
    servers, axis = len(preset.plan.servers), preset.plan.axis
    counted = _counted(len(preset.plan.values), "rate" if axis.per_second else "point")
    measures = f"{_counted(servers, 'server')}, {counted}"
    return preset.plan.description or measures


def _counted(count: int, what: str) -> str:
    """Return "1 server" or "3 servers"."""
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def _paint_about(painter: QPainter, rect: QRectF, text: str, colour: str) -> None:
    painter.setFont(font(12))
    painter.setPen(QColor(colour))
    for place, line in enumerate(two_lines(text, painter.font(), rect.width())):
        room = QRectF(rect.left(), rect.top() + place * 15, rect.width(), 16)
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, line)


def two_lines(text: str, size: QFont, width: float) -> list[str]:
    """Return as many clauses of a text as fit in two lines; a first one too long is elided."""
    ends = [match.start() for match in _CLAUSE.finditer(text)]
    candidates = [wrapped(text[:end], size, width) for end in [*ends, len(text)]]
    fitting = next((each for each in reversed(candidates) if len(each) <= 2), None)
    return fitting or wrapped(text[: [*ends, len(text)][0]], size, width, 2)


def _stairs(plan: Plan) -> list[float]:
    """Heights from 0 to 1 that show what kind of sweep it is."""
    values = [point.x for point in example(plan)] if plan.search else plan.values
    if len(values) == 1:
        return [0.7]
    every = max(1.0, len(values) / _MOST_STAIRS)
    chosen = [values[int(n * every)] for n in range(min(_MOST_STAIRS, len(values)))]
    return [0.08 + 0.92 * value / max(values) for value in chosen]


def _paint_stairs(painter: QPainter, heights: Sequence[float], rect: QRectF, pen: QPen) -> None:
    """Paint a small sketch of a sweep: a staircase through `heights` (0 to 1)."""
    each = rect.width() / max(1, len(heights))
    corners = [rect.bottomLeft()]
    for place, high in enumerate(heights):
        y = rect.bottom() - high * rect.height()
        left = rect.left() + place * each
        corners += [QPointF(left, y), QPointF(left + each, y)]
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(corners))

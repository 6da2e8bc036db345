"""The servers of a plan in their order, each with the style of its line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QApplication, QGridLayout, QSizePolicy, QWidget

from app.charts.drawing import draw_swatch, elided
from app.painted import Painting
from app.plain import tip
from app.theme import LIGHT, Theme, Weight, font, icon_pixmap

_CROSS = 26
ROW = 36
_LEAST = 190
_MOST_ACROSS = 4


class Tags(QWidget):
    """Tags are moved by dragging or Alt and an arrow key, and removed by their cross or Delete."""

    grown = Signal(int)
    """The number of rows has changed."""
    moved = Signal(int, int)
    removed = Signal(int)
    focused = Signal(object)
    """The tag to scroll to."""

    def __init__(self) -> None:
        super().__init__()
        self._theme = LIGHT
        self._tags: list[Tag] = []
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(6)

    def show_servers(self, servers: Sequence[tuple[str, bool]]) -> None:
        """Show servers: their names, and whether they can run."""
        while len(self._tags) > len(servers):
            gone = self._tags.pop()
            self._grid.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        while len(self._tags) < len(servers):
            made = Tag(len(self._tags), self._theme)
            made.moved.connect(self._move)
            made.dropped.connect(self._drop)
            made.removed.connect(self.removed)
            self._tags.append(made)
        for tag, (name, usable) in zip(self._tags, servers, strict=True):
            tag.show_text(name, usable)
        self._across = 0
        self._arrange()

    def chain_after(self, widget: QWidget) -> None:
        """Set the widget from which Tab leads here: new widgets are last in the tab order."""
        for before, after in pairwise([widget, *self._tags]):
            QWidget.setTabOrder(before, after)

    def focus(self, place: int) -> None:
        """Focus the tag at this place, or the last."""
        if self._tags:
            tag = self._tags[min(place, len(self._tags) - 1)]
            tag.setFocus()
            self.focused.emit(tag)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def resizeEvent(self, event: object) -> None:
        self._arrange()

    def _arrange(self) -> None:
        across = max(1, min(_MOST_ACROSS, (self.width() + 6) // (_LEAST + 6)))
        if across == self._across:
            return
        self._across = across
        for column in range(_MOST_ACROSS):
            self._grid.setColumnStretch(column, int(column < across))
        for place, tag in enumerate(self._tags):
            self._grid.addWidget(tag, place // across, place % across)
        rows = -(-len(self._tags) // across)
        self.setFixedHeight(max(0, rows * ROW - 6))
        self.grown.emit(rows)

    def _move(self, place: int, by: int) -> None:
        to = place + by * (1 if abs(by) == 1 else self._across)
        if 0 <= to < len(self._tags):
            self.moved.emit(place, to)
            self.focus(to)

    def _drop(self, place: int, at: object) -> None:
        for to, tag in enumerate(self._tags):
            if tag.geometry().contains(at) and to != place:  # type: ignore[arg-type]
                self.moved.emit(place, to)
                self.focus(to)


class Tag(Painting, QAbstractButton):
    """One server."""

    moved = Signal(int, int)
    """By one (1) or by a row (2), forward or back."""
    dropped = Signal(int, object)
    """Dropped at a position of the parent's."""
    removed = Signal(int)

    def __init__(self, place: int, theme: Theme) -> None:
        super().__init__()
        self._place, self.theme, self._usable = place, theme, True
        self._pressed_at: QPointF | None = None
        self._drag: QPointF | None = None
        self.setFixedHeight(30)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)

    def show_text(self, name: str, usable: bool) -> None:
        self._usable = usable
        self.setText(name)
        self.setToolTip(tip(f"{name}. Drag to reorder, or click the cross to remove."))
        self.setAccessibleName(f"{name}, number {self._place + 1}")
        self.setAccessibleDescription("Delete removes it, Alt+arrow key moves it")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_LEAST, 30)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, alt = event.key(), event.modifiers() & Qt.KeyboardModifier.AltModifier
        steps = {
            Qt.Key.Key_Left: -1,
            Qt.Key.Key_Right: 1,
            Qt.Key.Key_Up: -2,
            Qt.Key.Key_Down: 2,
        }
        if key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(self._place)
        elif alt and key in steps:
            self.moved.emit(self._place, steps[Qt.Key(key)])
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed_at = event.position()
            self.setFocus()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed_at is not None:
            way = (event.position() - self._pressed_at).manhattanLength()
            if way >= QApplication.startDragDistance() or self._drag is not None:
                self._drag = event.position()
                self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, dragged = self._pressed_at, self._drag
        self._pressed_at = self._drag = None
        self.unsetCursor()
        if dragged is not None:
            self.dropped.emit(self._place, self.mapToParent(event.position().toPoint()))
        elif pressed is not None and self._cross().contains(event.position().toPoint()):
            self.removed.emit(self._place)
        self.update()

    def leaveEvent(self, event: object) -> None:
        self.update()

    def paint(self, painter: QPainter) -> None:
        theme = self.theme
        ring = self.hasFocus()
        edge = theme.focus if ring else theme.line2 if self._usable else theme.bad
        painter.setPen(QPen(QColor(edge), 2 if ring else 1))
        painter.setBrush(QColor(theme.raised if self._drag is not None else theme.sunken))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 7, 7)
        style = theme.series(self._place)
        draw_swatch(painter, style, QRectF(9, 8, 28, 14), theme.sunken)
        painter.setFont(font(12, Weight.Medium))
        painter.setPen(QColor(theme.text if self._usable else theme.bad))
        room = self.rect().adjusted(44, 0, -_CROSS, 0)
        text = elided(self.text(), painter.font(), room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        at = self.mapFromGlobal(self.cursor().pos())
        strong = self.underMouse() and self._cross().contains(at)
        cross = icon_pixmap("x", theme.text if strong else theme.muted, 14)
        painter.drawPixmap(self._cross().center() + QPointF(-6, -6).toPoint(), cross)

    def _cross(self) -> QRect:
        return QRect(self.width() - _CROSS, 0, _CROSS, self.height())

"""The command palette: a field and a list over the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFontMetrics,
    QKeyEvent,
    QPainter,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.colour import mix
from app.planning import resources
from app.shell.palette_sources import Entry, entries, find
from app.theme import Weight, current, font, icon_pixmap
from app.widgets import column, label

if TYPE_CHECKING:
    from app.planning.resources import PlanResources
    from app.shell.paged_window import PagedWindow

_KEPT, _MOST_KEPT = "palette", 8
"""The setting with the entries run last, and how many it remembers."""
RECENT = "Recent"
_READ_AFTER_MS = 200
"""Not while it opens: reading takes time from painting."""
_WIDTH, _HIGHEST, _MARGIN = 680, 520, 24
_TALL, _HEAD = 34, 28
_ENTRY = Qt.ItemDataRole.UserRole
_HEADED = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class Palette(QFrame):
    """`open` shows it. Enter runs the chosen entry; Escape or a click beside it closes it."""

    def __init__(self, window: PagedWindow) -> None:
        super().__init__(window)
        self.setObjectName("floating")
        self._window, self._desk = window, window.desk
        self._resources: PlanResources | None = None
        self._entries: list[Entry] = []
        self._before: QWidget | None = None
        inside = column(self, margin=8, gap=6)
        self._field = QLineEdit()
        self._field.setPlaceholderText("Find an action, page, server, session, preset or setting")
        self._field.setAccessibleName("Find")
        self._field.textChanged.connect(lambda _: self._sift())
        self._model = _Entries(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_Painter(self._list))
        self._list.setAccessibleName("Found")
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._list.setStyleSheet("QListView { background: transparent; border: none; }")
        self._list.clicked.connect(self._run)
        self._list.selectionModel().currentChanged.connect(self._announce)
        self._none = label("", tone="soft")
        self._none.setContentsMargins(12, 8, 12, 8)
        self._hint = label("↑ ↓ choose    Enter run    Esc close", 11, tone="muted")
        self._hint.setContentsMargins(12, 0, 12, 2)
        for each in (self._field, self._none, self._list, self._hint):
            inside.addWidget(each, 1 if each is self._list else 0)
        self._reading = QTimer(self, singleShot=True, interval=_READ_AFTER_MS)
        self._reading.timeout.connect(self._read)
        self._desk.resources_read.connect(self._on_resources)
        self.hide()

    def open(self) -> None:
        """Show what can be done now. Servers, presets and machines are read again meanwhile."""
        self._before = QApplication.focusWidget()
        self._list_all()
        self.show()
        self.raise_()
        QApplication.instance().installEventFilter(self)
        self._field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._reading.start()

    def close_again(self) -> None:
        """Hide it, and give the focus back."""
        if self.isVisible():
            self.hide()
            if self._before is not None and self._before.isVisible():
                self._before.setFocus()
            elif self._window.shown is not None:
                self._window.shown.setFocus()

    @property
    def found(self) -> list[Entry]:
        """Return the entries listed now."""
        return self._model.entries

    # Events

    def hideEvent(self, event: object) -> None:
        QApplication.instance().removeEventFilter(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep keys from the pages below."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_again()

    def focusNextPrevChild(self, forward: bool) -> bool:
        self._move(1 if forward else -1)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While it is visible, of the whole application."""
        kind = event.type()
        if watched is self._field and kind == QEvent.Type.KeyPress:
            return isinstance(event, QKeyEvent) and self._key(event)
        if watched is self._window and kind == QEvent.Type.Resize:
            self._fit()
        elif kind == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            if watched is not self and not self.isAncestorOf(watched):
                self.hide()
        elif (
            watched is self._field
            and kind == QEvent.Type.FocusOut
            and self.window().isActiveWindow()
        ):
            self.hide()  # a shortcut has shown another page
        return False

    def _key(self, event: QKeyEvent) -> bool:
        rows = max(1, self._list.height() // _TALL - 1)
        moves = {
            Qt.Key.Key_Down: 1,
            Qt.Key.Key_Up: -1,
            Qt.Key.Key_PageDown: rows,
            Qt.Key.Key_PageUp: -rows,
        }
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self._list.currentIndex())
        elif event.key() in moves:
            self._move(moves[Qt.Key(event.key())])
        else:
            return False
        return True

    def _move(self, by: int) -> None:
        rows = self._model.rowCount()
        if rows:
            at = self._list.currentIndex().row() + by
            # One step beyond an end leads to the other.
            at = at % rows if abs(by) == 1 else min(max(at, 0), rows - 1)
            self._list.setCurrentIndex(self._model.index(at))

    def _fit(self) -> None:
        area = self._window.rect()
        rows = self._model.rowCount()
        heads = sum(self._model.is_headed(row) for row in range(rows))
        wanted = 96 + rows * _TALL + heads * _HEAD if rows else self.sizeHint().height()
        width = min(_WIDTH, area.width() - 2 * _MARGIN)
        height = min(wanted, _HIGHEST, area.height() - 4 * _MARGIN)
        top = max(_MARGIN, min(area.height() // 8, 120))
        self.setGeometry((area.width() - width) // 2, top, width, height)

    # Content

    def _list_all(self) -> None:
        self._entries = entries(self._window, self._resources)
        self._field.clear()
        self._sift()
        self._fit()

    def _sift(self) -> None:
        typed = self._field.text().strip()
        kept = self._kept()
        found = find(self._entries, typed, kept)
        if not typed:
            known = {entry.id: entry for entry in self._entries}
            latest = [known[id_] for id_ in kept if id_ in known][:5]
            found = [*latest, *(entry for entry in found if entry not in latest)]
        self._model.show_entries(found, 0 if typed else min(5, len(kept)))
        if found:
            self._list.setCurrentIndex(self._model.index(0))
            self._list.scrollToTop()
        self._none.setText("" if found else f"Nothing matches “{typed}”.")
        self._none.setVisible(not found)
        self._list.setVisible(bool(found))
        if self.isVisible():
            self._fit()

    def _read(self) -> None:
        if self.isVisible():
            self._desk.bridge.submit(resources.load(), self._on_resources)

    def _on_resources(self, found: PlanResources) -> None:
        self._resources = found
        if not self.isVisible():
            return
        current = self._list.currentIndex().row()
        chosen = self.found[current].id if current >= 0 else ""
        ids = [entry.id for entry in self.found]
        self._entries = entries(self._window, found)
        self._sift()
        ids = [entry.id for entry in self.found]
        if chosen in ids:
            self._list.setCurrentIndex(self._model.index(ids.index(chosen)))

    def _run(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry: Entry = index.data(_ENTRY)
        kept = [id_ for id_ in self._kept() if id_ != entry.id]
        self._desk.settings.more[_KEPT] = [entry.id, *kept][:_MOST_KEPT]
        self.close_again()
        entry.run()

    def _kept(self) -> list[str]:
        kept = self._desk.settings.more.get(_KEPT)
        return [str(id_) for id_ in kept] if isinstance(kept, list) else []

    def _announce(self, current: QModelIndex) -> None:
        """Have a screen reader say the entry: the focus stays in the field."""
        if current.isValid() and self.isVisible():
            text = f"{current.data()}, {current.data(Qt.ItemDataRole.AccessibleDescriptionRole)}"
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._field, text))


class _Entries(QAbstractListModel):
    """The entries found; the first of each group is headed by its name."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.entries: list[Entry] = []
        self._recent = 0

    def show_entries(self, entries: Sequence[Entry], recent: int) -> None:
        """`recent`: how many of the first are shown as run last."""
        self.beginResetModel()
        self.entries, self._recent = list(entries), recent
        self.endResetModel()

    def group(self, row: int) -> str:
        return RECENT if row < self._recent else self.entries[row].group

    def is_headed(self, row: int) -> bool:
        return row == 0 or self.group(row) != self.group(row - 1)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entries[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return entry.text
        if role == Qt.ItemDataRole.AccessibleDescriptionRole:
            return ", ".join(filter(None, (entry.group, entry.about, entry.keys)))
        if role == _ENTRY:
            return entry
        if role == _HEADED:
            return self.group(index.row()) if self.is_headed(index.row()) else ""
        return None


class _Painter(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(100, _TALL + (_HEAD if index.data(_HEADED) else 0))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        theme, entry = current(), index.data(_ENTRY)
        rect: QRect = option.rect  # type: ignore[attr-defined]
        state = option.state  # type: ignore[attr-defined]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle = Qt.AlignmentFlag.AlignVCenter
        if head := index.data(_HEADED):
            painter.setFont(font(11, Weight.Medium))
            painter.setPen(QColor(theme.muted))
            top = QRect(rect.left() + 12, rect.top() + 4, rect.width() - 24, _HEAD - 4)
            painter.drawText(top, middle, head)
            rect = rect.adjusted(0, _HEAD, 0, 0)
        on = bool(state & QStyle.StateFlag.State_Selected)
        if on or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(mix(theme.floating, theme.text, 0.12 if on else 0.05)))
            painter.drawRoundedRect(QRectF(rect).adjusted(2, 1, -2, -1), 7, 7)
        left, right = rect.left() + 12, rect.right() - 12
        colour = theme.text if on else theme.soft
        painter.drawPixmap(left, rect.center().y() - 7, icon_pixmap(entry.icon, colour, 16))
        left += 28
        if entry.keys:
            painter.setFont(font(12, mono=True))
            painter.setPen(QColor(theme.soft))
            wide = painter.fontMetrics().horizontalAdvance(entry.keys)
            painter.drawText(
                QRect(right - wide, rect.top(), wide, rect.height()), middle, entry.keys
            )
            right -= wide + 16
        left += _write(painter, QRect(left, rect.top(), right - left, rect.height()), entry.text,
                       font(13, Weight.Medium), theme.text) + 12  # fmt: skip
        if entry.about and right - left > 60:
            beside = QRect(left, rect.top(), right - left, rect.height())
            _write(painter, beside, entry.about, font(12), theme.muted)
        painter.restore()


def _write(painter: QPainter, rect: QRect, text: str, size: Any, colour: str) -> int:
    """Write a line, elided where there is no room for it; return its width."""
    painter.setFont(size)
    painter.setPen(QColor(colour))
    shown = QFontMetrics(size).elidedText(text, Qt.TextElideMode.ElideRight, rect.width())
    painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, shown)
    return QFontMetrics(size).horizontalAdvance(shown)

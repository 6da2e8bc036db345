"""The list of all servers, with a search and check boxes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.charts.drawing import draw_text, elided
from app.choices import draw_tick
from app.plain import tip
from app.theme import LIGHT, Theme, font
from app.widgets import column, label
from workbench.servers.entry import ServerEntry
from workbench.workloads.registry import ALL_FAMILIES, declaration

_ENTRY = Qt.ItemDataRole.UserRole
_ABOUT = Qt.ItemDataRole.UserRole + 1
_WHY = Qt.ItemDataRole.UserRole + 2
"""Why it cannot be used; empty: it can."""
_LEAST, _SHARE = 220, 0.4
"""Of the list's height, in pixels and of the page."""


class Picker(QFrame):
    """Typing narrows the list, Space or Enter ticks, Escape closes."""

    ticked = Signal(str, bool)
    done = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sunken")
        inside = column(self, margin=10, gap=8)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search by name, family, style or language")
        self.search.setAccessibleName("Search servers")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        inside.addWidget(self.search)
        self.list = QListWidget()
        self.list.setAccessibleName("All servers")
        self.list.setFixedHeight(_LEAST)
        self.list.setStyleSheet("QListView { background: transparent; }")
        self.list.itemChanged.connect(self._on_changed)
        self.list.itemClicked.connect(self._toggle)
        self.list.setMouseTracking(True)
        self._painter = _Painter(self.list)
        self.list.setItemDelegate(self._painter)
        self.list.installEventFilter(self)
        inside.addWidget(self.list)
        self._none = label("No server matches.", 12, tone="muted")
        self._none.hide()
        inside.addWidget(self._none)

    def set_entries(self, entries: Sequence[ServerEntry]) -> None:
        """List other servers; whoever goes through them by keys stays where they are."""
        current = self.list.currentItem()
        at = current.data(_ENTRY).id if current is not None else ""
        families = list(ALL_FAMILIES)
        with QSignalBlocker(self.list):
            self.list.clear()
            for entry in sorted(
                entries, key=lambda e: (families.index(e.family), e.name.casefold())
            ):
                item = QListWidgetItem(entry.name, self.list)
                about = ALL_FAMILIES[entry.family], entry.language, entry.style
                item.setData(_ENTRY, entry)
                item.setData(_ABOUT, " · ".join(filter(None, about)))
                gone = entry.unavailable
                item.setToolTip(tip(gone.reason if gone else entry.description))
                item.setCheckState(Qt.CheckState.Unchecked)
        self._filter(self.search.text())
        for item in self._items():
            if item.data(_ENTRY).id == at and not item.isHidden():
                self.list.setCurrentItem(item)

    def show_ticks(self, ids: Sequence[str], protocol: str) -> None:
        with QSignalBlocker(self.list):
            for item in self._items():
                entry: ServerEntry = item.data(_ENTRY)
                on = entry.id in ids
                item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                if entry.unavailable:
                    why = entry.unavailable.word
                else:
                    fits = declaration(protocol).serves(protocol, entry.protocols)
                    why = "" if fits else f"no {protocol}"
                item.setData(_WHY, why)
                about = ", ".join(filter(None, [item.data(_ABOUT), why]))
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {about}")

    def set_theme(self, theme: Theme) -> None:
        self._painter.theme = theme
        self.list.viewport().update()

    def fit(self, height: int) -> None:
        """Use the room of a page of this height in pixels."""
        self.list.setFixedHeight(max(_LEAST, int(_SHARE * height)))

    def start(self) -> None:
        """Open with an empty search."""
        self.search.clear()
        self.list.setCurrentRow(0)
        self.search.setFocus()

    def eventFilter(self, watched: object, event: object) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QKeyEvent.Type.KeyPress:
            return False
        key, current, searching = event.key(), self.list.currentItem(), watched is self.search
        if key == Qt.Key.Key_Escape:
            self.done.emit()
        elif key == Qt.Key.Key_Down and searching:
            self.list.setFocus()
        elif key == Qt.Key.Key_Return or (key == Qt.Key.Key_Space and not searching):
            # While somebody searches, the current one is the first that matches.
            if current is not None and not current.isHidden():
                self._toggle(current)
        else:
            return False
        return True

    def _toggle(self, item: QListWidgetItem) -> None:
        on = item.checkState() == Qt.CheckState.Checked
        item.setCheckState(Qt.CheckState.Unchecked if on else Qt.CheckState.Checked)

    def _on_changed(self, item: QListWidgetItem) -> None:
        self.ticked.emit(item.data(_ENTRY).id, item.checkState() == Qt.CheckState.Checked)

    def _filter(self, wanted: str) -> None:
        parts = wanted.casefold().split()
        for item in self._items():
            entry: ServerEntry = item.data(_ENTRY)
            said = f"{entry.id} {entry.name} {item.data(_ABOUT)} {entry.description}".casefold()
            item.setHidden(not all(part in said for part in parts))
        shown = [item for item in self._items() if not item.isHidden()]
        self._none.setVisible(not shown)
        if shown:
            self.list.setCurrentItem(shown[0])

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(n) for n in range(self.list.count())]


class _Painter(QStyledItemDelegate):
    """Paints a check box, a name and a description; muted if the server cannot be used."""

    theme = LIGHT

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        return QSize(100, 28)

    def editorEvent(self, *_: object) -> bool:
        """Ignored: the list itself ticks, wherever a row is clicked."""
        return False

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        theme, rect = self.theme, QRectF(option.rect)  # type: ignore[attr-defined]
        state = option.state  # type: ignore[attr-defined]
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.raised if theme.dark else theme.line))
            painter.drawRoundedRect(rect.adjusted(0, 1, 0, -1), 5, 5)
        value = index.data(Qt.ItemDataRole.CheckStateRole)
        on = value in (Qt.CheckState.Checked, Qt.CheckState.Checked.value)
        draw_tick(painter, theme, QRectF(rect.left() + 8, rect.center().y() - 8, 16, 16), on=on)
        why, small = index.data(_WHY), font(12)
        right = rect.right() - 8
        if why:
            at = QPointF(right, rect.center().y())
            right -= draw_text(painter, at, why, small, theme.warn, "right") + 10
        at = QPointF(rect.left() + 34, rect.center().y())
        name = elided(index.data(), font(13), right - at.x())
        width = draw_text(painter, at, name, font(13), theme.muted if why else theme.text)
        at += QPointF(width + 10, 0)
        about = elided(index.data(_ABOUT), small, max(0.0, right - at.x()))
        draw_text(painter, at, about, small, theme.muted)
        painter.restore()

"""Chooses sessions to compare: those of this computer, with a search, or any file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.dialogs import SESSION_FILES, Dialog, ask_file
from app.painted import mark_chosen
from app.plain import tip
from app.widgets import button, column, frame, label, row, search_field
from app.words import ended, told_apart, when
from workbench import paths
from workbench.sessions.library import Shelved

_PATH = Qt.ItemDataRole.UserRole
_SERVERS = 3
"""The column of server names."""


class Chooser(Dialog):
    """Several sessions may be chosen; those in the comparison are not offered."""

    chosen = Signal(object)
    """A list of paths."""

    def __init__(self, parent: QWidget, shelf: Sequence[Shelved], taken: Collection[Path]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Add sessions")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(760, 460)
        inside = column(self, margin=16, gap=10)
        hint = "Search by name, server, machine or day"
        self._search = search_field("Search sessions", hint, self._filter)
        inside.addWidget(self._search)
        self._list = QTreeWidget()
        self._list.setAccessibleName("Sessions")
        self._list.setHeaderLabels(("Session", "Started", "Machine", "Servers"))
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setAllColumnsShowFocus(True)
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.setStyleSheet(
            "QTreeView::item { min-height: 34px; } QHeaderView::section { padding: 4px 11px; }"
        )
        self._marking = _Marking(self._list)
        self._list.setItemDelegateForColumn(0, self._marking)
        taken_paths = {path.resolve() for path in taken}
        offered = [s for s in shelf if s.start is not None and s.path.resolve() not in taken_paths]
        names = told_apart([(each.title, each.start, each.path) for each in shelf])
        for session in offered:
            self._list.addTopLevelItem(_item(session, names[session.path]))
        header = self._list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.itemActivated.connect(lambda *_: self._take())
        self._list.itemSelectionChanged.connect(self._on_selected)
        card = frame()
        column(card, margin=8).addWidget(self._list)
        inside.addWidget(card, 1)
        none = (
            "Your sessions appear here."
            if not shelf
            else "All sessions are already in the comparison."
        )
        self._none = label(none, tone="soft")
        self._none.setVisible(not self._list.topLevelItemCount())
        inside.addWidget(self._none)
        foot = row()
        foot.addWidget(button("Open a file…", "folder-open", on_click=self._browse))
        foot.addStretch()
        foot.addWidget(button("Cancel", on_click=self.reject))
        self._add = button("Add", "plus", kind="primary", on_click=self._take)
        self._add.setEnabled(False)
        foot.addWidget(self._add)
        inside.addLayout(foot)
        self._filter("")
        self._search.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from the search into the list with the arrow keys."""
        if event.key() == Qt.Key.Key_Down and self._search.hasFocus():
            self._list.setFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take()
        else:
            super().keyPressEvent(event)

    def _on_selected(self) -> None:
        self._add.setEnabled(bool(self._list.selectedItems()))

    def _filter(self, search: str) -> None:
        items = [self._list.topLevelItem(n) for n in range(self._list.topLevelItemCount())]
        for item in items:
            texts = " ".join(item.text(n) for n in range(self._list.columnCount()))
            texts += f" {item.toolTip(_SERVERS)}"  # their names
            item.setHidden(search.casefold() not in texts.casefold())
        self._list.clearSelection()
        first = next((item for item in items if not item.isHidden()), None)
        if first is not None:
            self._list.setCurrentItem(first)

    def _take(self) -> None:
        found = [item.data(0, _PATH) for item in self._list.selectedItems() if not item.isHidden()]
        if found:
            self.chosen.emit(found)
            self.accept()

    def _browse(self) -> None:
        sessions = paths.data_dir() / "sessions"
        dialog = ask_file(self, "Add sessions", lambda _: None, start=sessions, kind=SESSION_FILES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self._on_files)

    def _on_files(self, files: Sequence[str]) -> None:
        self.chosen.emit([Path(file) for file in files])
        self.accept()


class _Marking(QStyledItemDelegate):
    """Marks what is selected with a bar, as in the list of sessions."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        if option.state & QStyle.StateFlag.State_Selected:
            mark_chosen(painter, QRectF(option.rect), 4, option.palette.text().color())


def _item(session: Shelved, name: str) -> QTreeWidgetItem:
    start = session.start
    assert start is not None
    targets = ", ".join(m.name for m in start.machines if "target" in m.roles)
    servers = ", ".join(record.name for record in start.servers)
    passes = start.plan.get("repeats", 1)
    count = f"{len(start.servers)}{f' · {passes} passes' if passes > 1 else ''}"
    item = QTreeWidgetItem([name, when(start), targets, count])
    item.setData(0, _PATH, session.path)
    item.setToolTip(0, tip(str(session.path)))
    item.setToolTip(1, tip(ended(session)))
    item.setToolTip(_SERVERS, tip(servers))
    return item

"""The list of what was recorded on this computer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column, frame, label
from app.words import ended, when
from workbench import wording
from workbench.shelf import Shelved

_COLUMNS = ("Session", "Begun", "Servers", "Ended", "Size")
_PATH = Qt.ItemDataRole.UserRole


class SessionsPage(QWidget):
    """Latest first; a double click or Enter opens."""

    open_wanted = Signal(object)
    """A path; None: ask which."""

    def __init__(self) -> None:
        super().__init__()
        outer = column(self)
        top = TopBar("Sessions")
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search")
        self._search.setAccessibleName("Search sessions")
        self._search.setFixedWidth(220)
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._filter)
        top.actions.addWidget(self._search)
        top.actions.addWidget(
            button("Open a file…", "folder-open", on_click=lambda: self.open_wanted.emit(None))
        )
        outer.addWidget(top)
        inside = QVBoxLayout()
        inside.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        inside.setSpacing(GAP)
        outer.addLayout(inside, 1)
        self.error = Inline()
        inside.addWidget(self.error)
        card = frame()
        body = column(card, margin=12, gap=8)
        self._empty = label("Sessions you run appear here; any other can be opened.", tone="soft")
        body.addWidget(self._empty)
        self._list = QTreeWidget()
        self._list.setAccessibleName("Sessions")
        self._list.setColumnCount(len(_COLUMNS))
        self._list.setHeaderLabels(_COLUMNS)
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._list.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setStyleSheet("QTreeView::item { min-height: 34px; }")
        header = self._list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._list.itemActivated.connect(lambda item: self.open_wanted.emit(item.data(0, _PATH)))
        body.addWidget(self._list, 1)
        inside.addWidget(card, 1)

    def show_sessions(self, sessions: Sequence[Shelved]) -> None:
        self._list.clear()
        for session in sessions:
            self._list.addTopLevelItem(_item(session))
        self._empty.setVisible(not sessions)
        self._list.setVisible(bool(sessions))
        self._filter(self._search.text())

    def paths(self) -> list[Path]:
        """Those listed and not filtered away."""
        items = (self._list.topLevelItem(n) for n in range(self._list.topLevelItemCount()))
        return [item.data(0, _PATH) for item in items if item and not item.isHidden()]

    def search(self) -> None:
        """Put the cursor into the search field."""
        self._search.setFocus()

    def _filter(self, wanted: str) -> None:
        for n in range(self._list.topLevelItemCount()):
            item = self._list.topLevelItem(n)
            text = " ".join(item.text(c) for c in range(len(_COLUMNS)))
            item.setHidden(wanted.casefold() not in text.casefold())


def _item(session: Shelved) -> QTreeWidgetItem:
    start = session.start
    name = str(start.plan.get("name") or session.path.name) if start else session.path.name
    servers = ", ".join(record.name for record in start.servers) if start else ""
    size = wording.megabytes(session.size_bytes)
    if session.size_bytes < 1_000_000:
        size = f"{session.size_bytes / 1e3:,.0f} kB"
    item = QTreeWidgetItem([name, when(start), servers, ended(session), size])
    item.setData(0, _PATH, session.path)
    item.setToolTip(0, session.problem or str(session.path))
    item.setToolTip(2, servers)
    item.setTextAlignment(4, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item

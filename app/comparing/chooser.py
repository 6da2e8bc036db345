"""Chooses sessions to compare: those of this computer, with a search, or any file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from app.context import Desk
from app.dialogs import SESSION_FILES, Dialog, ask_file
from app.sessions.table import Found, SessionsModel, SessionsView
from app.widgets import beside, button, column, frame, label, search_field
from workbench import paths

_STARTED = 1
_AROUND = 48
"""Pixels beside the columns of the list."""


class Chooser(Dialog):
    """Several sessions may be chosen; those in the comparison are not offered."""

    chosen = Signal(object)
    """A list of paths."""

    def __init__(self, parent: QWidget, desk: Desk, taken: Collection[Path]) -> None:
        super().__init__(parent)
        self.setWindowTitle("Add sessions")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(860, 520)
        hint = "Search by name, server, machine or day"
        self._search = search_field("Search sessions", hint, self._filter)
        self._model = SessionsModel()
        self._found = Found(self._model)
        taken_paths = {path.resolve() for path in taken}
        offered = [each for each in desk.shelf if each.path.resolve() not in taken_paths]
        self._model.set_sessions([each for each in offered if each.start is not None])
        self._list = SessionsView(desk, self._found)
        self._list.sortByColumn(_STARTED, Qt.SortOrder.DescendingOrder)
        self._list.activated.connect(lambda _: self._take())
        self._list.selectionModel().selectionChanged.connect(self._on_selected)
        column(card := frame(), self._list)
        others = "All sessions are already in the comparison."
        self._none = label(others if desk.shelf else "Your sessions appear here.", tone="soft")
        self._none.setVisible(not self._model.sessions)
        browse = button("Open a file…", "folder-open", on_click=self._browse)
        self._add = button("Add", "plus", kind="primary", on_click=self._take)
        foot = beside(browse, None, button("Cancel", on_click=self.reject), self._add)
        column(self, self._search, (card, 1), self._none, foot, margin=16, gap=10)
        self._filter("")
        self._search.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and self._search.hasFocus():
            self._list.setFocus()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._list.arrange(self.width() - _AROUND)

    def _on_selected(self) -> None:
        self._add.setEnabled(self._list.selectionModel().hasSelection())

    def _filter(self, search: str) -> None:
        self._found.search(search)
        self._list.selectRow(0)
        self._on_selected()

    def _take(self) -> None:
        rows = sorted(index.row() for index in self._list.selectionModel().selectedRows())
        if rows:
            self.chosen.emit([self._found.session(place).path for place in rows])
            self.accept()

    def _browse(self) -> None:
        sessions = paths.data_dir() / "sessions"
        dialog = ask_file(self, "Add sessions", lambda _: None, start=sessions, kind=SESSION_FILES)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(self._on_files)

    def _on_files(self, files: Sequence[str]) -> None:
        self.chosen.emit([Path(file) for file in files])
        self.accept()

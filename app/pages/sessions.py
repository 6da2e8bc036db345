"""The Sessions page: the sessions recorded on this computer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import folders
from app.context import Desk
from app.export.dialog import ask
from app.export.sources import Recorded
from app.history import History, UndoBar
from app.scrolling import lay, stacked, widen
from app.sessions.card import SessionCard
from app.sessions.rerun import run_again
from app.sessions.table import COLUMNS, Found, SessionsModel, SessionsView
from app.widgets import (
    GAP,
    PAGE_MARGIN,
    Inline,
    TopBar,
    beside,
    button,
    column,
    fill,
    frame,
    label,
    search_field,
    stack,
)
from workbench import trash
from workbench.errors import PongbenchError
from workbench.formatting import number_of
from workbench.plan.reading import plan_of_session
from workbench.sessions.labels import Label, Titles
from workbench.sessions.library import Shelved

REFRESH_EVERY_MS = 3000
"""How often new sessions are looked for while the page is visible."""
_SIDE, _NARROW_SIDE, _NARROW = 330, 286, 1100
_CARD_PX, _REST_PX = 640, 104
"""The heights of the card below the list, and of what is around both then."""


class SessionsPage(QWidget):
    """Latest first. A double click or Enter opens a session; several are compared."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._top = TopBar("Sessions")
        hint = "Search titles, notes, servers"
        self._search = search_field("Search sessions", hint, self._on_search)
        self._search.setFixedWidth(260)
        other = button(
            "Open a file…", "folder-open", on_click=lambda: desk.open_requested.emit(None)
        )
        other.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        fill(self._top.actions, self._search, other)
        self.error = Inline()
        self._model = SessionsModel()
        self._found = Found(self._model)
        self._list = SessionsView(desk, self._found)
        self._list.activated.connect(lambda _: self.open_chosen())
        self._list.selectionModel().selectionChanged.connect(lambda *_: self._on_chosen())
        self.card = SessionCard(
            desk,
            {
                "Replay": ("film", self.open_chosen),
                "Run again": ("rotate-cw", self.run_this),
                "Compare": ("git-compare", self.compare),
                "Export…": ("share-2", self.export),
                "Show in folder": ("folder-open", self.reveal),
                "Edit the plan": ("pencil", self.edit_plan),
                "Move to trash": ("trash-2", self.trash),
            },
        )
        self._listing = self._make_list()
        self._across = beside((self._listing, 1), self.card, gap=GAP)
        self.history = History(desk.bridge, self)
        self.history.failed.connect(self._on_refused)
        parts = self.error, (self._across, 1), UndoBar(self.history)
        column(self, self._top, (stack(*parts, margin=PAGE_MARGIN, gap=GAP), 1))
        self._keeping = asyncio.Lock()
        """Titles and notes are saved in the order of the changes."""
        self.card.labelled.connect(self._on_labelled)
        self._restored: set[Path] = set()
        """To be selected as soon as they are listed."""
        self._timer = QTimer(self, interval=REFRESH_EVERY_MS)
        self._timer.timeout.connect(desk.shelf_stale.emit)
        for key, do in {"F2": self.card.rename, "Delete": self.trash}.items():
            shortcut = QShortcut(QKeySequence(key), self._list, do)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        desk.shelf_changed.connect(self.show_sessions)
        desk.busy_changed.connect(lambda _: self._on_chosen())
        self._list.sortByColumn(COLUMNS.index("Started"), Qt.SortOrder.DescendingOrder)
        self.show_sessions(desk.shelf)

    def _make_list(self) -> QWidget:
        card = frame()
        self._empty = frame("rows")
        self._message = label("", 14, tone="soft", wrap=True)
        self._message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._begin = button("Choose servers", "list-checks", kind="primary")
        self._begin.clicked.connect(lambda: self._desk.page_requested.emit("Start"))
        about = column(self._empty, None, self._message, self._begin, None, margin=32, gap=16)
        about.setAlignment(self._begin, Qt.AlignmentFlag.AlignHCenter)
        column(card, (self._empty, 1), (self._list, 1))
        return card

    # Display

    def show_sessions(self, sessions: Sequence[Shelved]) -> None:
        chosen = {session.path for session in self.chosen()}
        current, scroll = self._list.currentIndex().row(), self._list.verticalScrollBar()
        at = scroll.value()
        self._model.set_sessions(sessions)
        if self._list.currentIndex().isValid():
            self._on_chosen()
        elif restored := self._restored & {session.path for session in sessions}:
            self._restored = set()
            self._choose(restored, current)
        else:
            self._choose(chosen, current)
            scroll.setValue(at)
        self._show_found()

    def chosen(self) -> list[Shelved]:
        """Return the selected sessions in the order of the list."""
        rows = sorted(index.row() for index in self._list.selectionModel().selectedRows())
        return [self._found.session(row) for row in rows]

    def search(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    def _on_search(self, text: str) -> None:
        self._found.search(text)
        if not self.chosen():
            self._choose(set(), 0)
        self._show_found()

    def _choose(self, paths: set[Path], otherwise: int) -> None:
        """Select these sessions if they still exist; otherwise the one that took their place."""
        model, selection = self._found, self._list.selectionModel()
        rows = [row for row in range(model.rowCount()) if model.session(row).path in paths]
        if not rows and model.rowCount():
            rows = [min(max(otherwise, 0), model.rowCount() - 1)]
        whole = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        if rows:
            now = QItemSelectionModel.SelectionFlag.NoUpdate
            selection.setCurrentIndex(model.index(rows[0], 0), now)
        for row_ in rows:
            selection.select(model.index(row_, 0), whole)
        self._on_chosen()

    def _show_found(self) -> None:
        all_, found = len(self._model.sessions), self._found.rowCount()
        counted = number_of(all_, "sessions")
        shown = counted if found == all_ else f"{found:,} of {counted}"
        self._top.show_text("Sessions", shown if all_ else "")
        self._message.setText(
            f"No session matches “{self._search.text().strip()}”."
            if all_
            else "No sessions yet. Choose servers to start a run."
            if self._desk.shelf_read
            else "Reading the sessions…"
        )
        self._begin.setVisible(not all_ and self._desk.shelf_read)
        self.setFocusProxy(self._list if all_ else self._begin)
        self._search.setVisible(bool(all_))
        self._empty.setVisible(not found)
        self._list.setVisible(bool(found))
        self.card.setVisible(bool(all_))
        self._arrange()

    def _on_chosen(self) -> None:
        chosen = self.chosen()
        self.card.display(chosen)
        one = len(chosen) == 1
        readable = [session for session in chosen if session.start is not None]
        can = {
            "Replay": one and bool(readable),
            "Run again": one and bool(readable) and not self._desk.busy,
            "Compare": bool(readable),
            "Export…": one and bool(readable),
            "Show in folder": one,
            "Edit the plan": one and bool(readable),
            "Move to trash": bool(chosen) and not any(session.growing for session in chosen),
        }
        for name, possible in can.items():
            self.card.buttons[name].setEnabled(possible)

    def _on_labelled(self, session: Shelved, label: Label) -> None:
        assert session.start is not None
        id_ = session.start.session

        async def keep() -> None:
            async with self._keeping:
                await asyncio.to_thread(Titles().write, id_, label)

        done = self._desk.shelf_stale.emit
        self._desk.bridge.submit(keep(), lambda _: done(), self.error.show_text)

    # Actions

    def open_chosen(self) -> None:
        """Open one session as a film; compare several."""
        chosen = self.chosen()
        if len(chosen) == 1:
            self._desk.open_requested.emit(chosen[0].path)
        else:
            self.compare()

    def compare(self) -> None:
        if self.card.buttons["Compare"].isEnabled():
            readable = [session.path for session in self.chosen() if session.start]
            self._desk.compare_requested.emit(readable)

    def run_this(self) -> None:
        """Run the plan of the selected session again, on its machines."""
        if self.card.buttons["Run again"].isEnabled():
            (session,) = self.chosen()
            run_again(self._desk, session.path, self.error.show_text)

    def edit_plan(self) -> None:
        if self.card.buttons["Edit the plan"].isEnabled():
            (session,) = self.chosen()
            assert session.start is not None
            try:
                plan = plan_of_session(session.start.plan, name=session.path.name)
            except PongbenchError as error:
                self.error.show_text(str(error))
                return
            self._desk.plan_requested.emit(plan)

    def export(self) -> None:
        if self.card.buttons["Export…"].isEnabled():
            (one,) = self.chosen()
            ask(self, self._desk, Recorded(one.path, one.title, one.label.notes))

    def reveal(self) -> None:
        for session in self.chosen()[:1]:
            folders.open_outside(session.path.parent, self.error.show_text)

    def trash(self) -> None:
        chosen = self.chosen()
        if not self.card.buttons["Move to trash"].isEnabled():
            return
        paths = [session.path for session in chosen]
        what = f"“{chosen[0].title}”" if len(chosen) == 1 else f"{len(chosen)} sessions"

        def changed() -> None:
            self.error.show_text("")
            self._restored = {path for path in paths if path.exists()}
            self._desk.shelf_stale.emit()
            self._list.setFocus()

        self.history.delete(what, partial(trash.discard, paths), changed)

    def _on_refused(self, sentence: str) -> None:
        self.error.show_text(sentence)
        self._desk.shelf_stale.emit()

    # Events

    def showEvent(self, event: object) -> None:
        self.error.show_text("")
        self._timer.start()

    def hideEvent(self, event: object) -> None:
        self._timer.stop()
        self.card.write()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    def _arrange(self) -> None:
        below, room = stacked(self.width()), self.width() - 2 * PAGE_MARGIN
        lay(self._across, below=below)
        side = _SIDE if self.width() >= _NARROW else _NARROW_SIDE
        widen(self.card, side, below=below)
        self.card.setMinimumHeight(_CARD_PX if below else 0)
        self._list.arrange(room if below else room - side - GAP)
        high = self._list.least(len(self._model.sessions)) if below and self._model.sessions else 0
        self._listing.setMinimumHeight(high)
        self.setMinimumHeight(high and high + _CARD_PX + _REST_PX)

"""The Servers page: the servers, their code, and whether they run here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeAlias

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFrame,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app import folders
from app.context import Desk
from app.dialogs import ask_text
from app.history import History, UndoBar
from app.scrolling import lay, stacked, widen
from app.servers.about import About
from app.servers.code import CodePane
from app.servers.known import Known, load, plan_for
from app.servers.rows import Rows, Sifted
from app.servers.table import Finding
from app.servers.target import Head
from app.servers.trial import Trial
from app.sessions.thumbnail import Outlines
from app.widgets import GAP, PAGE_MARGIN, Inline, beside, column, row, tool
from app.words import free_name
from workbench.servers import user_servers
from workbench.servers.entry import ServerEntry
from workbench.servers.features import write as write_features

_KEPT = "Servers"
_NARROW = 1120
_LATEST = 24
"""Sessions in which a server's last sustained rate is looked for."""
_STACKED_PX = 880
"""The height of a narrower page, where facts and test are below the code."""


class FactsCard(QFrame):
    """Its width is set by the page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(objectName="card")
        tabs, self.tabs = beside(gap=4), QButtonGroup(self)
        self.about, self.trial = About(), Trial(desk)
        pages = QStackedWidget()
        for place, (name, page) in enumerate({"About": self.about, "Test": self.trial}.items()):
            tab = QPushButton(name, checkable=True, accessibleName=f"{name} (page)")
            tab.setProperty("kind", "tab")
            self.tabs.addButton(tab, place)
            tabs.addWidget(tab)
            pages.addWidget(page)
        tabs.addStretch(1)
        column(self, tabs, (pages, 1), margin=(14, 10, 10, 12), gap=10)
        self.tabs.idToggled.connect(lambda place, on: pages.setCurrentIndex(place) if on else None)
        self.tabs.button(0).setChecked(True)

    def show_server(self, known: Known | None) -> None:
        self.about.show_server(known)
        self.trial.show_server(known)


Tool: TypeAlias = tuple[QPushButton, Callable[[Known], bool]]
"""What can be done with the selected server, if it can."""
_FACTS_PX, _FACTS_MOST_PX = 296, 480
_FACTS_HIGH_PX, _CODE_HIGH_PX = 240, 200


class Detail(QWidget):
    """Its tools apply to the selected server."""

    def __init__(self, desk: Desk, tools: list[Tool]) -> None:
        super().__init__()
        self.pane = pane = CodePane()
        pane.setMinimumWidth(220)
        self._tools = tools
        for button, _ in tools:
            button.setProperty("kind", "ghost")
            button.setFixedWidth(28)
            pane.head.addWidget(button)
        self._facts = FactsCard(desk)
        self.trial = self._facts.trial
        self._across = row(self, (self.pane, 1), self._facts, gap=GAP)

    def show_server(self, known: Known | None) -> None:
        self.pane.show_server(known)
        self._facts.show_server(known)
        for button, possible in self._tools:
            button.setVisible(known is not None and possible(known))

    def run_test(self) -> None:
        self._facts.tabs.button(1).setChecked(True)
        self.trial.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window, facts and test stand below the code."""
        below = stacked(self.width())
        lay(self._across, below=below)
        wide = max(_FACTS_PX, min(self.width() // 4, _FACTS_MOST_PX))
        widen(self._facts, wide, below=below)
        self._facts.setMinimumHeight(_FACTS_HIGH_PX * below)
        self.pane.setMinimumHeight(_CODE_HIGH_PX * below)


class _Kept(msgspec.Struct):
    """What is kept between starts."""

    chosen: str = ""
    machine: str = ""
    ticked: list[str] = []
    group: str = ""


class ServersPage(QWidget):
    """The table above; below it the code of the selected server, with facts and tests."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        try:
            self._kept = msgspec.convert(desk.settings.more.get(_KEPT) or {}, _Kept)
        except msgspec.ValidationError:
            self._kept = _Kept()
        self._key_to_choose = self._kept.chosen
        self._loaded = False
        self._outlines = Outlines.of(desk)
        self._last: dict[str, tuple[str, float]] = {}
        self._reading: Future[list[Known]] | None = None
        self._rows = Rows()
        self._sifted = Sifted(self._rows)
        self.target = Head(desk, self._kept.machine)
        body = QWidget()
        self.error = Inline()
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False, handleWidth=GAP)
        self.finding = Finding(self._sifted)
        self.table = self.finding.table
        split.addWidget(self.finding)
        tools = [
            (tool("Duplicate to edit", "copy", self.duplicate), lambda known: known.copyable),
            (tool("Delete server (Del)", "trash-2", self.delete), lambda known: known.own),
            (tool("Open folder", "folder-open", self.reveal), lambda known: True),
        ]
        self.detail = Detail(desk, tools)
        self.pane = self.detail.pane
        self.trial = self.detail.trial
        split.addWidget(self.detail)
        split.setStretchFactor(0, 5)
        split.setStretchFactor(1, 4)
        split.setSizes([420, 292])
        split.setStyleSheet("QSplitter::handle { background: transparent; }")
        self.history = History(desk.bridge, self)
        self.history.failed.connect(self._on_refused)
        undo = UndoBar(self.history)
        column(body, self.error, (split, 1), undo, margin=PAGE_MARGIN, gap=GAP)
        column(self, self.target, (body, 1))
        self._connect()
        self.table.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.finding.group = self._kept.group
        self._show_found()
        self._on_chosen(None)
        self.load()

    def _connect(self) -> None:
        self.finding.sifted.connect(self._sift)
        self.finding.regrouped.connect(self._keep)
        self.finding.export_requested.connect(self.export)
        self.table.chosen.connect(self._on_chosen)
        self.table.doubleClicked.connect(self.pane.code.setFocus)
        self._rows.ticks_changed.connect(self._sift)
        self.trial.finished.connect(lambda _: self.load())
        self.target.changed.connect(self._on_target)
        self.target.failed.connect(self.error.show_text)
        for key, do in {
            "Return": self.detail.run_test,
            "Enter": self.detail.run_test,
            "Delete": self.delete,
        }.items():
            shortcut = QShortcut(QKeySequence(key), self.table, do)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.target.new.clicked.connect(self.new)
        self.target.compare.clicked.connect(self.run_this)
        self._desk.servers_changed.connect(self.load)
        self._desk.shelf_changed.connect(lambda _: self._show_last())
        self._outlines.changed.connect(self._show_last)
        self.setFocusProxy(self.table)

    # The catalogue

    def _show_last(self) -> None:
        """Show what each server sustained in the latest session that measured it."""
        last: dict[str, tuple[str, float]] = {}
        for session in self._desk.shelf[:_LATEST] if self.isVisible() else ():
            if (found := self._outlines.get(session)) is not None:
                last = {**found.rates, **last}
        if last != self._last:
            self._last = last
            self._rows.set_last(last)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_last()

    def load(self) -> None:
        machine, there = self.target.name, self.target.there
        self._desk.bridge.drop(self._reading)  # it may end after this one
        read = partial(load, machine, there)
        self._reading = self._desk.bridge.do(read, self._on_loaded, self._on_unread)

    def _on_target(self) -> None:
        """Handle another machine for tests, or new facts about it."""
        if self.trial.profile != self.target.profile:
            self.trial.set_machine(self.target.profile)
        self.load()

    def _on_unread(self, sentence: str) -> None:
        self.error.show_text(sentence)
        if not self._loaded:
            self.finding.count.setText("")

    def _on_loaded(self, servers: Sequence[Known]) -> None:
        chosen = self.table.current()
        key = self._key_to_choose or (chosen.key if chosen else "")
        at = self.table.verticalScrollBar().value()
        servers = [self.trial.with_result(known) for known in servers]
        self._rows.set_servers(servers)
        self._rows.set_last(self._last)
        self.finding.set_servers(servers)
        if not self._loaded:
            self._loaded = True
            comparable_ids = {known.id for known in servers if known.comparable}
            self._rows.set_ticked([id for id in self._kept.ticked if id in comparable_ids])
        key_to_choose, self._key_to_choose = self._key_to_choose, ""
        self._sift(key)
        if not key_to_choose:
            self.table.verticalScrollBar().setValue(at)

    def _sift(self, key: str = "") -> None:
        self.finding.sift(key)
        if not self._sifted.rowCount():
            self._on_chosen(None)
        self._show_found()
        self._keep()

    def _show_found(self) -> None:
        self.finding.show_count()
        if not self._loaded:
            self.finding.count.setText("Reading the servers…")
        self.target.show_ticked(len(self._rows.ticked))

    def _on_chosen(self, known: Known | None) -> None:
        if known is None or known != self.pane.known:
            self.detail.show_server(known)
            self._keep()

    # Actions

    def search(self) -> None:
        self.finding.search()

    def press_stop(self) -> None:
        self.trial.stop()

    def run_this(self) -> None:
        """Show a plan that compares the ticked servers."""
        by_id = {known.id: known for known in self._rows.servers if known.comparable}
        chosen = [by_id[id_] for id_ in self._rows.ticked if id_ in by_id]
        if chosen:
            show = self._desk.plan_requested.emit
            self._desk.bridge.do(lambda: plan_for(chosen), show, self.error.show_text)

    def export(self) -> None:
        """Export the features of the visible servers, then and now, as CSV."""
        entries = [known.entry for known in self._sifted.servers() if known.entry]
        start = str(Path.home() / "features.csv")
        name, _ = QFileDialog.getSaveFileName(self, "Export features", start, "CSV (*.csv)")
        if name:
            write = partial(write_features, Path(name), entries)
            self._desk.bridge.do(write, lambda _: self.error.show_text(""), self.error.show_text)

    def choose(self, key: str) -> None:
        """Show a server, by the key of `Known`, whatever was filtered out."""
        self._key_to_choose = key
        self.finding.show_all()
        self.load()

    def new(self) -> None:
        """Ask for a name, and create a server from the template."""
        self._ask_name("New server", "My server", None)

    def duplicate(self) -> None:
        """Ask for a name, and copy the chosen server into the user's folder."""
        known = self.pane.known
        if known is not None and known.copyable:
            self._ask_name(f"Duplicate {known.name}", f"{known.name} (copy)", known.entry)

    def _ask_name(self, title: str, name: str, like: ServerEntry | None) -> None:
        def made(entry: ServerEntry) -> None:
            self.error.show_text("")
            self._key_to_choose = str(entry.folder)
            self.finding.show_all()
            self._desk.servers_changed.emit()

        def make(name: str) -> None:
            def work() -> ServerEntry:
                return user_servers.duplicate(like, name) if like else user_servers.new(name)

            self._desk.bridge.do(work, made, self.error.show_text)

        free = free_name(name, (known.name for known in self._rows.servers))
        ask_text(self, title, "Name of the server", free, make, go="Create")

    def delete(self) -> None:
        """Move the chosen server to the trash."""
        known = self.pane.known
        if known is None or not known.own:
            return

        def changed() -> None:
            self.error.show_text("")
            self.trial.forget(known)
            self._desk.servers_changed.emit()
            self.table.setFocus()

        what, discard = f"the server “{known.name}”", partial(user_servers.remove, known.folder)
        self.history.delete(what, discard, changed)

    def _on_refused(self, sentence: str) -> None:
        self.error.show_text(sentence)
        self.load()

    def reveal(self) -> None:
        if self.pane.known is not None:
            folders.open_outside(self.pane.known.folder, self.error.show_text)

    # Settings

    def _keep(self) -> None:
        if not self._loaded:
            return
        chosen = self.table.current()
        self._desk.settings.more[_KEPT] = msgspec.to_builtins(
            _Kept(
                chosen=chosen.key if chosen else "",
                machine=self.target.wanted,
                ticked=self._rows.ticked,
                group=self.finding.group,
            )
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        lay(self.finding.head, below=self.width() < _NARROW)
        self.setMinimumHeight(_STACKED_PX if stacked(self.width() - 2 * PAGE_MARGIN) else 0)

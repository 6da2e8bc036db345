"""The Servers page: the servers, their code, and whether they run here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QFileDialog, QSplitter, QWidget

from app import folders
from app.context import Desk
from app.history import UndoBar
from app.servers.detail import Detail
from app.servers.finding import Filters, Finding
from app.servers.known import Known, load, plan_for
from app.servers.own import Owning
from app.servers.rows import Rows, Sifted
from app.servers.target import Head
from app.sessions.thumbnail import Outlines
from app.stacking import lay, stacked
from app.widgets import GAP, PAGE_MARGIN, Inline, button, column, row
from workbench.servers.features import write as write_features

_KEPT = "Servers"
_NARROW = 1120
_LATEST = 24
"""Sessions in which a server's last sustained rate is looked for."""
_STACKED_PX = 880
"""The height of a narrower page, where facts and test are below the code."""


class ServersPage(QWidget):
    """The table above; below it the code of the selected server, with facts and tests."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        kept = desk.settings.more.get(_KEPT)
        self._kept: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
        self._key_to_choose = str(self._kept.get("chosen", ""))
        self._loaded = False
        self._outlines = Outlines.of(desk)
        self._last: dict[str, tuple[str, float]] = {}
        self._request = 0
        self._rows = Rows()
        self._sifted = Sifted(self._rows)
        self.own = Owning(self, desk, self._rows)
        outer = column(self)
        self._head = Head(desk, str(self._kept.get("machine", "")))
        self.target = self._head.target
        outer.addWidget(self._head)
        across = self._across = row(gap=GAP)
        across.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        self.filters = Filters()
        self.filters.changed.connect(self._sift)
        self.filters.foot.addWidget(button("New server", "plus", on_click=self.own.new))
        across.addWidget(self.filters)
        right = QWidget()
        inside = column(right, gap=GAP)
        self.error = Inline()
        inside.addWidget(self.error)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(GAP)
        self.finding = Finding(self._sifted)
        self.table = self.finding.table
        self._split.addWidget(self.finding)
        self.detail = Detail(desk, self.own)
        self.pane = self.detail.pane
        self.trial = self.detail.trial
        self._split.addWidget(self.detail)
        self._split.setStretchFactor(0, 5)
        self._split.setStretchFactor(1, 4)
        self._split.setSizes([420, 292])
        self._split.setStyleSheet("QSplitter::handle { background: transparent; }")
        inside.addWidget(self._split, 1)
        across.addWidget(right, 1)
        outer.addLayout(across, 1)
        self.history = self.own.history
        inside.addWidget(UndoBar(self.history))
        self._connect()
        self._restore()
        self._on_chosen(None)
        self.load()

    def _connect(self) -> None:
        self.finding.searched.connect(self._sift)
        self.finding.all_requested.connect(self._show_all)
        self.finding.regrouped.connect(self._keep)
        self.finding.export_requested.connect(self.export)
        self.finding.filters.toggled.connect(lambda _: self._fit())
        self.table.chosen.connect(self._on_chosen)
        self.table.doubleClicked.connect(self.pane.code.setFocus)
        self.table.customContextMenuRequested.connect(self._on_menu)
        self._rows.ticks_changed.connect(self._on_ticks)
        self.own.made.connect(self._on_made)
        self.own.changed.connect(self._on_changed)
        self.own.refused.connect(self._on_refused)
        self.own.removed.connect(self.table.setFocus)
        self.trial.finished.connect(lambda _: self.load())
        lock = self.target.lock
        self.trial.changed.connect(lambda: lock(self.trial.under_way))
        self.target.changed.connect(self._on_target)
        self.target.failed.connect(self.error.show_text)
        for key, do in {
            "Return": self.detail.run_test,
            "Enter": self.detail.run_test,
            "Delete": self.detail.delete,
        }.items():
            shortcut = QShortcut(QKeySequence(key), self.table, do)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        head, detail = self._head, self.detail
        head.new.clicked.connect(self.own.new)
        head.compare.clicked.connect(self.compare_these)
        detail.reveal_requested.connect(self.reveal)
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
        """Read the catalogue again."""
        machine, there = self.target.name, self.target.there
        self._request += 1
        request = self._request

        def on_loaded(servers: Sequence[Known]) -> None:
            # An earlier reading may end after a later one.
            if request == self._request:
                self._on_loaded(servers)

        self._desk.bridge.do(lambda: load(machine, there), on_loaded, self._on_unread)

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
        self.filters.set_servers(servers)
        if not self._loaded:
            self._loaded = True
            kept = self._kept.get("ticked")
            comparable_ids = {known.id for known in servers if known.comparable}
            self._rows.set_ticked([i for i in kept if i in comparable_ids] if _texts(kept) else [])
            self.filters.restore(self._kept)
        key_to_choose, self._key_to_choose = self._key_to_choose, ""
        self._sift(key)
        if not key_to_choose:
            self.table.verticalScrollBar().setValue(at)
        self._keep()

    def servers(self) -> list[Known]:
        """Return the visible servers in the order of the table."""
        return self._sifted.servers()

    def _sift(self, key: str = "") -> None:
        self.finding.sift(self.filters, key)
        if not self._sifted.rowCount():
            self._on_chosen(None)
        self._show_found()
        self._keep()

    def _show_all(self) -> None:
        self.finding.field.clear()
        self.filters.show_all()

    def _show_found(self) -> None:
        self.finding.show_count()
        if not self._loaded:
            self.finding.count.setText("Reading the servers…")
        self._head.show_ticked(len(self._rows.ticked))

    def _on_ticks(self) -> None:
        if self.filters.only_ticked:
            self._sift()
        self._show_found()
        self._keep()

    def _on_chosen(self, known: Known | None) -> None:
        if known is None or known != self.pane.known:
            self.detail.show_server(known)
            self._keep()

    # Actions

    def search(self) -> None:
        """Focus the search field."""
        self.finding.search()

    def run_this(self) -> None:
        self.compare_these()

    def stop(self) -> None:
        """Cancel the current test."""
        self.trial.stop()

    def compare_these(self) -> None:
        """Show a plan with the ticked servers."""
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
        self._show_all()
        self.load()

    def _on_made(self, key: str) -> None:
        self._key_to_choose = key
        self._show_all()
        self._desk.servers_changed.emit()

    def _on_changed(self, known: Known) -> None:
        self.error.show_text("")
        self.trial.forget(known)
        self._desk.servers_changed.emit()

    def _on_refused(self, sentence: str) -> None:
        self.error.show_text(sentence)
        self.load()

    def reveal(self) -> None:
        """Show the selected server's folder in the file manager."""
        if self.pane.known is not None:
            place = self.pane.known.folder / "server.yaml"
            self._desk.bridge.submit(folders.reveal(place), fail=self.error.show_text)

    def _on_menu(self, at: QPoint) -> None:
        known = self.pane.known
        if known is None:
            return
        menu = self.detail.menu(known)
        ticked = known.id in self._rows.ticked
        tick = QAction("Deselect" if ticked else "Select to compare", menu)
        tick.triggered.connect(lambda: self._rows.toggle(known))
        tick.setEnabled(known.comparable)
        menu.insertAction(menu.actions()[0], tick)
        menu.popup(self.table.viewport().mapToGlobal(at))

    # Settings

    def _keep(self) -> None:
        if not self._loaded:
            return
        chosen = self.table.current()
        place, rising = self.table.sorting
        self._desk.settings.more[_KEPT] = {
            **self.filters.plain(),
            "chosen": chosen.key if chosen else "",
            "machine": self.target.wanted,
            "ticked": self._rows.ticked,
            "group": self.finding.group,
            "column": place,
            "rising": rising,
        }

    def _restore(self) -> None:
        place = self._kept.get("column", 0)
        place = place if isinstance(place, int) and place in range(self._rows.columnCount()) else 0
        self.table.sort_by(place, rising=bool(self._kept.get("rising", True)))
        self.table.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self._keep())
        self.finding.group = str(self._kept.get("group", ""))
        self._show_found()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        narrow = self.width() < _NARROW
        shown, below = not narrow or self.finding.filters.isChecked(), stacked(self.width())
        self.finding.set_narrow(narrow)
        self.filters.setVisible(shown)
        self._head.set_narrow(narrow and not shown)
        self.detail.set_narrow(narrow, stacked=below)
        lay(self._across, below=below)
        self.filters.set_wide(below)
        least = _STACKED_PX + (self.filters.sizeHint().height() + GAP if shown else 0)
        self.setMinimumHeight(least if below else 0)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)

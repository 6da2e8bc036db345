"""What can be compared, what its code looks like, and whether it runs here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app import files, places
from app.desk import Desk
from app.servers import known as catalogue
from app.servers.about import About
from app.servers.columns import GROUPS
from app.servers.comparing import plan_for
from app.servers.edits import Edits
from app.servers.filters import Filters
from app.servers.finding import Finding
from app.servers.known import Known
from app.servers.owning import Owning
from app.servers.pane import CodePane
from app.servers.rows import Rows, Sifted
from app.servers.target import Target
from app.servers.trial import Trial
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column, row

_KEPT = "Servers"
_NARROW = 1080
_LOOK_AFTER_MS = 150
_DETAIL_PX = 312
_DETAIL_NARROW_PX = 280


class ServersPage(QWidget):
    """The table above; below it the code of one server or two, and what is known or tried."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        kept = desk.settings.more.get(_KEPT)
        self._kept: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
        self._edits = Edits.of_plain(self._kept.get("edits"))
        self._wanted = str(self._kept.get("chosen", ""))
        self._beside = str(self._kept.get("beside", ""))
        self.own = Owning(self, desk, self._edits)
        self._loaded = False
        self._rows = Rows()
        self._sifted = Sifted(self._rows)
        outer = column(self)
        outer.addWidget(self._make_top())
        across = row(gap=GAP)
        across.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        self.filters = Filters(desk)
        self.filters.changed.connect(self._sift)
        new = button("New server", "plus", on_click=self.new)
        self.filters.foot.addWidget(new)
        across.addWidget(self.filters)
        right = QWidget()
        inside = column(right, gap=GAP)
        self.error = Inline()
        inside.addWidget(self.error)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.setHandleWidth(GAP)
        self.finding = Finding(self._sifted, desk.theme)
        self.table = self.finding.table
        self._split.addWidget(self.finding)
        self._split.addWidget(self._make_detail())
        self._split.setStretchFactor(0, 10)
        self._split.setStretchFactor(1, 11)
        self._split.setSizes([340, 372])
        self._split.setStyleSheet("QSplitter::handle { background: transparent; }")
        inside.addWidget(self._split, 1)
        across.addWidget(right, 1)
        outer.addLayout(across, 1)
        self._looking = QTimer(self)
        self._looking.setSingleShot(True)
        self._looking.setInterval(_LOOK_AFTER_MS)
        self._looking.timeout.connect(self._sift)
        self._connect()
        self._restore()
        self._on_chosen(None)
        self.load()

    def _make_top(self) -> TopBar:
        self._top = TopBar("Servers")
        self._top.say("Servers", "what can be compared, what its code looks like, whether it runs")
        self._top.chip.say("Target: this computer", "soft")
        self.target = Target(self._desk, str(self._kept.get("machine", "")))
        self._top.actions.addWidget(self.target)
        self.all = button("Try all listed", "flask-conical", on_click=self.try_all)
        self._top.actions.addWidget(self.all)
        # For a window so narrow that the column with the other one has no room.
        self._new = button("New server", "plus", on_click=self.new)
        self._new.hide()
        self._top.actions.addWidget(self._new)
        self.compare = button("Compare", "arrow-right", kind="primary", on_click=self.compare_these)
        self._top.actions.addWidget(self.compare)
        return self._top

    def _make_detail(self) -> QWidget:
        self.pane = CodePane(self._desk, self._edits, "Code")
        self._duplicate = self.pane.add_tool("Duplicate as one of your own", "copy", self.duplicate)
        self._delete = self.pane.add_tool("Delete this server (Del)", "trash-2", self.delete)
        self._reveal = self.pane.add_tool("Open its folder", "folder-open", self.reveal)
        self._pin = self.pane.add_tool("Keep it beside the next one (B)", "panel-right", self.pin)
        self.other = CodePane(self._desk, self._edits, "Code beside", reading=True)
        self.other.add_tool("Close this code", "x", lambda: self.set_beside(None))
        self.other.hide()
        self._panes = QSplitter(Qt.Orientation.Horizontal)
        self._panes.setChildrenCollapsible(False)
        self._panes.setHandleWidth(GAP)
        for pane in (self.pane, self.other):
            pane.setMinimumWidth(220)
            self._panes.addWidget(pane)
        made = QWidget()
        across = row(made, gap=GAP)
        across.addWidget(self._panes, 1)
        across.addWidget(self._make_facts())
        return made

    def _make_facts(self) -> QWidget:
        card = self._card = QFrame()
        card.setObjectName("card")
        inside = column(card, gap=10)
        inside.setContentsMargins(14, 10, 10, 12)
        tabs = row(gap=4)
        self._tabs = QButtonGroup(self)
        for place, name in enumerate(("About", "Try it")):
            tab = QPushButton(name)
            tab.setCheckable(True)
            tab.setProperty("kind", "tab")
            tab.setAccessibleName(f"{name} (page)")
            self._tabs.addButton(tab, place)
            tabs.addWidget(tab)
        tabs.addStretch(1)
        inside.addLayout(tabs)
        self.about, self.trial = About(), Trial(self._desk)
        self._facts = QStackedWidget()
        self._facts.addWidget(self.about)
        self._facts.addWidget(self.trial)
        inside.addWidget(self._facts, 1)
        self._tabs.idClicked.connect(self._facts.setCurrentIndex)
        self._tabs.button(0).setChecked(True)
        return card

    def _connect(self) -> None:
        self.finding.searched.connect(lambda _: self._looking.start())
        self.finding.all_wanted.connect(self._show_all)
        self.table.chosen.connect(self._on_chosen)
        for view in (self.table.names, self.table.facts):
            view.customContextMenuRequested.connect(lambda at, v=view: self._on_menu(v, at))
            view.doubleClicked.connect(lambda _: self.pane.code.setFocus())
        self._rows.ticks_changed.connect(self._on_ticks)
        self.pane.edited.connect(self._on_edited)
        self.pane.save_wanted.connect(self.own.save)
        self.trial.unsaved = lambda known: bool(self._edits.of(known))
        self.trial.save_wanted.connect(
            lambda known: self.own.save(known, lambda: self.trial.go_on(known))
        )
        self.own.made.connect(self._on_made)
        self.own.saved.connect(self._on_saved)
        self.own.refused.connect(self._on_refused)
        self.own.answered.connect(self.table.setFocus)
        self.trial.tried.connect(lambda _: self.load())
        self.trial.changed.connect(self._on_trial)
        self._desk.busy_changed.connect(lambda _: self._on_trial())
        self.target.changed.connect(self._on_target)
        self.target.appeared.connect(self._tell_target)
        self.target.failed.connect(self.error.say)
        for key, do in {
            "Return": self.try_it,
            "Enter": self.try_it,
            "Delete": self.delete,
            "B": self.pin,
        }.items():
            shortcut = QShortcut(QKeySequence(key), self.table.names, do)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        self._desk.servers_changed.connect(self.load)
        self.setFocusProxy(self.table)

    # What is there

    def load(self) -> None:
        """Read the catalogue again."""
        machine, there = self.target.name, self.target.there

        def on_loaded(servers: Sequence[Known]) -> None:
            if machine == self.target.name:
                self._on_loaded(servers)

        self._desk.bridge.do(lambda: catalogue.load(machine, there), on_loaded, self._on_unread)

    def _on_target(self) -> None:
        """Another machine to try servers on, or more is known about it."""
        if self.trial.profile != self.target.profile:
            self.trial.set_machine(self.target.profile)
        self._on_trial()
        self.load()

    def _on_unread(self, sentence: str) -> None:
        self.error.say(sentence)
        if not self._loaded:
            self.finding.count.setText("")

    def _on_loaded(self, servers: Sequence[Known]) -> None:
        chosen = self.table.current()
        key = self._wanted or (chosen.key if chosen else "")
        at = self.table.names.verticalScrollBar().value()
        self._rows.set_servers(servers)
        self.filters.set_servers(servers)
        if not self._loaded:
            self._loaded = True
            kept = self._kept.get("ticked")
            there = {known.id for known in servers if known.comparable}
            self._rows.set_ticked([i for i in kept if i in there] if _texts(kept) else [])
            self.filters.restore(self._kept)
        wanted, self._wanted = self._wanted, ""
        self._sift(key)
        if not wanted:
            self.table.names.verticalScrollBar().setValue(at)
        beside = next((known for known in servers if known.key == self._beside), None)
        self.set_beside(beside)
        self._on_edited()

    def servers(self) -> list[Known]:
        """Those listed, in the order of the table."""
        return self._sifted.servers()

    def _sift(self, key: str = "") -> None:
        current = self.table.current()
        key = key or (current.key if current else "")

        def change(sifted: Sifted) -> None:
            sifted.family, sifted.kinds = self.filters.family, self.filters.kinds
            sifted.words = self.finding.field.text().casefold().split()

        self._sifted.sift(change)
        self.table.show_groups(self.filters.groups)
        if not self.table.choose(key) and self._sifted.rowCount():
            self.table.choose(self._sifted.server(0).key)
        if not self._sifted.rowCount():
            self._on_chosen(None)
        self._tell_found()
        self._keep()

    def _show_all(self) -> None:
        self.finding.field.clear()
        self.filters.show_all()

    def _tell_found(self) -> None:
        ticked = len(self._rows.ticked)
        self.finding.tell(self._sifted.rowCount(), len(self._rows.servers), ticked)
        if not self._loaded:
            self.finding.count.setText("Reading the servers…")
        word = f"Compare {ticked} in a plan" if ticked else "Compare in a plan"
        self.compare.setText(f" {word}")
        self.compare.setAccessibleName(word)
        self.compare.setEnabled(ticked > 0)
        self._on_trial()
        self.compare.setToolTip("" if ticked else "Tick the servers to be compared")

    def _on_ticks(self) -> None:
        self._tell_found()
        self._keep()

    def _on_chosen(self, known: Known | None) -> None:
        shown = self.pane.known
        if known is not None and known == shown:
            return
        self.pane.show_server(known)
        self.about.show_server(known)
        self.trial.show_server(known)
        own_, there = bool(known and known.own), known is not None
        self._duplicate.setVisible(bool(known and known.entry and known.source and known.runs))
        self._delete.setVisible(own_)
        self._reveal.setVisible(there)
        self._pin.setVisible(there)
        self._keep()

    def set_beside(self, known: Known | None) -> None:
        """The server whose code stands on the right; None: there is none."""
        self._beside = known.key if known else ""
        was = self.other.isHidden()
        self.other.setVisible(known is not None)
        self.other.show_server(known)
        if known is not None and was:
            self._panes.setSizes([500, 500])
        self._keep()

    # What can be done

    def search(self) -> None:
        """Put the cursor into the search field."""
        self.finding.field.setFocus()
        self.finding.field.selectAll()

    def run_this(self) -> None:
        self.compare_these()

    def stop(self) -> None:
        """End a trial that is under way."""
        self.trial.stop()

    def compare_these(self) -> None:
        """Lead on to the plan with the ticked servers."""
        by_id = {known.id: known for known in self._rows.servers if known.comparable}
        chosen = [by_id[id_] for id_ in self._rows.ticked if id_ in by_id]
        if chosen:
            lead = self._desk.plan_wanted if "Plan" in places.ALL else self._desk.run_wanted
            self._desk.bridge.do(lambda: plan_for(chosen), lead.emit, self.error.say)

    def try_it(self) -> None:
        """Show the trial and begin it."""
        self._tabs.button(1).setChecked(True)
        self._facts.setCurrentIndex(1)
        self.trial.start()

    def try_all(self) -> None:
        """Try every server that is listed, or stop doing so."""
        if self.trial.under_way:
            self.trial.stop()
        else:
            self.trial.start_all(self._sifted.servers())

    def _on_trial(self) -> None:
        word = "Stop trying" if self.trial.under_way else "Try all listed"
        self.all.setText(f" {word}")
        self.all.setAccessibleName(word)
        self.all.setEnabled(not self._desk.busy and self._sifted.rowCount() > 0)
        self.target.hold(self.trial.under_way)
        self._tell_target()

    def _tell_target(self) -> None:
        """In a narrow window the choice of the machine is enough, where there is one."""
        doing = self.trial.progress
        self._new.setVisible(self.width() < _NARROW and not doing)
        chosen = self.width() < _NARROW and self.target.isVisibleTo(self)
        self._top.chip.say(doing or ("" if chosen else self.target.word), "soft")

    def pin(self) -> None:
        """Keep the shown code on the right, beside that of whatever is chosen next."""
        known = self.pane.known
        if known is not None:
            self.set_beside(None if known.key == self._beside else known)

    def new(self) -> None:
        """Ask for a name, and make a server from the template."""
        self.own.ask_name(None, self._names())

    def duplicate(self) -> None:
        """Ask for a name, and copy the chosen server into the user's folder."""
        if self.pane.known is not None and self._duplicate.isVisibleTo(self.pane):
            self.own.ask_name(self.pane.known, self._names())

    def delete(self) -> None:
        """After a question; its folder is put aside."""
        if self.pane.known is not None:
            self.own.delete(self.pane.known)

    def _names(self) -> set[str]:
        return {known.name.casefold() for known in self._rows.servers}

    def _on_made(self, key: str) -> None:
        self._wanted = key
        self._show_all()
        self._desk.servers_changed.emit()

    def _on_saved(self, known: Known) -> None:
        self.error.say("")
        self.trial.forget(known)
        self._on_edited()
        self._desk.servers_changed.emit()

    def _on_refused(self, sentence: str) -> None:
        self.error.say(sentence)
        self.load()

    def reveal(self) -> None:
        """Show the chosen server's folder in the file manager."""
        if self.pane.known is not None:
            place = self.pane.known.folder / "server.yaml"
            self._desk.bridge.submit(files.reveal(place), fail=self.error.say)

    def _on_menu(self, view: QWidget, at: QPoint) -> None:
        known = self.pane.known
        if known is None:
            return
        menu = QMenu(self)
        ticked = known.id in self._rows.ticked
        tick = menu.addAction("Leave it out" if ticked else "Tick it for comparing")
        tick.triggered.connect(lambda: self._rows.toggle(known))
        tick.setEnabled(known.comparable)
        menu.addAction("Try it", self.try_it).setEnabled(self.trial.go.isEnabled())
        menu.addAction("Keep its code on the right", self.pin)
        menu.addSeparator()
        copy = menu.addAction("Duplicate…", self.duplicate)
        copy.setEnabled(self._duplicate.isVisibleTo(self.pane))
        menu.addAction("Open its folder", self.reveal)
        menu.addAction("Delete…", self.delete).setEnabled(known.own)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(view.viewport().mapToGlobal(at))  # type: ignore[attr-defined]

    # What is kept

    def _on_edited(self) -> None:
        self._rows.set_unsaved(self._edits.kept)
        self._keep()

    def _keep(self) -> None:
        if not self._loaded:
            return
        chosen = self.table.current()
        place, rising = self.table.sorting
        self._desk.settings.more[_KEPT] = {
            **self.filters.plain(),
            "chosen": chosen.key if chosen else "",
            "beside": self._beside,
            "machine": self.target.wanted,
            "ticked": self._rows.ticked,
            "column": place,
            "rising": rising,
            "edits": self._edits.plain(),
        }

    def _restore(self) -> None:
        place = self._kept.get("column", 0)
        place = place if isinstance(place, int) and place in range(self._rows.columnCount()) else 0
        self.table.sort_by(place, rising=bool(self._kept.get("rising", True)))
        self.table.sorted.connect(self._keep)
        groups = self._kept.get("groups", list(GROUPS))
        self.table.show_groups(set(groups) if _texts(groups) else set(GROUPS))
        self._tell_found()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self.filters.setVisible(self.width() >= _NARROW)
        self._tell_target()
        self._card.setFixedWidth(_DETAIL_PX if self.width() >= _NARROW else _DETAIL_NARROW_PX)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)

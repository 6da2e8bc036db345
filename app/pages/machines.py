"""The Machines page: the machines that run servers and offer load, and whether they are ready."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.context import Desk
from app.folders import open_outside
from app.history import History, UndoBar
from app.machines import work
from app.machines.detail import Detail, where
from app.machines.editor import Editor, values_of
from app.machines.prompts import Asker
from app.machines.records import CHECKING, DAMAGED, HERE, Record, Records, State
from app.machines.work import Known
from app.plain import tip
from app.scrolling import ANY, lay, stacked, widen
from app.theme import Theme, current, icon
from app.widgets import GAP, PAGE_MARGIN, TONE_ICONS, Inline, TopBar, beside, button, column, fill
from app.words import free_name
from workbench.machines import profiles
from workbench.machines.hostkeys import HostKeyProblem
from workbench.machines.profiles import Profile
from workbench.untrusted import one_line

_CHOSEN = "machine"
"""The key of the chosen machine in the settings."""
_AGES_EVERY_MS = 5_000
_BESIDE_PX = 288
_LIST_PX, _STACKED_PX = 210, 780
"""The heights of the list above a machine, and of the page then."""
_NEEDS = (
    "A machine of its own leaves all cores to a server, and several clients can offer more load "
    "than one. It needs SSH and Python 3.10 or later. Nothing is installed there."
)
_ROW_PX, _ICON_PX = 48, 18


class Listing(QListWidget):
    """A machine in two lines: its name, and its state with where it is."""

    chosen = Signal(str)
    """A machine's name."""

    def __init__(self) -> None:
        super().__init__(accessibleName="Machines", iconSize=QSize(_ICON_PX, _ICON_PX))
        self.setProperty("kind", "framed")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.machines: Sequence[Known] = ()
        self.states: Mapping[str, State] = {}
        self.currentRowChanged.connect(
            lambda place: self.chosen.emit(self.names[place]) if place >= 0 else None
        )

    def fill(self, machines: Sequence[Known]) -> None:
        self.machines = machines
        self.blockSignals(True)
        self.clear()
        for _ in machines:
            made = QListWidgetItem(self)
            made.setSizeHint(QSize(0, _ROW_PX))
        self.blockSignals(False)

    @property
    def names(self) -> list[str]:
        return [known.name for known in self.machines]

    @property
    def selected(self) -> str:
        return self.names[self.currentRow()] if self.currentRow() >= 0 else ""

    def choose(self, name: str) -> None:
        if name in self.names:
            self.setCurrentRow(self.names.index(name))

    def show_states(self, states: Mapping[str, State]) -> None:
        self.states = states
        for place, known in enumerate(self.machines):
            state, item, profile = states[known.name], self.item(place), known.profile
            title = work.title(known)
            about = one_line(where(known))
            item.setText(f"{title}\n{state.word} · {about}")
            roles = " and ".join(profile.roles) if profile else ""
            item.setToolTip(tip("\n".join(filter(None, (title, about, roles, state.word)))))
            sign = TONE_ICONS.get(state.tone, "circle-question-mark")
            colour = getattr(current(), state.tone or "muted")
            item.setIcon(icon(sign, colour, _ICON_PX))

    def set_theme(self, theme: Theme) -> None:
        self.show_states(self.states)


@dataclass
class Work:
    """An action on a machine: a clean-up, or a check with what it found so far."""

    record: Record | None = None
    """None: a clean-up."""
    key: HostKeyProblem | None = None
    """For the user to decide."""
    future: Future[Any] = field(default_factory=Future)

    @property
    def name(self) -> str:
        return "check" if self.record else "clean"


class MachinesPage(QWidget):
    """Shows one machine of a list; several can be checked at once."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.ClickFocus)
        self.desk = desk
        self._asker = Asker(desk.bridge, self)
        self.machines: list[Known] = []
        self.records = Records(desk.settings.more)
        self._here = Record()
        self._under_way: dict[str, Work] = {}
        """By machine."""
        self._check_once_read: str | None = ""
        """A machine that was added to be checked; None: all."""
        self.ageing = QTimer(self, interval=_AGES_EVERY_MS)
        self.ageing.timeout.connect(self.refresh)
        self._head = TopBar("Machines")
        self._all = button("Check all", "activity", on_click=self.check_all)
        add = button("Add machine", "plus", on_click=self.add)
        add.setToolTip(tip(_NEEDS))
        fill(self._head.actions, self._all, add)
        self.notice = Inline()
        self.listing, self.detail = Listing(), Detail()
        self._across = beside(self.listing, (self.detail, 1), gap=GAP)
        self.history = History(desk.bridge, self)
        self.history.failed.connect(self._on_refused)
        body, undo = QWidget(), UndoBar(self.history)
        column(body, self.notice, (self._across, 1), undo, margin=PAGE_MARGIN, gap=GAP)
        column(self, self._head, (body, 1))
        self._connect()
        self.load()

    def _connect(self) -> None:
        desk, detail, card = self.desk, self.detail, self.detail.card
        desk.check_requested.connect(self._on_check_requested)
        desk.machines_changed.connect(self.load)
        desk.busy_changed.connect(lambda _: self.refresh())
        self.listing.chosen.connect(self._on_chosen)
        detail.check.clicked.connect(self._on_check)
        detail.edit.clicked.connect(self.edit)
        detail.error.pressed.connect(self._open_file)
        detail.copy.clicked.connect(self._copy)
        detail.remove.clicked.connect(self._remove)
        detail.tuning.consented.connect(self._consent)
        card.clean_requested.connect(lambda: self._clean(cache=False))
        card.clear_requested.connect(lambda: self._clean(cache=True))

    def resizeEvent(self, event: QResizeEvent) -> None:
        below = stacked(self.width())
        lay(self._across, below=below)
        widen(self.listing, _BESIDE_PX, below=below)
        self.listing.setMaximumHeight(_LIST_PX if below else ANY)
        self.setMinimumHeight(_STACKED_PX if below else 0)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the facts of this computer again: that is cheap, and its load changes."""
        self.desk.bridge.submit(work.here(), self._show_here)
        self.ageing.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self.ageing.stop()

    def refresh(self) -> None:
        self.listing.show_states({known.name: self._state(known) for known in self.machines})
        idle = any(known.name not in self._under_way for known in self.machines)
        self._all.setEnabled(idle and not self.desk.busy)
        count = len(self.machines)
        self._head.show_text("Machines", f"{count} machines" if count > 1 else "only this computer")
        name = self.listing.selected
        known = self._known(name)
        self.detail.setVisible(known is not None)
        if known is not None:
            doing = self._under_way.get(name)
            record = (doing and doing.record) or self.records.get(name)
            record = record.with_facts(self._here) if work.is_here(known) else record
            running = doing.name if doing else ""
            self.detail.display(known, record, running=running, busy=self.desk.busy)

    def choose(self, name: str) -> None:
        """Show a machine, once the profiles are read."""
        self.desk.settings.more[_CHOSEN] = name
        self.listing.choose(name)

    def _on_chosen(self, name: str) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self.refresh()

    def _known(self, name: str) -> Known | None:
        return next((known for known in self.machines if known.name == name), None)

    def _profile(self, name: str) -> Profile | None:
        """Return a profile that can be read."""
        known = self._known(name)
        return known.profile if known else None

    def _state(self, known: Known) -> State:
        if known.profile is None:
            return DAMAGED
        return CHECKING if known.name in self._under_way else self.records.get(known.name).state

    def _show_here(self, found: Record) -> None:
        self._here = found
        self.refresh()

    # Checks

    def run_this(self) -> None:
        if self.detail.check.isEnabled():
            self.check(self.listing.selected)

    def _on_check(self) -> None:
        do = self.press_stop if self.listing.selected in self._under_way else self.run_this
        do()

    def press_stop(self) -> None:
        self.cancel(self.listing.selected)

    def check(self, name: str) -> None:
        """Check a machine, and show each step when it is done."""
        profile = self._profile(name)
        if profile is None or name in self._under_way or self.desk.busy:
            return
        checking = Work(record := self.records.get(name).again())

        def on_step(step: Any) -> None:
            if self._under_way.get(name) is checking:  # else it was cancelled in the meantime
                record.add(step)
                if isinstance(step.error, HostKeyProblem):
                    checking.key = step.error
                self.refresh()

        def checked(_: object) -> None:
            record.finish(datetime.now().astimezone())
            self.records.put(name, record)
            self.desk.machines_changed.emit()
            if checking.key is not None:
                asking = self._asker.trust(checking.key)
                self.desk.bridge.submit(asking, lambda trusted: trusted and self.check(name))

        report = self.desk.bridge.post(on_step)
        self._begin(name, checking, work.check(profile, self._asker.ask, report), checked)

    def check_all(self) -> None:
        for known in self.machines:
            self.check(known.name)

    def _on_check_requested(self) -> None:
        if not self.machines:
            self._check_once_read = None
        self.check_all()

    def cancel(self, name: str) -> None:
        """Cancel the action on a machine, which cleans up; an earlier check that passed counts."""
        cancelled = self._under_way.pop(name, None)
        if cancelled is None:
            return
        cancelled.future.cancel()
        record = cancelled.record
        if record is not None and not self.records.get(name).passed:
            record.kind = "stopped"
            record.finish(datetime.now().astimezone())
            self.records.put(name, record)
        self.refresh()

    def _begin(
        self,
        name: str,
        begun: Work,
        coroutine: Coroutine[Any, Any, Any],
        then: Callable[[Any], object],
    ) -> None:
        def over(result: Any) -> None:
            self._under_way.pop(name, None)
            then(result)
            self.refresh()

        def failed(sentence: str) -> None:
            self._under_way.pop(name, None)
            self.notice.show_text(sentence)
            self.refresh()

        self.notice.show_text("")
        self._under_way[name] = begun
        begun.future = self.desk.bridge.submit(coroutine, over, failed)
        self.refresh()

    def _clean(self, *, cache: bool) -> None:
        name = self.listing.selected
        profile = self._profile(name)
        if profile is None or name in self._under_way:
            return

        def cleaned(steps: list[Any]) -> None:
            record = self.records.get(name)
            for step in steps:
                record.add(step)
            self.records.put(name, record)

        self._begin(name, Work(), work.clean(profile, self._asker.ask, cache=cache), cleaned)

    # Profiles

    def load(self) -> None:
        self.desk.bridge.do(work.profiles, self._on_profiles, self.notice.show_text)

    def _on_profiles(self, found: list[Known]) -> None:
        if found != self.machines:
            wanted = str(self.desk.settings.more.get(_CHOSEN, HERE))
            self.machines = found
            self.listing.fill(found)
            names = self.listing.names
            self.listing.choose(wanted if wanted in names or not names else names[0])
        self.refresh()
        wanted = self._check_once_read
        if wanted is None or self._known(wanted):
            self._check_once_read = ""
            self.check_all() if wanted is None else self.check(wanted)

    def add(self) -> None:
        self._edit({"connector": "ssh", "name": ""}, "new")

    def edit(self) -> None:
        if (profile := self._profile(self.listing.selected)) is not None:
            self._edit(values_of(profile), "edit")

    def _copy(self) -> None:
        """Duplicate the profile under another name, which can be changed."""
        name = self.listing.selected
        if (profile := self._profile(name)) is not None:
            free = free_name(name, (known.name for known in self.machines), by="-")
            self._edit(values_of(profile) | {"like": name, "name": free}, "copy")

    def _edit(self, values: dict[str, Any], task: str) -> None:
        dialog = Editor(self, self.desk, values, task=task)
        dialog.saved.connect(self._on_saved)
        dialog.open()

    def _on_saved(self, name: str, check: bool = False) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self._check_once_read = name if check else ""
        self.desk.machines_changed.emit()

    def _open_file(self) -> None:
        """Open a damaged profile in the desktop's editor, since no form can show it."""
        open_outside(profiles.path_of(self.listing.selected), self.notice.show_text)

    def _remove(self) -> None:
        """Move a profile to the trash; nothing happens on the machine. The result of its last check
        comes back with it.
        """
        name = self.listing.selected
        record = self.records.get(name)
        what = "the settings of this computer" if name == HERE else f"the profile {name}"

        def changed() -> None:
            if self._known(name) is None:
                self.records.put(name, record)
            elif name != HERE:
                self.records.drop(name)
            self._on_saved(name)

        self.notice.show_text("")
        discard = partial(profiles.remove_profile, name)
        self.history.delete(what, discard, changed)

    def _consent(self, tuning: bool) -> None:
        """Save whether kernel settings may be changed for the length of a run."""
        name, changed = self.listing.selected, self.desk.machines_changed
        if self._profile(name) is not None:
            self.notice.show_text("")
            change = partial(profiles.change_profile, name, {"tuning": tuning})
            self.desk.bridge.do(change, lambda _: changed.emit(), self._on_refused)

    def _on_refused(self, sentence: str) -> None:
        self.notice.show_text(sentence)
        self.load()

"""The Machines page: the machines that run servers and offer load, and whether they are ready."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from datetime import datetime
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.history import UndoBar
from app.machines import work
from app.machines.cards import SecondMachine
from app.machines.detail import CHECKING, DAMAGED, Detail
from app.machines.listing import Listing
from app.machines.profiles import Profiles
from app.machines.prompts import Asker
from app.machines.records import HERE, Record, Records, State
from app.machines.work import Known
from app.plain import tip
from app.stacking import ANY, lay, stacked, widen
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column, row
from workbench.machines import hostkeys
from workbench.machines.hostkeys import HostKeyProblem

_ALONE = "only this computer"


class Head(TopBar):
    """The page connects its buttons."""

    def __init__(self) -> None:
        super().__init__("Machines")
        self.all = button("Check all", "activity")
        self.add = button("Add machine", "plus")
        for each in (self.all, self.add):
            self.actions.addWidget(each)

    def display(self, states: Mapping[str, State], *, possible: bool) -> None:
        """Show the states of all machines by name, including this computer; which cannot be used,
        and why, is in the list and the tool tip. `possible`: a check can be started.
        """
        others = len(states) - 1
        self.show_text("Machines", f"{len(states)} machines" if others > 0 else _ALONE)
        self.add.setVisible(others > 0)
        self.all.setVisible(others > 0)
        self.all.setEnabled(possible)
        unusable = {
            "This computer" if name == HERE else name: state
            for name, state in states.items()
            if state.tone in ("bad", "warn")
        }
        ready = sum(state.tone == "ok" for state in states.values())
        if unusable:
            bad = any(state.tone == "bad" for state in unusable.values())
            self.chip.show_text(f"{len(unusable)} not usable", "bad" if bad else "warn")
        elif ready and len(states) > 1:
            self.chip.show_text(f"{ready} of {len(states)} ready", "ok")
        else:
            self.chip.show_text("")
        why = "\n".join(f"{name}: {state.word}" for name, state in unusable.items())
        self.chip.setToolTip(tip(why))
        self.chip.setAccessibleDescription(why)


_CHOSEN = "machine"
"""The key of the chosen machine in the settings."""
_AGES_EVERY_MS = 5_000
_BESIDE_PX = 288
_LIST_PX, _ALONE_PX, _STACKED_PX = 210, 300, 780
"""The heights of the list above a machine, of a list of one machine with what is below it, and of
the page then.
"""


class MachinesPage(QWidget):
    """Shows one machine of a list; several can be checked at once."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._asker = Asker(desk.bridge, self)
        self.profiles = Profiles(self, desk)
        self.records = Records(desk.settings.more)
        self._here = Record()
        self._under_way: dict[str, tuple[str, Future[Any]]] = {}
        """By machine: the current action (check, clean), and how to cancel it."""
        self._checks: dict[str, Record] = {}
        self._problems: dict[str, HostKeyProblem] = {}
        self.ageing = QTimer(self, interval=_AGES_EVERY_MS)
        self.ageing.timeout.connect(self.refresh)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        outer = column(self)
        self._head = Head()
        outer.addWidget(self._head)
        body = QWidget()
        around = column(body, margin=PAGE_MARGIN, gap=GAP)
        self.notice = Inline()
        around.addWidget(self.notice)
        across = row(gap=GAP)
        self.listing, self.detail = Listing(), Detail()
        self._second = SecondMachine(self.add)
        self._across = across
        self._aside = beside = QWidget()
        self._beside = column(beside, gap=GAP)
        self._beside.addWidget(self.listing, 100)
        self._beside.addWidget(self._second)
        self._beside.addStretch()
        across.addWidget(beside)
        across.addWidget(self.detail, 1)
        around.addLayout(across, 1)
        self.history = self.profiles.history
        around.addWidget(UndoBar(self.history))
        outer.addWidget(body, 1)
        self._connect()
        self.load()

    def load(self) -> None:
        """Read the profiles."""
        self.profiles.load()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    def _arrange(self) -> None:
        below = stacked(self.width())
        lay(self._across, below=below)
        high = _ALONE_PX if len(self.listing.rows) == 1 else _LIST_PX
        widen(self._aside, _BESIDE_PX, below=below)
        self._aside.setMinimumHeight(high if below else 0)
        self._aside.setMaximumHeight(high if below else ANY)
        self.setMinimumHeight(_STACKED_PX if below else 0)

    def showEvent(self, event: QShowEvent) -> None:
        """Read the facts of this computer again: that is cheap, and its load changes."""
        self.desk.bridge.submit(work.here(), self._on_here)
        self.ageing.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self.ageing.stop()

    def run_this(self) -> None:
        """Check the visible machine."""
        if self.detail.check.isEnabled():
            self.check(self.listing.selected)

    def press_stop(self) -> None:
        self.cancel(self.listing.selected)

    def check(self, name: str) -> None:
        """Check a machine, and show each step when it is done."""
        profile = self.profiles.get(name)
        if profile is None or name in self._under_way or self.desk.busy:
            return
        record = self._checks[name] = self.records.get(name).again()
        self._forget_problem(name)
        report = self.desk.bridge.post(lambda step: self._on_step(name, record, step))
        self._begin(
            name,
            "check",
            work.check(profile, self._asker.ask, report),
            lambda _: self._on_checked(name),
        )

    def check_all(self) -> None:
        for known in self.profiles.machines:
            self.check(known.name)

    def _on_check_requested(self) -> None:
        if self.profiles.machines:
            self.check_all()
        else:
            once = Qt.ConnectionType.SingleShotConnection
            self.profiles.loaded.connect(lambda _: self.check_all(), once)

    def cancel(self, name: str) -> None:
        """Cancel the action on a machine, which cleans up; an earlier check that passed counts."""
        what, future = self._under_way.pop(name, ("", None))
        if future is None:
            return
        future.cancel()
        record = self._checks.pop(name, None)
        if what == "check" and record is not None and not self.records.get(name).passed:
            record.kind = "stopped"
            record.finish(datetime.now().astimezone())
            self.records.put(name, record)
        self.refresh()

    def add(self) -> None:
        self.profiles.add()

    def choose(self, name: str) -> None:
        """Show a machine, once the profiles are read."""
        self.desk.settings.more[_CHOSEN] = name
        self.listing.choose(name)

    def refresh(self) -> None:
        """Show what is known now."""
        states = {known.name: self._state(known) for known in self.profiles.machines}
        self.listing.show_states(states)
        self._show_head(states)
        name = self.listing.selected
        known = self.profiles.known(name)
        self.detail.setVisible(known is not None)
        if known is None:
            return
        self.detail.display(
            known,
            self._record(known),
            running=self._under_way.get(name, ("", None))[0],
            busy=self.desk.busy,
        )

    # Actions

    def _connect(self) -> None:
        self.desk.check_requested.connect(self._on_check_requested)
        desk, detail, head, profiles = self.desk, self.detail, self._head, self.profiles
        desk.machines_changed.connect(self.load)
        desk.busy_changed.connect(lambda _: self.refresh())
        head.all.clicked.connect(self.check_all)
        head.add.clicked.connect(self.add)
        profiles.loaded.connect(self._on_profiles)
        profiles.saved.connect(self._on_saved)
        profiles.removed.connect(self._on_removed)
        profiles.reported.connect(self.notice.show_text)
        self.listing.chosen.connect(self._on_chosen)
        detail.check.clicked.connect(self.run_this)
        detail.steps.cancelled.connect(self.press_stop)
        detail.edit.clicked.connect(lambda: profiles.edit(self.listing.selected))
        detail.error.pressed.connect(lambda: profiles.open_file(self.listing.selected))
        detail.copy.clicked.connect(lambda: profiles.copy(self.listing.selected))
        detail.remove.clicked.connect(self._remove)
        detail.key.trusted.connect(self._trust)
        detail.key.refused.connect(lambda: self._forget_problem(self.listing.selected))
        detail.leftovers.clean_requested.connect(lambda: self._clean(cache=False))
        detail.leftovers.clear_requested.connect(lambda: self._clean(cache=True))
        detail.tuning.consented.connect(
            lambda tuning: profiles.consent(self.listing.selected, tuning)
        )

    def _begin(
        self,
        name: str,
        what: str,
        coroutine: Coroutine[Any, Any, Any],
        then: Callable[[Any], object],
    ) -> None:
        def over(result: Any) -> None:
            self._under_way.pop(name, None)
            then(result)
            self.refresh()

        def failed(sentence: str) -> None:
            self._under_way.pop(name, None)
            self._checks.pop(name, None)
            self.notice.show_text(sentence)
            self.refresh()

        self.notice.show_text("")
        self._under_way[name] = (what, self.desk.bridge.submit(coroutine, over, failed))
        self.refresh()

    def _on_step(self, name: str, record: Record, step: Any) -> None:
        if self._checks.get(name) is not record:
            return  # cancelled in the meantime
        record.add(step)
        if isinstance(step.error, HostKeyProblem):
            self._problems[name] = step.error
            if name == self.listing.selected:
                self.detail.show_key(step.error)
        self.refresh()

    def _on_checked(self, name: str) -> None:
        record = self._checks.pop(name, None)
        if record is None:
            return
        record.finish(datetime.now().astimezone())
        self.records.put(name, record)
        self.desk.machines_changed.emit()

    def _clean(self, *, cache: bool) -> None:
        name = self.listing.selected
        profile = self.profiles.get(name)
        if profile is None or name in self._under_way:
            return

        def cleaned(found: dict[str, Any]) -> None:
            record = self.records.get(name)
            passing = ("freed", "left_tuned")
            kept = {key: value for key, value in record.found.items() if key not in passing}
            record.found = kept | found
            self.records.put(name, record)

        self._begin(name, "clean", work.clean(profile, self._asker.ask, cache=cache), cleaned)

    def _trust(self, problem: HostKeyProblem) -> None:
        name = self.listing.selected

        host, port, key = problem.host, problem.port, problem.key
        self.profiles.do(lambda: hostkeys.trust(host, port, key), lambda _: self.check(name))

    # Profiles

    def _remove(self) -> None:
        """The result of its last check comes back with it."""
        name = self.listing.selected
        record = self.records.get(name)

        def restored() -> None:
            if self.profiles.known(name) is None:
                self.records.put(name, record)
            elif name != HERE:
                self.records.drop(name)
            self._on_saved(name)

        self.profiles.remove(name, restored)

    def _on_removed(self, name: str) -> None:
        if name != HERE:
            self.records.drop(name)
        self.desk.machines_changed.emit()

    def _on_saved(self, name: str) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self.desk.machines_changed.emit()

    def _on_profiles(self, new: bool) -> None:
        if not new:
            # Keep the focus of a user who goes through the list.
            self.refresh()
            return
        found = self.profiles.machines
        wanted = str(self.desk.settings.more.get(_CHOSEN, HERE))
        self.listing.fill(found)
        if wanted not in self.listing.rows and found:
            wanted = found[0].name
        self.listing.choose(wanted)
        self.refresh()

    def _on_here(self, found: Record) -> None:
        self._here = found
        self.refresh()

    # Display

    def _on_chosen(self, name: str) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self.detail.show_key(self._problems.get(name))
        self.refresh()

    def _forget_problem(self, name: str) -> None:
        if self._problems.pop(name, None) is not None and name == self.listing.selected:
            self.detail.show_key(None)
            self.listing.choose(name, focus=True)

    def _record(self, known: Known) -> Record:
        record = self._checks.get(known.name) or self.records.get(known.name)
        here = known.profile is not None and known.profile.connector == "local"
        return record.with_facts(self._here) if here else record

    def _state(self, known: Known) -> State:
        if known.profile is None:
            return DAMAGED
        return CHECKING if known.name in self._under_way else self.records.get(known.name).state

    def _show_head(self, states: dict[str, State]) -> None:
        alone = len(states) == 1
        self._second.setVisible(alone)
        self._arrange()
        self.listing.shrink(shrunk=alone)
        self._beside.setStretch(self._beside.count() - 1, int(alone))
        idle = any(known.name not in self._under_way for known in self.profiles.machines)
        self._head.display(states, possible=idle and not self.desk.busy)

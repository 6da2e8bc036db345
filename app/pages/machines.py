"""The machines that run servers and offer load: what they are, and whether they are ready."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.desk import Desk
from app.machines import work
from app.machines.asking import Asker
from app.machines.commands import Commands
from app.machines.detail import CHECKING, DAMAGED, Detail
from app.machines.editor import Editor, values_of
from app.machines.importing import Importing
from app.machines.listing import Listing
from app.machines.records import HERE, Record, Records, State
from app.machines.second import SecondMachine
from app.machines.work import Known
from app.question import ask
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column, row

if TYPE_CHECKING:
    from concurrent.futures import Future

    from workbench.machines.aliases import Alias
    from workbench.machines.checking import Step
    from workbench.machines.hostkeys import HostKeyProblem
    from workbench.machines.profiles import Profile

_CHOSEN = "machine"
"""Under which name the settings keep which one is shown."""

_PASSING = ("found", "alive", "freed")
"""What a check finds anew."""


class MachinesPage(QWidget):
    """Shows one machine at a time; several may be checked at once."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._asker = Asker(desk.bridge, self)
        self.records = Records(desk.settings.more)
        self.machines: Sequence[Known] = ()
        self._here: dict[str, Any] = {}
        self._under_way: dict[str, tuple[str, Future[Any]]] = {}
        """By machine: what is done with it (check, clean), and how to end that."""
        self._checks: dict[str, Record] = {}
        self._problems: dict[str, HostKeyProblem] = {}
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        outer = column(self)
        self._top = TopBar("Machines")
        self._all = button("Check all", "activity", on_click=self.check_all)
        self._import = button("From ~/.ssh/config…", "download", on_click=self.import_hosts)
        self._add = button("Add a machine", "plus", on_click=self.add)
        for each in (self._all, self._import, self._add):
            self._top.actions.addWidget(each)
        outer.addWidget(self._top)
        body = QWidget()
        around = column(body, margin=PAGE_MARGIN, gap=GAP)
        self.notice = Inline()
        around.addWidget(self.notice)
        across = row(gap=GAP)
        self.listing, self.detail = Listing(desk.theme), Detail(desk.theme)
        self._second = SecondMachine(self.add)
        beside = QWidget()
        beside.setFixedWidth(300)
        down = column(beside, gap=GAP)
        down.addWidget(self.listing, 1)
        down.addWidget(self._second)
        across.addWidget(beside)
        across.addWidget(self.detail, 1)
        around.addLayout(across, 1)
        outer.addWidget(body, 1)
        self.commands = Commands(desk)
        outer.addWidget(self.commands)
        self._connect()
        self.load()

    def load(self) -> None:
        """Read the profiles there are."""
        self.desk.bridge.submit(work.profiles(), self._on_profiles, self.notice.say)
        self.desk.bridge.submit(work.here(), self._on_here)

    def run_this(self) -> None:
        """Check the machine that is shown."""
        if self.detail.check.isEnabled():
            self.check(self.listing.selected)

    def press_stop(self) -> None:
        self.cancel(self.listing.selected)

    def check(self, name: str) -> None:
        """Every step is shown as it is done."""
        profile = self._profile(name)
        if profile is None or name in self._under_way:
            return
        # What it is stays in sight meanwhile.
        before = self.records.get(name)
        of_old = {key: kept for key, kept in before.found.items() if key not in _PASSING}
        record = self._checks[name] = Record(at=before.at, found=of_old)
        self._forget_problem(name)
        tell = self.desk.bridge.post(lambda step: self._on_step(name, record, step))
        self._begin(
            name,
            "check",
            work.check(profile, self._asker.ask, tell),
            lambda _: self._on_checked(name),
        )

    def check_all(self) -> None:
        for known in self.machines:
            self.check(known.name)

    def cancel(self, name: str) -> None:
        """End what is done with a machine; it cleans up behind itself."""
        what, future = self._under_way.pop(name, ("", None))
        if future is None:
            return
        future.cancel()
        record = self._checks.pop(name, None)
        if what == "check" and record is not None:
            record.kind = "stopped"
            record.finish(datetime.now().astimezone())
            self.records.put(name, record)
        self.refresh()

    def add(self) -> None:
        self._edit({"connector": "ssh", "name": ""}, "new")

    def import_hosts(self) -> None:
        self.desk.bridge.submit(work.hosts(), self._on_hosts, self.notice.say)

    def refresh(self) -> None:
        """Draw what is known now."""
        self.listing.show_states({known.name: self._state(known) for known in self.machines})
        self._tell_top()
        name = self.listing.selected
        known = next((known for known in self.machines if known.name == name), None)
        if known is None:
            return
        self.detail.tell(
            known,
            self._record(known),
            running=self._under_way.get(name, ("", None))[0],
            busy=self.desk.busy,
        )
        self.commands.refresh()

    # What is done with them

    def _connect(self) -> None:
        desk, detail = self.desk, self.detail
        desk.machines_changed.connect(self.load)
        desk.busy_changed.connect(lambda _: self.refresh())
        desk.bridge.drained.connect(self.commands.refresh)
        self.listing.chosen.connect(self._on_chosen)
        detail.check.clicked.connect(self.run_this)
        detail.steps.cancelled.connect(self.press_stop)
        detail.edit.clicked.connect(lambda: self._edit_shown("edit"))
        detail.error.pressed.connect(self._open_file)
        detail.copy.clicked.connect(lambda: self._edit_shown("copy"))
        detail.remove.clicked.connect(self._ask_remove)
        detail.commands.toggled.connect(self._show_commands)
        detail.key.trusted.connect(self._trust)
        detail.key.left.connect(lambda: self._forget_problem(self.listing.selected))
        detail.left.clean_wanted.connect(lambda: self._clean(cache=False))
        detail.left.clear_wanted.connect(self._ask_clear)
        detail.tuning.consented.connect(self._consent)
        self.commands.closed.connect(self._close_commands)

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
            self.notice.say(sentence)
            self.refresh()

        self.notice.say("")
        self._under_way[name] = (what, self.desk.bridge.submit(coroutine, over, failed))
        self.refresh()

    def _on_step(self, name: str, record: Record, step: Step) -> None:
        from workbench.machines.hostkeys import HostKeyProblem  # noqa: PLC0415 - not before a check

        if self._checks.get(name) is not record:
            return  # cancelled meanwhile
        record.add(step)
        if isinstance(step.error, HostKeyProblem):
            self._problems[name] = step.error
            if name == self.listing.selected:
                self.detail.ask_about(name, step.error)
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
        profile = self._profile(name)
        if profile is None or name in self._under_way:
            return

        def cleaned(found: dict[str, Any]) -> None:
            record = self.records.get(name)
            kept = {key: value for key, value in record.found.items() if key != "freed"}
            record.found = kept | found
            self.records.put(name, record)

        self._begin(name, "clean", work.clean(profile, self._asker.ask, cache=cache), cleaned)

    def _ask_clear(self) -> None:
        name = self.listing.selected
        ask(
            self,
            f"Remove the cache of {name}?",
            "Its work directory goes, with runtimes and agents. The next run there brings them"
            " again, which takes longer.",
            keep="Leave it",
            go="Remove the cache",
            do=lambda: self._clean(cache=True),
        )

    def _ask_remove(self) -> None:
        name = self.listing.selected
        here = name == HERE
        ask(
            self,
            "Forget what you changed for this computer?" if here else f"Remove {name}?",
            "Only its profile goes; nothing happens on the machine, and sessions keep its name.",
            keep="Leave it",
            go="Forget it" if here else "Remove it",
            do=lambda: self._do(work.remove(name), lambda _: self._on_removed(name)),
        )

    def _on_removed(self, name: str) -> None:
        if name != HERE:
            self.records.drop(name)
        self.desk.machines_changed.emit()

    def _trust(self, problem: HostKeyProblem) -> None:
        name = self.listing.selected
        trusting = work.trust(problem.host, problem.port, problem.key)
        self._do(trusting, lambda _: self.check(name))

    def _consent(self, tuning: bool) -> None:
        profile = self._profile(self.listing.selected)
        if profile is not None:
            consenting = work.consent(profile, tuning)
            self._do(consenting, lambda _: self.desk.machines_changed.emit())

    def _do(self, coroutine: Coroutine[Any, Any, Any], then: Callable[[Any], object]) -> None:
        self.notice.say("")
        self.desk.bridge.submit(coroutine, then, self._on_refused)

    def _on_refused(self, sentence: str) -> None:
        self.notice.say(sentence)
        self.load()

    # Profiles

    def _edit_shown(self, task: str) -> None:
        profile = self._profile(self.listing.selected)
        if profile is None:
            return
        values = values_of(profile)
        if task == "copy":
            taken = {known.name for known in self.machines}
            values |= {"like": profile.name, "name": work.free_name(profile.name, taken)}
        self._edit(values, task)

    def _open_file(self) -> None:
        """In whatever edits files here: it cannot be read, so no form can show it."""
        from workbench.machines.profiles import path_of  # noqa: PLC0415 - not before it is needed

        path = path_of(self.listing.selected)
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.notice.say(f"Nothing on this computer opens such files. It is {path}.", "warn")

    def _edit(self, values: dict[str, Any], task: str) -> None:
        dialog = Editor(self, self.desk, values, task=task)
        dialog.saved.connect(self._on_saved)
        dialog.open()

    def _on_saved(self, name: str) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self.desk.machines_changed.emit()

    def _on_hosts(self, hosts: list[Alias]) -> None:
        dialog = Importing(self, self.desk, hosts)
        dialog.brought.connect(lambda names: self._on_saved(names[0]))
        dialog.open()

    def _on_profiles(self, found: list[Known]) -> None:
        if found == self.machines:
            # Who is going through the list keeps the place.
            self.refresh()
            return
        self.machines = found
        wanted = str(self.desk.settings.more.get(_CHOSEN, ""))
        self.listing.fill(found)
        if wanted not in self.listing.rows and found:
            wanted = found[0].name
        self.listing.choose(wanted)
        self.refresh()

    def _on_here(self, found: dict[str, Any]) -> None:
        self._here = found
        self.refresh()

    # What is shown

    def _on_chosen(self, name: str) -> None:
        self.desk.settings.more[_CHOSEN] = name
        self.detail.ask_about(name, self._problems.get(name))
        if not self.detail.commands.isHidden():
            self.commands.show_of(name)
        self.refresh()

    def _show_commands(self, shown: bool) -> None:
        self.commands.setVisible(shown)
        if shown:
            self.commands.show_of(self.listing.selected)
            self.commands.body.setFocus()

    def _close_commands(self) -> None:
        self.detail.commands.setChecked(False)
        self.detail.commands.setFocus()

    def _forget_problem(self, name: str) -> None:
        if self._problems.pop(name, None) is not None and name == self.listing.selected:
            self.detail.ask_about(name, None)
            self.listing.choose(name, focus=True)

    def _record(self, known: Known) -> Record:
        record = self._checks.get(known.name) or self.records.get(known.name)
        if not record.facts and known.profile and known.profile.connector == "local":
            record.found = self._here | record.found
        return record

    def _state(self, known: Known) -> State:
        if known.profile is None:
            return DAMAGED
        return CHECKING if known.name in self._under_way else self.records.get(known.name).state

    def _profile(self, name: str) -> Profile | None:
        return next((known.profile for known in self.machines if known.name == name), None)

    def _tell_top(self) -> None:
        others = len(self.machines) - 1
        number = {0: "only this computer", 1: "this computer and 1 other"}
        self._top.say("Machines", number.get(others, f"this computer and {others} others"))
        self._second.setVisible(others == 0)
        self._add.setVisible(others > 0)
        self._all.setVisible(others > 0)
        idle = any(known.name not in self._under_way for known in self.machines)
        self._all.setEnabled(idle and not self.desk.busy)
        states = [self._state(known) for known in self.machines]
        bad = sum(state.tone == "bad" for state in states)
        ready = sum(state.tone == "ok" for state in states)
        if bad:
            self._top.chip.say(f"{bad} cannot be used", "bad")
        elif others > 0 and ready:
            self._top.chip.say(f"{ready} of {len(states)} ready", "ok")
        else:
            self._top.chip.say("")

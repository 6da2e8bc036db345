"""The bar above the Servers page: the machine for tests, and the ticked servers."""

from __future__ import annotations

from concurrent.futures import Future

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.fields import Options
from app.machines import work
from app.machines.prompts import Asker
from app.machines.work import Known
from app.plain import tip
from app.servers.tryout import examine_machine
from app.widgets import TopBar, button, label, row, tool
from workbench.machines.profiles import Profile
from workbench.servers.readiness import MachineReadiness

_HERE = ("", "This computer")
_LETTERS = 14


class Target(QWidget):
    """Visible if there are other machines. Choosing a machine examines it."""

    changed = Signal()
    """Another machine was chosen, or more is known about it."""
    appeared = Signal()
    """Whether there are machines to choose from has changed."""
    failed = Signal(str)
    """Why the machine could not be examined, in one sentence; empty: no problem."""

    def __init__(self, desk: Desk, wanted: str) -> None:
        """`wanted`: a profile's name; the machine is examined only on request."""
        super().__init__()
        self._desk, self.wanted = desk, wanted
        self._asker = Asker(desk.bridge, self)
        self._profiles: dict[str, Profile] = {}
        self._examination: Future[MachineReadiness] | None = None
        self.there: MachineReadiness | None = None
        across = row(self, gap=6)
        self._label = label("Target", tone="soft")
        self.choice = Options("Machine to test servers on", [_HERE])
        self.choice.setMinimumContentsLength(_LETTERS)
        self.choice.setSizeAdjustPolicy(
            Options.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.choice.edited.connect(self._on_chosen)
        self.again = tool("Check this machine again", "rotate-cw", self.examine)
        across.addWidget(self._label)
        across.addWidget(self.choice)
        across.addWidget(self.again)
        self.hide()
        desk.machines_changed.connect(self.load)
        desk.busy_changed.connect(lambda _: self._fit())
        self.load()

    @property
    def profile(self) -> Profile | None:
        """Return the profile; None: this computer."""
        return self._profiles.get(self.wanted)

    @property
    def name(self) -> str:
        """Return the name of the profile; empty: this computer."""
        return self.wanted if self.profile is not None else ""

    @property
    def caption(self) -> str:
        """Return what the bar above the page says of the machine, beside the choice."""
        if self._examination is not None:
            return f"Checking {self.name}…"
        return "" if self._profiles else "Target: this computer"

    def set_narrow(self, narrow: bool) -> None:
        """Leave out the label where there is no room for it."""
        self._label.setVisible(not narrow)

    def load(self) -> None:
        self._desk.bridge.do(work.profiles, self._on_profiles)

    def lock(self, locked: bool) -> None:
        """Keep the machine while a server is tested."""
        self.choice.setEnabled(not locked)

    def examine(self) -> None:
        """Examine the machine; nothing is changed there."""
        profile = self.profile
        if profile is None or self._examination is not None or self._desk.busy:
            return
        self.failed.emit("")
        self._examination = self._desk.bridge.submit(
            examine_machine(profile, self._asker), self._on_examined, self._on_failed
        )
        self._fit()
        self.changed.emit()

    def _on_profiles(self, found: list[Known]) -> None:
        before = self.profile
        self._profiles = {
            known.name: known.profile
            for known in found
            if known.profile is not None
            and known.profile.connector == "ssh"
            and "target" in known.profile.roles
        }
        self.choice.clear()
        for value, text in (_HERE, *((name, name) for name in self._profiles)):
            self.choice.addItem(text, value)
        self.choice.set_value(self.wanted)
        hidden = self.isHidden()
        self.setVisible(bool(self._profiles))
        self._fit()
        if self.isHidden() != hidden:
            self.appeared.emit()
        if self.profile != before:
            self._end()
            self.changed.emit()

    def _on_chosen(self) -> None:
        if self.choice.value() == self.name:
            return
        self._end()
        self.wanted = self.choice.value()
        self.failed.emit("")
        self._fit()
        self.changed.emit()
        self.examine()

    def _on_examined(self, there: MachineReadiness) -> None:
        self._examination, self.there = None, there
        self._fit()
        self.changed.emit()

    def _on_failed(self, sentence: str) -> None:
        self._examination = None
        self._fit()
        self.changed.emit()
        self.failed.emit(sentence)

    def _end(self) -> None:
        """Cancel the examination, and forget its findings."""
        if self._examination is not None:
            self._examination.cancel()
        self._examination = self.there = None

    def _fit(self) -> None:
        self.again.setVisible(self.profile is not None)
        self.again.setEnabled(self._examination is None and not self._desk.busy)


class Head(TopBar):
    """The page connects its buttons."""

    def __init__(self, desk: Desk, machine: str) -> None:
        """`machine`: a profile's name; empty: this computer."""
        super().__init__("Servers")
        self.show_text("Servers", "Catalogue, code and tests")
        self._narrow = False
        self.target = Target(desk, machine)
        # In narrow windows, where the column with the other one has no room.
        self.new = button("New server", "plus")
        self.new.hide()
        self.compare = button("Compare in a plan", "arrow-right", kind="primary")
        for each in (self.target, self.new, self.compare):
            self.actions.addWidget(each)
        for seen in (self.target.appeared, self.target.changed):
            seen.connect(self._show_target)
        self._show_target()

    def set_narrow(self, narrow: bool) -> None:
        self._narrow = narrow
        self._show_target()

    def show_ticked(self, number: int) -> None:
        text = f"Compare {number} in a plan" if number else "Compare in a plan"
        self.compare.setText(f" {text}")
        self.compare.setAccessibleName(text)
        self.compare.setEnabled(number > 0)
        self.compare.setToolTip(tip("" if number else "Select the servers to compare"))

    def _show_target(self) -> None:
        """Show the machine; a narrow window shows only the choice."""
        self.new.setVisible(self._narrow)
        self.target.set_narrow(self._narrow)
        chosen = self._narrow and self.target.isVisibleTo(self)
        self.chip.show_text("" if chosen else self.target.caption, "soft")

"""The bar above the Servers page: the machine for tests, and the actions of the page."""

from __future__ import annotations

from concurrent.futures import Future

from PySide6.QtCore import Signal

from app.context import Desk
from app.fields import Options
from app.machines import work
from app.machines.prompts import Asker
from app.machines.work import Known
from app.plain import tip
from app.servers.tryout import examine_machine
from app.widgets import TopBar, button, fill, rename, tool
from workbench.machines.profiles import Profile
from workbench.servers.readiness import MachineReadiness

_LETTERS = 18


class Head(TopBar):
    """The page connects its buttons. A machine can be chosen if there are others than this
    computer; choosing it examines it.
    """

    changed = Signal()
    """Another machine was chosen, or more is known about it."""
    failed = Signal(str)
    """Why the machine could not be examined, in one sentence; empty: no problem."""

    def __init__(self, desk: Desk, wanted: str) -> None:
        """`wanted`: a profile's name; the machine is examined only on request."""
        super().__init__()
        self.show_text("Servers", "Catalogue, code and tests")
        self._desk, self.wanted = desk, wanted
        self._asker = Asker(desk.bridge, self)
        self._profiles: dict[str, Profile] = {}
        self._examination: Future[MachineReadiness] | None = None
        self.there: MachineReadiness | None = None
        self.choice = Options("Machine to test servers on", [])
        self.choice.setMinimumContentsLength(_LETTERS)
        self.choice.setSizeAdjustPolicy(
            Options.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.choice.edited.connect(self._on_chosen)
        self.again = tool("Check this machine again", "rotate-cw", self.examine)
        self.new = button("New server", "plus")
        self.compare = button("Compare in a plan", "arrow-right", kind="primary")
        fill(self.actions, self.choice, self.again, self.new, self.compare)
        self.changed.connect(self._fit_machine)
        desk.machines_changed.connect(self.load)
        desk.busy_changed.connect(lambda _: self._fit_machine())
        self._fit_machine()
        self.load()

    @property
    def profile(self) -> Profile | None:
        return self._profiles.get(self.wanted)

    @property
    def name(self) -> str:
        return self.wanted if self.profile is not None else ""

    def show_ticked(self, number: int) -> None:
        rename(self.compare, f"Compare {number} in a plan" if number else "Compare in a plan")
        self.compare.setEnabled(number > 0)
        self.compare.setToolTip(tip("" if number else "Select the servers to compare"))

    def load(self) -> None:
        self._desk.bridge.do(work.profiles, self._on_profiles)

    def examine(self) -> None:
        """Examine the machine; nothing is changed there."""
        profile = self.profile
        if profile is None or self._examination is not None or self._desk.busy:
            return
        self.failed.emit("")
        self._examination = self._desk.bridge.submit(
            examine_machine(profile, self._asker), self._over, self._on_failed
        )
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
        names = ("", *self._profiles)
        offered = [(name, f"Test on {name or 'this computer'}") for name in names]
        self.choice.offer(offered, self.wanted)
        if self.profile != before:
            self._end()
            self.changed.emit()
        self._fit_machine()

    def _on_chosen(self) -> None:
        if self.choice.value() == self.name:
            return
        self._end()
        self.wanted = self.choice.value()
        self.failed.emit("")
        self.changed.emit()
        self.examine()

    def _over(self, there: MachineReadiness | None) -> None:
        self._examination, self.there = None, there
        self.changed.emit()

    def _on_failed(self, sentence: str) -> None:
        self._over(self.there)
        self.failed.emit(sentence)

    def _end(self) -> None:
        """Cancel the examination, and forget its findings."""
        if self._examination is not None:
            self._examination.cancel()
        self._examination = self.there = None

    def _fit_machine(self) -> None:
        examined = self._examination is not None
        self.choice.setVisible(bool(self._profiles))
        self.again.setVisible(self.profile is not None)
        self.again.setEnabled(not examined and not self._desk.busy)
        self.chip.show_text(f"Checking {self.name}…" if examined else "", "soft")

"""The plan in the form: examined, kept between starts, and its edits as steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from app.bridge import Bridge
from app.context import Desk
from app.fields import TextField
from app.history import History, Step
from app.planning.form import PlanForm
from app.planning.resources import PlanResources
from workbench.formatting import listed
from workbench.plan.editing import Draft
from workbench.plan.library import Preset
from workbench.plan.model import Plan

_AFTER_MS = 150
_NAMED = 3
"""At most this many servers are in a title."""

State: TypeAlias = tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]
"""Of the form: the preset it was made from and that one's data, its own data, the machines."""


class Drafting(QTimer):
    """Examines what is in the form when it runs out: once nothing more is typed. Only the latest
    result counts.
    """

    examined = Signal(object)
    """A `Draft`."""
    failed = Signal(str)
    """Why it cannot be examined, in one sentence."""

    def __init__(self, bridge: Bridge, form: PlanForm, parent: QObject) -> None:
        super().__init__(parent, singleShot=True, interval=_AFTER_MS)
        self._bridge, self._form = bridge, form
        self.resources: PlanResources | None = None
        """What a plan is examined against; None: not read yet."""
        self.latest: Draft | None = None
        """The latest result, also of what the form no longer shows."""
        self.current = False
        """False: the form has changed since."""
        self._examining: Future[Draft] | None = None
        self.timeout.connect(self.now)

    @property
    def draft(self) -> Draft | None:
        """Return the draft in the form; None: it is not examined yet."""
        return self.latest if self.current else None

    def now(self) -> None:
        self.stop()
        if self.resources is None:
            return
        conditions = self._form.machines.conditions(self.resources.facts)
        examining = self.resources.examine(self._form.data(), **conditions)
        self._bridge.drop(self._examining)
        self._examining = self._bridge.submit(examining, self._on_draft, self.failed.emit)

    def _on_draft(self, draft: Draft) -> None:
        self.latest, self.current = draft, not self.isActive()
        self.examined.emit(draft)


class Edits:
    """Compares the form with the preset that it was made from, keeps it with the settings, and
    makes steps of its states. What is typed into one field is one step.
    """

    def __init__(
        self, desk: Desk, form: PlanForm, history: History, show: Callable[[State], object]
    ) -> None:
        """Shows what was in the form at the last start. `show` shows an earlier or later state."""
        self._kept, self._form = desk.settings.more, form
        self._history, self._show = history, show
        self.preset = ""
        """The preset it was made from, by id; empty: none."""
        self.origin: dict[str, Any] = {}
        """The form's data as first shown; empty: unknown since the last start."""
        self.following = False
        """A consequence of the last step changes the form."""
        kept = self._kept.get("plan")
        kept = kept if isinstance(kept, dict) else {}
        self._changed_before = False
        form.machines.set_value(kept.get("machines"))
        if isinstance(data := kept.get("data"), dict):
            self.preset = str(kept.get("base") or "")
            self._changed_before = bool(kept.get("changed", True))
            form.fill(data)
        self.settle()

    @property
    def changed(self) -> bool:
        """Whether the plan differs from its preset, or from what was shown first."""
        return self._form.data() != self.origin if self.origin else self._changed_before

    def begin(self, preset: str) -> None:
        """Take what the form shows now as its origin."""
        self.preset, self.origin = preset, self._form.data()

    def keep(self) -> None:
        """Save the form for the next start."""
        self._kept["plan"] = {
            "base": self.preset,
            "changed": self.changed,
            "data": self._form.data(),
            "machines": self._form.machines.value(),
        }

    def settle(self) -> None:
        """Begin anew at the present state, which is nobody's edit."""
        self._at = self._state()

    def _state(self) -> State:
        return self.preset, self.origin, self._form.data(), self._form.machines.value()

    def remember(self, said: str = "") -> None:
        """Make what has changed since the last time a step. `said`: see `Step`."""
        before, now = self._at, self._state()
        if now == before:
            return
        self._at = now
        undo, redo = partial(self._go_to, before), partial(self._go_to, now)
        if self.following:
            self._history.extend(redo)
            return
        at = self._form.focusWidget()
        typed = isinstance(at, QLineEdit | QPlainTextEdit) and not said
        key = (at, *_changed(before, now)) if typed else None
        self._history.add(Step(undo, redo, said, files=False, key=key))

    def follow(self, change: Callable[[], object]) -> None:
        """Count what `change` does to the form as part of the last step."""
        self.following = True
        change()
        self.following = False

    def _go_to(self, state: State) -> None:
        self._show(state)
        self.settle()


def _changed(before: State, now: State) -> list[str]:
    """Return the keys of what differs between two states."""
    flat = [{**data, "machines": machines} for _, _, data, machines in (before, now)]
    return [key for key in flat[1] if flat[0].get(key) != flat[1][key]]


class Shipped:
    """What a shipped plan says of itself: its title names the servers where they are others, until
    a person names it, and its note goes where it measures something else.
    """

    def __init__(self, title: TextField, note: QPlainTextEdit) -> None:
        self._title, self._note = title, note
        self._servers: list[str] = []

    def fit(self, plan: Plan, presets: Sequence[Preset], names: Mapping[str, str]) -> None:
        """Adjust both to the plan that is in the form now. `names`: of servers, by id."""
        title, before = self._title.text(), self._servers or plan.servers
        self._servers = list(plan.servers)
        shipped = [each.plan for each in presets if not each.own and each.plan]
        noted = [each for each in shipped if each.description == self._note.toPlainText() != ""]
        if noted and not any(_measures(plan) == _measures(each) for each in noted):
            self._note.setPlainText("")
        for each in shipped:
            if title in (each.name, _titled(each, before, names)):
                now = _titled(each, plan.servers, names)
                if now != title:
                    self._title.set_value(now)
                    self._title.edited.emit()
                return


def _titled(shipped: Plan, servers: Sequence[str], names: Mapping[str, str]) -> str:
    if list(servers) == shipped.servers:
        return shipped.name
    shown = [names.get(each, each) for each in servers[:_NAMED]]
    more = len(servers) - _NAMED
    return f"{shipped.name}: {listed([*shown, f'{more} more'] if more > 0 else shown)}"


def _measures(plan: Plan) -> tuple[object, ...]:
    loads = tuple(plan.rates_per_s), tuple(plan.concurrency), repr((plan.vary, plan.search))
    lengths = plan.seconds, plan.connections, plan.repeats
    return tuple(plan.servers), *loads, *lengths, plan.workload

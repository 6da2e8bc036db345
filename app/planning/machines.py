"""The machines on which a plan runs: which can be its target or clients, and why one that it names
cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.fields import Line, Options
from app.live.run import Where
from app.machines.prompts import Asker
from app.machines.records import State
from app.machines.tuning import consenting, count
from app.planning.inputs import Several
from app.widgets import Inline, button, column, label
from workbench.formatting import listed
from workbench.machines.profiles import Profile
from workbench.machines.tuning import TuningSet
from workbench.run.environment import Fleet, preview_tuning
from workbench.run.tuning import TuningPlan

HERE = "localhost"
_WHY = {
    "removed": ("was removed", "were removed"),
    "unreadable": ("has a profile that cannot be read", "have profiles that cannot be read"),
    "not a {role}": ("is no longer a {role}", "are no longer {role}s"),
}
"""What stands behind the name of such a machine, and what is said of one and of several."""
_TARGET_LETTERS, _TUNE_LETTERS = 24, 15
_NO_CLIENT = "Select at least one client."
_AS_THEY_ARE = ("", "Unchanged")
_ELSEWHERE = (
    "Unchecked clients are checked when the run starts; until then this computer's limits are "
    "assumed."
)


class Roles:
    """The machines of all profiles, by their roles. Without profiles nothing is known, and every
    machine may have every role.
    """

    def __init__(self, profiles: Sequence[Profile] = (), damaged: Collection[str] = ()) -> None:
        """`damaged`: names of machines whose profile cannot be read."""
        self._all, self._damaged = {profile.name for profile in profiles}, damaged
        self._by_role = {
            role: [profile.name for profile in profiles if role in profile.roles] or [HERE]
            for role in ("target", "client")
        }

    def choices(self, role: str, chosen: Sequence[str]) -> list[str]:
        """Return the machines with a role, then those of `chosen` that do not have it (any more):
        what was chosen is never replaced silently.
        """
        fit = self._by_role[role]
        return [*fit, *(name for name in chosen if self._all and name not in fit)]

    def title(self, name: str, role: str) -> str:
        """Return its name for people: "This computer", "bolt (not a client)"."""
        why = self._why(name, role).format(role=role)
        return f"{display_name(name)} ({why})" if why else display_name(name)

    def fault(self, names: Sequence[str], role: str) -> str:
        """Return sentences about those of `names` that cannot have the role; empty: all can."""
        sentences = []
        for why, (one, several) in _WHY.items():
            named = [display_name(name) for name in names if self._why(name, role) == why]
            if named:
                verb, other = (one, "another") if len(named) == 1 else (several, "other")
                machines = "machine" if len(named) == 1 else "machines"
                said = f"{listed(named)} {verb.format(role=role)}"
                sentences.append(f"{said}; choose {other} {machines}.")
        return " ".join(sentences)

    def _why(self, name: str, role: str) -> str:
        """Return why it cannot have the role: a key of `_WHY`; empty: it can."""
        if not self._all or name in self._by_role[role]:
            return ""
        if name in self._all:
            return "not a {role}"
        return "unreadable" if name in self._damaged else "removed"


def display_name(name: str) -> str:
    """Return a machine's name for people."""
    return "This computer" if name == HERE else name


class _Choice(Options):
    """A choice that keeps what is not offered (yet)."""

    def __init__(self, name: str, letters: int, first: tuple[str, str]) -> None:
        super().__init__(name, [first])
        self.setMinimumContentsLength(letters)
        self.setSizeAdjustPolicy(Options.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.wanted = first[0]
        self.edited.connect(self._keep)

    def want(self, value: str) -> None:
        self.wanted = value
        self.set_value(value)

    def offer(self, options: Sequence[tuple[str, str]]) -> None:
        self.clear()
        for value, text in options:
            self.addItem(text, value)
        self.set_value(self.wanted)

    def _keep(self) -> None:
        self.wanted = self.value()


class Machines(QWidget):
    """One target, one or more clients; without other profiles, this computer is both."""

    edited = Signal()
    preview_requested = Signal()
    """The user wants to see what the chosen kernel settings would change on these machines."""

    def __init__(self) -> None:
        super().__init__()
        self._profiles: Mapping[str, Profile] = {}
        self._tunings: Mapping[str, TuningSet] = {}
        self._states: Mapping[str, State] = {}
        self._found: Mapping[str, Mapping[str, Any]] = {}
        self._roles = Roles()
        self._doing = ""
        inside = column(self, gap=6)
        self.target = _Choice("Target", _TARGET_LETTERS, (HERE, display_name(HERE)))
        self.target_line = Line("Target", self.target)
        self._only = label(display_name(HERE))
        self._only.setMinimumHeight(32)
        self._clients = Several("Clients")
        self._clients.set_value([HERE])
        self.clients_line = Line("Clients", self._only, self._clients, stretch=False)
        self.tune = _Choice("Kernel settings", _TUNE_LETTERS, _AS_THEY_ARE)
        self.preview = button(
            "Preview…", "sliders-horizontal", on_click=self.preview_requested.emit
        )
        self.tune_line = Line("Kernel", self.tune, self.preview)
        self.damaged = Inline("Show machines")
        """Machines that cannot be chosen."""
        for part in (self.target_line, self.clients_line, self.tune_line, self.damaged):
            inside.addWidget(part)
        for choice in (self.target, self._clients, self.tune):
            choice.edited.connect(self._on_edited)
        self.set_machines(())

    def value(self) -> dict[str, Any]:
        """Return the names of profiles, and of a set of kernel settings, if any: {"target": ...,
        "clients": [...], "tune": ...}.
        """
        return {
            "target": self.target.wanted,
            "clients": self._clients.value(),
            "tune": self.tune.wanted,
        }

    def set_value(self, value: Any) -> None:
        """Names of profiles that are gone stay, and are a fault."""
        kept = value if isinstance(value, dict) else {}
        wanted = kept.get("clients")
        names = wanted if isinstance(wanted, list) else [HERE]
        self.target.want(str(kept.get("target", HERE)))
        self._clients.set_value([name for name in names if isinstance(name, str)] or [HERE])
        self.tune.want(str(kept.get("tune") or ""))

    @property
    def where(self) -> Where | None:
        """Return the machines; None: this computer alone, without tuning."""
        tune = self.tune.value() if self._may_be_tuned else ""
        where = Where(self.target.value(), tuple(self._clients.value()), tune)
        return None if where == Where(HERE, (HERE,)) else where

    @property
    def alone(self) -> bool:
        """Whether target and client are this computer."""
        return self._names == [HERE]

    @property
    def listens_on(self) -> str:
        """Return the machine on which servers listen for other machines; empty: target and client
        are the same.
        """
        target = self.target.value()
        return "" if self._clients.value() == [target] else display_name(target)

    def facts(self, here: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the facts of all clients from their last checks, as they are with the chosen
        kernel settings; none if one is unknown. `here`: the facts of this computer.
        """
        found = [self._facts_of(name, here) for name in self._clients.value()]
        return found if all(found) else []

    def target_facts(self, here: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return those of the target likewise; empty: not known."""
        return self._facts_of(self.target.value(), here)

    def _facts_of(self, name: str, here: Mapping[str, Any]) -> Mapping[str, Any]:
        facts = here if name == HERE else self._found.get(name, {}).get("facts")
        if not isinstance(facts, Mapping):
            return {}
        profile, tuning = self._profiles.get(name), self._tunings.get(self.tune.value())
        if profile is None or tuning is None or not profile.tuning:
            return facts
        return tuning.in_force(facts)

    def show_preview(self, text: str, tone: str = "muted") -> None:
        """Show the progress of a preview, or why there is none; empty: it is over."""
        self._doing = text if tone == "muted" else ""
        self.preview.setEnabled(not self._doing)
        self._show_tuning()
        if tone != "muted":
            self.tune_line.fault(text, tone)

    @property
    def fault(self) -> str:
        """Return what is wrong with the choice."""
        return self._target_fault or self._clients_fault

    @property
    def _target_fault(self) -> str:
        return self._roles.fault([self.target.value()], "target")

    @property
    def _clients_fault(self) -> str:
        clients = self._clients.value()
        return self._roles.fault(clients, "client") if clients else _NO_CLIENT

    def set_machines(
        self,
        profiles: Sequence[Profile],
        states: Mapping[str, State] | None = None,
        found: Mapping[str, Mapping[str, Any]] | None = None,
        damaged: Collection[str] = (),
    ) -> None:
        """List machines by their roles. `states`: their states by name; `found`: the findings of
        their last checks (`checking.Step.found`); `damaged`: names of unreadable profiles.
        """
        self._states, self._found = states or {}, found or {}
        self._profiles = {profile.name: profile for profile in profiles}
        self._roles = Roles(profiles, damaged)
        targets = self._roles.choices("target", [self.target.wanted])
        clients = self._roles.choices("client", self._clients.value())
        several = len(clients) > 1
        if profiles and not several:  # without a box to tick it
            self._clients.set_value(clients)
        self.target.offer([(name, self._roles.title(name, "target")) for name in targets])
        self.target.setEnabled(len(targets) > 1)
        titles = {name: self._roles.title(name, "client") for name in clients}
        self._clients.offer([(name, title, title) for name, title in titles.items()])
        self._clients.setVisible(several)
        self._only.setVisible(not several)
        self._only.setText(titles[clients[0]])
        alone = targets == clients == [HERE]
        self.clients_line.explain("Add more machines on the Machines page." if alone else "")
        self._refresh()

    def set_tunings(self, sets: Mapping[str, TuningSet]) -> None:
        """Set the available sets of kernel settings, by name."""
        self._tunings = sets
        self.tune.offer([_AS_THEY_ARE, *((name, each.name) for name, each in sets.items())])
        self._show_tuning()

    def _on_edited(self) -> None:
        self._refresh()
        self.edited.emit()

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([self.target.value(), *self._clients.value()]))

    @property
    def _may_be_tuned(self) -> bool:
        """Whether the profile of at least one machine allows it."""
        chosen = (self._profiles.get(name) for name in self._names)
        return any(profile.tuning for profile in chosen if profile is not None)

    def _show_tuning(self) -> None:
        self.tune_line.fault("", "muted")
        self.tune_line.setVisible(self._may_be_tuned and self.tune.count() > 1)
        wanted = self.tune.value()
        self.preview.setVisible(bool(wanted))
        changes = [self._would_change(name, wanted) for name in self._names] if wanted else []
        text = f"{'; '.join(changes)}. You confirm before anything changes." if changes else ""
        self.tune_line.explain(self._doing or text)

    def _would_change(self, name: str, wanted: str) -> str:
        """Return the changes found by the last check."""
        called, profile = display_name(name), self._profiles.get(name)
        if profile is None or not profile.tuning:
            return f"{called}: not changed (its profile)"
        changes = (self._found.get(name, {}).get("changes") or {}).get(wanted)
        if not isinstance(changes, list):
            return f"{called}: not checked"
        return f"{called}: {count(changes)}"

    def _refresh(self) -> None:
        clients = self._clients.value()
        text, tone = self._known_of(clients)
        self.clients_line.fault(self._clients_fault or text, "bad" if self._clients_fault else tone)
        self._show_tuning()
        if self._target_fault:
            self.target_line.fault(self._target_fault, "bad")
            return
        text, tone = self._known_of([self.target.value()])
        guessed = bool(clients) and not self.facts({"here": True})
        text = "" if self.alone else f"{text} {_ELSEWHERE if guessed else ''}".strip()
        if tone == "muted":
            self.target_line.explain(text)
        self.target_line.fault("" if tone == "muted" else text, tone)

    def _known_of(self, names: Sequence[str]) -> tuple[str, str]:
        """Return a sentence about the last checks of the other machines, and its tone."""
        states = {name: self._states[name] for name in names if name in self._states}
        unknown = [f"{name}: {state.word}" for name, state in states.items() if name != HERE]
        doubtful = any(state.tone in ("warn", "bad") for state in states.values())
        return f"{'; '.join(unknown)}." if unknown else "", "warn" if doubtful else "muted"


class TuningPreview:
    """Connects to the machines when it is asked for."""

    def __init__(self, desk: Desk, machines: Machines, page: QWidget) -> None:
        self._desk, self._machines, self._page = desk, machines, page
        self._asker = Asker(desk.bridge, page)
        machines.preview_requested.connect(self._begin)

    def _begin(self) -> None:
        machines, where = self._machines, self._machines.where
        if where is None or not where.tune:
            return
        fleet = Fleet(where.target, where.clients)
        machines.show_preview(
            f"Checking {', '.join(dict.fromkeys((where.target, *where.clients)))}…"
        )
        self._desk.bridge.submit(
            self._asker.trusting(lambda: preview_tuning(fleet, where.tune, self._asker.ask)),
            self._show,
            lambda sentence: machines.show_preview(sentence, "bad"),
        )

    def _show(self, plans: list[TuningPlan]) -> None:
        self._machines.show_preview("")
        dialog = consenting(self._page.window(), plans, preview=True)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

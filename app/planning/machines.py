"""The machines on which a plan runs: which can be its target or clients, and why one that it names
cannot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.fields import Line, Options, TickList
from app.live.run import Where
from app.machines.records import State
from app.widgets import Inline, column
from workbench.machines.profiles import Profile
from workbench.machines.tuning import TuningSet

HERE = "localhost"
_WIDE_PX = 260
_WHY = {
    "removed": "was removed",
    "unreadable": "has a profile that cannot be read",
    "not a {role}": "is no longer a {role}",
}
"""What stands behind the name of such a machine, and what is said of it."""
_NO_CLIENT = "Select at least one client."
_AS_THEY_ARE = ("", "Unchanged")
_CONFIRMED = "You see and confirm the changes before anything is changed."
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

    def choices(self, role: str, chosen: Sequence[str]) -> dict[str, str]:
        """Return the machines with a role, then those of `chosen` that do not have it (any more):
        what was chosen is never replaced silently. Each with its name for people: "This computer",
        "bolt (not a client)".
        """
        named = {}
        for name in (*self._by_role[role], *chosen):
            why = self._why(name, role).format(role=role)
            named[name] = f"{display_name(name)} ({why})" if why else display_name(name)
        return named

    def fault(self, names: Sequence[str], role: str) -> str:
        """Return sentences about those of `names` that cannot have the role; empty: all can."""
        sentences = [
            f"{display_name(name)} {_WHY[why].format(role=role)}; choose another machine."
            for name in names
            if (why := self._why(name, role))
        ]
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


class Machines(QWidget):
    """One target, one or more clients; without other profiles, this computer is both."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._profiles: Mapping[str, Profile] = {}
        self._tunings: Mapping[str, TuningSet] = {}
        self._states: Mapping[str, State] = {}
        self._found: Mapping[str, Mapping[str, Any]] = {}
        self._roles = Roles()
        inside = column(self, gap=6)
        self.target, self.clients = Options("Target", []), TickList("Clients")
        self.tune = Options("Kernel settings", [])
        self.target_line = Line("Target", self.target)
        self.clients_line = Line("Clients", self.clients, stretch=False)
        self.tune_line = Line("Kernel", self.tune)
        self.tune_line.explain(_CONFIRMED)
        self.damaged = Inline("Show machines")
        """Machines that cannot be chosen."""
        for part in (self.target_line, self.clients_line, self.tune_line, self.damaged):
            inside.addWidget(part)
        for field in (self.target, self.clients, self.tune):
            field.edited.connect(self._on_edited)
        for choice in (self.target, self.tune):
            choice.setMaximumWidth(_WIDE_PX)
        self.set_value({})

    def value(self) -> dict[str, Any]:
        """Return the names of profiles, and of a set of kernel settings, if any: {"target": ...,
        "clients": [...], "tune": ...}.
        """
        clients = self.clients.value()
        return {"target": self.target.value(), "clients": clients, "tune": self.tune.value()}

    def set_value(self, value: Any) -> None:
        """Names of profiles that are gone stay, and are a fault."""
        kept = value if isinstance(value, dict) else {}
        wanted = kept.get("clients")
        names = wanted if isinstance(wanted, list) else [HERE]
        self.clients.set_value([name for name in names if isinstance(name, str)] or [HERE])
        self._offer(str(kept.get("target", HERE)), str(kept.get("tune") or ""))

    def _offer(self, target: str, tune: str) -> None:
        """Show what can be chosen, and what is although it cannot."""
        targets = self._roles.choices("target", [target])
        clients = self._roles.choices("client", self.clients.value())
        sets = {tune: tune} if tune else {}
        sets |= {name: each.name for name, each in self._tunings.items()}
        self.target.offer(list(targets.items()), target)
        self.clients.offer([(name, title, title) for name, title in clients.items()])
        self.tune.offer([_AS_THEY_ARE, *sets.items()], tune)
        self.target.setEnabled(len(targets) > 1)
        alone = list(targets) == list(clients) == [HERE]
        self.clients_line.explain("Add more machines on the Machines page." if alone else "")
        self._refresh()

    @property
    def where(self) -> Where | None:
        """Return the machines; None: this computer alone, without tuning."""
        tune = self.tune.value() if self._may_be_tuned else ""
        where = Where(self.target.value(), tuple(self.clients.value()), tune)
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
        return "" if self.clients.value() == [target] else display_name(target)

    def facts(self, here: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the facts of all clients from their last checks, as they are with the chosen
        kernel settings; none if one is unknown. `here`: the facts of this computer.
        """
        found = [self._facts_of(name, here) for name in self.clients.value()]
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

    @property
    def fault(self) -> str:
        """Return what is wrong with the choice."""
        return self._target_fault or self._clients_fault

    @property
    def _target_fault(self) -> str:
        return self._roles.fault([self.target.value()], "target")

    @property
    def _clients_fault(self) -> str:
        clients = self.clients.value()
        return self._roles.fault(clients, "client") if clients else _NO_CLIENT

    def set_machines(
        self,
        profiles: Sequence[Profile],
        states: Mapping[str, State] | None = None,
        found: Mapping[str, Mapping[str, Any]] | None = None,
        damaged: Collection[str] = (),
        tunings: Mapping[str, TuningSet] | None = None,
    ) -> None:
        """List machines by their roles. `states`: their states by name; `found`: the findings of
        their last checks (`checking.Step.found`); `damaged`: names of unreadable profiles;
        `tunings`: sets of kernel settings, by name.
        """
        self._tunings = tunings or {}
        self._states, self._found = states or {}, found or {}
        self._profiles = {profile.name: profile for profile in profiles}
        self._roles = Roles(profiles, damaged)
        self._offer(self.target.value(), self.tune.value())

    def _on_edited(self) -> None:
        self._refresh()
        self.edited.emit()

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([self.target.value(), *self.clients.value()]))

    @property
    def _may_be_tuned(self) -> bool:
        """Whether the profile of at least one machine allows it."""
        chosen = (self._profiles.get(name) for name in self._names)
        return any(profile.tuning for profile in chosen if profile is not None)

    def _refresh(self) -> None:
        clients = self.clients.value()
        text, tone = self._known_of(clients)
        self.clients_line.fault(self._clients_fault or text, "bad" if self._clients_fault else tone)
        self.tune_line.setVisible(self._may_be_tuned and self.tune.count() > 1)
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

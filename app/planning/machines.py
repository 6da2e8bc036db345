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
from app.machines.records import HERE, Record
from app.widgets import Inline, column
from workbench.machines.profiles import Profile
from workbench.machines.tuning import TuningSet

_WIDE_PX = 260
_WHY = {
    "removed": "was removed",
    "unreadable": "has a profile that cannot be read",
    "not a target": "is no longer a target",
    "not a client": "is no longer a client",
}
"""What stands behind the name of such a machine, and what is said of it."""
_NO_CLIENT = "Select at least one client."
_AS_THEY_ARE = ("", "Unchanged")
_CONFIRMED = "You see and confirm the changes before anything is changed."
_ELSEWHERE = (
    "Unchecked clients are checked when the run starts; until then this computer's limits are "
    "assumed."
)


def _display_name(name: str) -> str:
    return "This computer" if name == HERE else name


class Machines(QWidget):
    """One target, one or more clients; without other profiles, this computer is both."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._profiles: Mapping[str, Profile] = {}
        self._records: Mapping[str, Record] = {}
        self._damaged: Collection[str] = ()
        self._tunings: Mapping[str, TuningSet] = {}
        self.target, self.clients = Options("Target", []), TickList("Clients")
        self.tune = Options("Kernel settings", [])
        self.target_line = Line("Target", self.target)
        self.clients_line = Line("Clients", self.clients, stretch=False)
        self.tune_line = Line("Kernel", self.tune)
        self.tune_line.explain(_CONFIRMED)
        self.damaged = Inline("Show machines")
        """Machines that cannot be chosen."""
        column(self, self.target_line, self.clients_line, self.tune_line, self.damaged, gap=6)
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

    def set_machines(
        self,
        profiles: Sequence[Profile],
        records: Mapping[str, Record],
        damaged: Collection[str] = (),
        tunings: Mapping[str, TuningSet] | None = None,
    ) -> None:
        """List machines by their roles. `records`: their last checks, by name; `damaged`: names of
        unreadable profiles; `tunings`: sets of kernel settings, by name.
        """
        self._profiles = {profile.name: profile for profile in profiles}
        self._records, self._damaged, self._tunings = records, damaged, tunings or {}
        self._offer(self.target.value(), self.tune.value())

    @property
    def where(self) -> Where | None:
        """Return the machines; None: this computer alone, without tuning."""
        tune = self.tune.value() if self._may_be_tuned else ""
        where = Where(self.target.value(), tuple(self.clients.value()), tune)
        return None if where == Where(HERE, (HERE,)) else where

    def conditions(self, here: Mapping[str, Any]) -> dict[str, Any]:
        """Return the conditions under which a plan is examined (`editing.examine`), and `known`:
        the facts of all clients from their last checks, as they are with the chosen kernel
        settings; none if one is unknown. `here`: the facts of this computer.
        """
        target, clients = self.target.value(), self.clients.value()
        found = [self._facts_of(name, here) for name in clients]
        return {
            "loopback": self._names == [HERE],
            "clients": max(1, len(clients)),
            "known": found if all(found) else [],
            "target": target,
            "target_facts": self._facts_of(target, here),
            "listens_on": "" if clients == [target] else _display_name(target),
        }

    def _facts_of(self, name: str, here: Mapping[str, Any]) -> Mapping[str, Any]:
        facts = here if name == HERE else self._records.get(name, Record()).facts
        profile, tuning = self._profiles.get(name), self._tunings.get(self.tune.value())
        if not facts or tuning is None or profile is None or not profile.tuning:
            return facts
        return tuning.in_force(facts)

    @property
    def fault(self) -> str:
        """Return what is wrong with the choice."""
        target, clients = [self.target.value()], self.clients.value()
        return self._fault_of(target, "target") or self._fault_of(clients, "client")

    def _fault_of(self, names: Sequence[str], role: str) -> str:
        """Return sentences about those that cannot have the role; empty: all can."""
        whys = {name: self._why_not(name, role) for name in names}
        sentences = [
            f"{_display_name(name)} {_WHY[why]}; choose another machine."
            for name, why in whys.items()
            if why
        ]
        return " ".join(sentences) if names else _NO_CLIENT

    def _why_not(self, name: str, role: str) -> str:
        """Return a key of `_WHY`; empty: it can have the role, as every machine can while nothing
        is known.
        """
        if not self._profiles or name in self._able(role):
            return ""
        if name in self._profiles:
            return f"not a {role}"
        return "unreadable" if name in self._damaged else "removed"

    def _able(self, role: str) -> list[str]:
        return [name for name, each in self._profiles.items() if role in each.roles] or [HERE]

    def _offer(self, target: str, tune: str) -> None:
        """Show what can be chosen, and what was although it cannot (any more): nothing is replaced
        silently.
        """
        targets = self._choices("target", [target])
        clients = self._choices("client", self.clients.value())
        sets = {tune: tune} if tune else {}
        sets |= {name: each.name for name, each in self._tunings.items()}
        self.target.offer(list(targets.items()), target)
        self.clients.offer([(name, title, title) for name, title in clients.items()])
        self.tune.offer([_AS_THEY_ARE, *sets.items()], tune)
        self.target.setEnabled(len(targets) > 1)
        alone = list(targets) == list(clients) == [HERE]
        self.clients_line.explain("Add more machines on the Machines page." if alone else "")
        self._refresh()

    def _choices(self, role: str, chosen: Sequence[str]) -> dict[str, str]:
        """Return machines with their names for people: "This computer", "bolt (not a client)"."""
        named = {}
        for name in (*self._able(role), *chosen):
            why = self._why_not(name, role)
            named[name] = f"{_display_name(name)} ({why})" if why else _display_name(name)
        return named

    def _on_edited(self) -> None:
        self._refresh()
        self.edited.emit()

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([self.target.value(), *self.clients.value()]))

    @property
    def _may_be_tuned(self) -> bool:
        """Whether the profile of at least one machine allows it."""
        return any(self._profiles[name].tuning for name in self._names if name in self._profiles)

    def _refresh(self) -> None:
        clients = self.clients.value()
        self.tune_line.setVisible(self._may_be_tuned and self.tune.count() > 1)
        self._show(self.target_line, "target", [self.target.value()])
        guessed = not all(self._facts_of(name, {"here": True}) for name in clients)
        self._show(self.clients_line, "client", clients, _ELSEWHERE if guessed else "")

    def _show(self, line: Line, role: str, names: Sequence[str], more: str = "") -> None:
        """Show what is wrong, or else what the last checks of the other machines found."""
        fault, others = self._fault_of(names, role), self._records.keys() - {HERE}
        states = {name: self._records[name].state for name in names if name in others}
        known = "; ".join(f"{name}: {state.word}" for name, state in states.items())
        doubtful = any(state.tone in ("warn", "bad") for state in states.values())
        text = " ".join(filter(None, (known and f"{known}.", more)))
        line.fault(fault or text, "bad" if fault else "warn" if doubtful else "muted")

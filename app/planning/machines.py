"""The machines on which a plan runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.fields import Flag, Line, Options
from app.live.run import Where
from app.machines.tuning import count
from app.plain import tip
from app.planning.flag_columns import FlagColumns
from app.planning.roles import HERE, Roles, display_name
from app.theme import LIGHT, Theme
from app.widgets import Inline, button, column, label

if TYPE_CHECKING:
    from app.machines.records import State
    from workbench.machines.profiles import Profile
    from workbench.machines.tuning import TuningSet

_TARGET_LETTERS = 24
_TUNE_LETTERS = 15
_NO_CLIENT = "Select at least one client."
_AS_THEY_ARE = ("", "Unchanged")
_ELSEWHERE = (
    "Unchecked clients are checked when the run starts; until then this computer's limits are "
    "assumed."
)


class Machines(QWidget):
    """One target, one or more clients; without other profiles, this computer is both."""

    edited = Signal()
    preview_requested = Signal()
    """The user wants to see what the chosen kernel settings would change on these machines."""

    def __init__(self) -> None:
        super().__init__()
        self._profiles: Mapping[str, Profile] = {}
        self._roles = Roles()
        self._found: Mapping[str, Mapping[str, Any]] = {}
        self._theme = LIGHT
        self._clients: list[str] = [HERE]
        self._chosen_target = HERE
        self._states: Mapping[str, State] = {}
        self._doing = ""
        inside = column(self, gap=6)
        self.target = Options("Target", [(HERE, display_name(HERE))])
        self.target.setMinimumContentsLength(_TARGET_LETTERS)
        self.target.setSizeAdjustPolicy(
            Options.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.target.edited.connect(self._on_target)
        self.target_line = Line("Target", self.target)
        inside.addWidget(self.target_line)
        self._ticks: dict[str, Flag] = {}
        self._only = label(display_name(HERE))
        self._only.setMinimumHeight(32)
        self._box = FlagColumns()
        self.clients_line = Line("Clients", self._only, self._box, stretch=False)
        inside.addWidget(self.clients_line)
        self._chosen_tuning = ""
        self._tunings: Mapping[str, TuningSet] = {}
        self.tune = Options("Kernel settings", [_AS_THEY_ARE])
        self.tune.setMinimumContentsLength(_TUNE_LETTERS)
        self.tune.setSizeAdjustPolicy(
            Options.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.tune.edited.connect(self._on_tune)
        self.preview = button(
            "Preview…", "sliders-horizontal", on_click=self.preview_requested.emit
        )
        self.tune_line = Line("Kernel", self.tune, self.preview)
        inside.addWidget(self.tune_line)
        self.damaged = Inline("Show machines")
        """Machines that cannot be chosen."""
        inside.addWidget(self.damaged)
        self.set_machines(())

    def value(self) -> dict[str, Any]:
        """Return the names of profiles, and of a set of kernel settings, if any: {"target": ...,
        "clients": [...], "tune": ...}.
        """
        return {
            "target": self._chosen_target,
            "clients": list(self._clients),
            "tune": self._chosen_tuning,
        }

    def set_value(self, value: Any) -> None:
        """Names of profiles that are gone stay, and are a fault."""
        kept = value if isinstance(value, dict) else {}
        self._chosen_target = str(kept.get("target", HERE))
        self.target.set_value(self._chosen_target)
        wanted = kept.get("clients")
        names = wanted if isinstance(wanted, list) else [HERE]
        self._clients = [name for name in names if isinstance(name, str)] or [HERE]
        self._chosen_tuning = str(kept.get("tune") or "")
        self.tune.set_value(self._chosen_tuning)
        self._show_clients()

    @property
    def where(self) -> Where | None:
        """Return the machines; None: this computer alone, without tuning."""
        tune = self.tune.value() if self._may_be_tuned else ""
        where = Where(self.target.value(), tuple(self._clients), tune)
        return None if where == Where(HERE, (HERE,)) else where

    @property
    def alone(self) -> bool:
        """Whether target and client are this computer."""
        return self.target.value() == HERE and self._clients == [HERE]

    @property
    def listens_on(self) -> str:
        """Return the machine on which servers listen for other machines; empty: target and client
        are the same.
        """
        target = self.target.value()
        return "" if self._clients == [target] else display_name(target)

    def facts(self, here: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """Return the facts of all clients from their last checks, as they are with the chosen
        kernel settings; none if one is unknown. `here`: the facts of this computer.
        """
        found = [self._facts_of(name, here) for name in self._clients]
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
        self.tune_line.fault("", "muted")
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
        return self._roles.fault(self._clients, "client") if self._clients else _NO_CLIENT

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
        targets = self._roles.choices("target", [self._chosen_target])
        clients = self._roles.choices("client", self._clients)
        if profiles and len(clients) == 1:  # without a box to tick it
            self._clients = list(clients)
        self.target.clear()
        for name in targets:
            self.target.addItem(self._roles.title(name, "target"), name)
        self.target.set_value(self._chosen_target)
        self.target.setEnabled(len(targets) > 1)
        self._ticks = {}
        for name in clients:
            title = self._roles.title(name, "client")
            tick = self._ticks[name] = Flag(title)
            tick.set_theme(self._theme)
            tick.edited.connect(self._on_clients)
            tick.setToolTip(tip(title))
        self._box.show_flags(list(self._ticks.values()))
        self._only.setVisible(len(clients) == 1)
        self._only.setText(self._roles.title(clients[0], "client"))
        self._box.setVisible(len(clients) > 1)
        alone = targets == clients == [HERE]
        self.clients_line.explain("Add more machines on the Machines page." if alone else "")
        self._show_clients()
        self._refresh()

    def set_tunings(self, sets: Mapping[str, TuningSet]) -> None:
        """Set the available sets of kernel settings, by name."""
        self._tunings = sets
        self.tune.clear()
        for name, text in (_AS_THEY_ARE, *((name, each.name) for name, each in sets.items())):
            self.tune.addItem(text, name)
        self.tune.set_value(self._chosen_tuning)
        self._show_tuning()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def _show_clients(self) -> None:
        for name, tick in self._ticks.items():
            tick.set_value(name in self._clients)

    def _on_target(self) -> None:
        self._chosen_target = self.target.value()
        self._refresh()
        self.edited.emit()

    def _on_clients(self) -> None:
        self._clients = [name for name, tick in self._ticks.items() if tick.isChecked()]
        self._refresh()
        self.edited.emit()

    def _on_tune(self) -> None:
        self._chosen_tuning = self.tune.value()
        self.tune_line.fault("", "muted")
        self._show_tuning()
        self.edited.emit()

    @property
    def _names(self) -> list[str]:
        return list(dict.fromkeys([self.target.value(), *self._clients]))

    @property
    def _may_be_tuned(self) -> bool:
        """Whether the profile of at least one machine allows it."""
        chosen = (self._profiles.get(name) for name in self._names)
        return any(profile.tuning for profile in chosen if profile is not None)

    def _show_tuning(self) -> None:
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
        text, tone = self._known_of(self._clients)
        self.clients_line.fault(self._clients_fault or text, "bad" if self._clients_fault else tone)
        self._show_tuning()
        if self._target_fault:
            self.target_line.fault(self._target_fault, "bad")
            return
        text, tone = self._known_of([self.target.value()])
        guessed = bool(self._clients) and not self.facts({"here": True})
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

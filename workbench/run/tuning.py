"""Kernel settings changed for a run: the changes on each machine, consent, and the results."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TypeAlias

from workbench.closing import to_the_end
from workbench.errors import PongbenchError
from workbench.machines import tuning as kernel
from workbench.machines.base import Machine
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask, never_ask
from workbench.messages.base import Said, Stated
from workbench.messages.notes import notice

Opened: TypeAlias = Mapping[str, tuple[Machine, Profile]]
"""Open machines by name, with their profiles."""


@dataclass(frozen=True)
class TuningPlan:
    """The changes that a set of settings would make on one machine."""

    machine: str
    changes: Sequence[kernel.Change] = ()
    nofile: int = 0
    """Hard descriptor limit for programs of the run there; 0: unchanged."""
    why_not: Stated | None = None
    sudo: kernel.Sudo = "none"
    name: str = ""

    @property
    def needed(self) -> list[kernel.Change]:
        return [change for change in self.changes if change.needed]

    @property
    def changes_something(self) -> bool:
        return not self.why_not and bool(self.needed or self.nofile)

    def declined(self) -> TuningPlan:
        """The same machine, left untuned as the user wanted."""
        if not self.changes_something:
            return self
        return replace(self, why_not=notice("untuned", machine=self.machine, why="declined"))

    def commands(self) -> list[str]:
        """What is done there as root, as shell commands."""
        if not self.changes_something:
            return []
        limit = [f"prlimit --nofile=:{self.nofile} --pid RUNNER"] if self.nofile else []
        return [
            f"{_LEADS[self.sudo]}python3 -I -S -u tuner.py",
            *(
                f"echo {change.wanted} > /proc/sys/{change.key.replace('.', '/')}"
                for change in self.needed
            ),
            *limit,
        ]

    def sentences(self) -> list[str]:
        """One line per setting: name, value now, value for the run; or why it is not tuned."""
        if self.why_not:
            return [self.why_not.text()]
        limit = [f"descriptors of what the run starts: {self.nofile:,}"] if self.nofile else []
        return [*map(str, self.changes), *limit]


_LEADS = {"nopasswd": "sudo -n -- ", "password": "sudo -S -- ", "root": "", "none": ""}

Consent: TypeAlias = Callable[[Sequence[TuningPlan]], Awaitable[bool | None]]
"""Shows changes to the user, who agrees (True), declines, or runs without them (None)."""


@dataclass(frozen=True)
class Tuning:
    """The set asked for, by name, and how to get consent."""

    name: str
    consent: Consent


TuningEvent: TypeAlias = tuple[str, Said]


class TuneUp:
    """The tuning in force on the machines of a run, until `close`."""

    def __init__(self) -> None:
        self.events: list[TuningEvent] = []
        self.tuned: list[str] = []
        self.wanted = ""
        """The name of the set that was agreed to."""
        self._latest: dict[str, TuningPlan] = {}
        """By machine. Of one that was lost and is back, the earlier plan no longer applies."""
        self._stack = AsyncExitStack()
        self._afterwards: list[TuningEvent] = []

    async def close(self) -> list[TuningEvent]:
        """Restore everything, once. Returns what was restored and what could not be."""
        await to_the_end(self._stack.aclose())
        events, self._afterwards = self._afterwards, []
        return events

    async def apply(self, plan: TuningPlan, machine: Machine, rights: kernel.Rights) -> TuningEvent:
        """Tune a machine, and return what was done; what cannot be tuned stays as it is."""
        if plan.why_not:
            return plan.machine, plan.why_not
        changed: list[str] = []
        self._latest[plan.machine] = plan

        def restored(sentences: Sequence[str]) -> None:
            name = plan.machine
            if self._latest[name] is not plan:
                return
            if changed and not sentences:
                self._afterwards.append((name, notice("restored", machine=name, settings=changed)))
            self._afterwards += [
                (name, notice("not-restored", machine=name, said=said)) for said in sentences
            ]

        runner = await _runner(machine) if plan.nofile else None
        context = kernel.tuned(
            machine,
            plan.changes,
            rights,
            nofile=(runner, plan.nofile) if runner else None,
            on_restored=restored,
        )
        try:
            in_force = await self._stack.enter_async_context(context)
        except PongbenchError as error:
            name = plan.machine
            return name, notice("untuned", machine=name, why="failed", said=str(error))
        self.tuned.append(plan.machine)
        settings = in_force.parameters["settings"]
        done = (s for s in settings if not s["problem"] and s["old"] != s["got"])
        changed += [f"{s['key']} {s['old']}" for s in done]
        return plan.machine, notice("tuned", **in_force.parameters, set=plan.name)

    async def retune(self, machine: Machine, profile: Profile) -> list[TuningEvent]:
        """Tune a machine that is back, as consented to, without asking. Returns what was done."""
        if machine.name not in self.tuned:
            return []
        self.tuned.remove(machine.name)
        restored = await _restore(machine, profile, never_ask)
        plan = await plan_tuning(machine, profile, kernel.load_set(self.wanted))
        return [*restored, await self.apply(plan, machine, kernel.Rights.on(machine, profile))]


async def plan_tuning(machine: Machine, profile: Profile, wanted: kernel.TuningSet) -> TuningPlan:
    """What a set would change there, as the profile allows. Raises PongbenchError."""
    name = machine.name
    changes = await kernel.preview(machine, wanted)
    if not profile.tuning:
        return TuningPlan(name, changes, why_not=notice("untuned", machine=name, why="profile"))
    sudo = kernel.Rights.on(machine, profile).sudo
    if sudo == "none":
        return TuningPlan(name, changes, why_not=notice("untuned", machine=name, why="sudo"))
    return TuningPlan(name, changes, wanted.nofile, sudo=sudo)


async def plans_for(machines: Opened, name: str) -> list[TuningPlan]:
    """The changes that a set would make on each. Raises BadInput when there is no such set."""
    wanted = kernel.load_set(name)
    plans = [await plan_tuning(*opened, wanted) for opened in machines.values()]
    return [replace(plan, name=name) for plan in plans]


@asynccontextmanager
async def tune(machines: Opened, tuning: Tuning | None, ask: Ask) -> AsyncIterator[TuneUp]:
    """Restore what crashed runs left, tune with consent, restore. Raises PongbenchError."""
    up = TuneUp()
    plans: list[TuningPlan] = []
    for machine, profile in machines.values():
        up.events += await _restore(machine, profile, ask)
    if tuning:
        up.wanted = tuning.name
        plans = await plans_for(machines, tuning.name)
        change = any(plan.changes_something for plan in plans)
        consented = await tuning.consent(plans) if change else True
        if consented is None:
            plans = [plan.declined() for plan in plans]
        elif not consented:
            raise PongbenchError(
                "Changing kernel settings was not agreed to, so the run was not started; start it"
                " without any set of them to leave them as they are."
            )
    try:
        for plan in plans:
            machine, profile = machines[plan.machine]
            up.events.append(await up.apply(plan, machine, kernel.Rights.on(machine, profile, ask)))
        yield up
    finally:
        await up.close()


async def _restore(machine: Machine, profile: Profile, ask: Ask) -> list[TuningEvent]:
    """Restore what a crashed run left tuned there, or say why it could not be restored."""
    left = await kernel.left_tuned(machine)
    if left is None:
        return []
    rights = kernel.Rights.on(machine, profile, ask)
    if not profile.tuning or rights.sudo == "none":
        why = f"{left.sentence(machine.name)} {kernel.HOW_TO_RESTORE}"
        return [(machine.name, notice("still-tuned", machine=machine.name, said=why))]
    try:
        restored = await kernel.restore(machine, rights)
    except PongbenchError as error:
        return [(machine.name, notice("still-tuned", machine=machine.name, said=str(error)))]
    found = notice("crash-restored", machine=machine.name, said=list(restored))
    return [(machine.name, found)] if restored else []


async def _runner(machine: Machine) -> int | None:
    """The process id of the runner there, whose limits all programs of the run inherit."""
    text = (await machine.read(["/proc/self/stat"]))[0] or ""
    found = re.match(r"(\d+) ", text)
    return int(found[1]) if found else None

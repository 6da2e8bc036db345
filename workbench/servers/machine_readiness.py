"""Which prerequisites of servers a machine over SSH has.

Read-only: nothing is copied, fetched or built there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from workbench.machines.base import Machine, Platform
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import PROGRAMS
from workbench.servers.readiness import Readiness, lacking, lacking_here, listed, other_processor
from workbench.servers.runtimes import python
from workbench.servers.runtimes.builders import run_builder
from workbench.servers.runtimes.prepare import builds_for


@dataclass(frozen=True)
class MachineReadiness:
    """The prerequisites that one machine has."""

    machine: str
    platform: Platform | None = None
    """None: not known, as of this computer."""
    missing_programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Titles of the programs missing there, by server id."""
    runtimes: Mapping[str, bool] = field(default_factory=dict)
    """Whether the runtime of a server is cached there; absent: known only at its first start."""

    def readiness(self, entry: ServerEntry) -> Readiness:
        name = self.machine
        if found := self._unfit(entry) or lacking_here(entry):
            return found
        if missing := self.missing_programs.get(entry.id, ()):
            return Readiness(
                "to fetch",
                f"It needs {listed(missing)}, which {name} lacks. Testing it there shows what would"
                " be fetched and asks first.",
                missing,
            )
        kept = self.runtimes.get(entry.id)
        if kept:
            return Readiness("ready", f"What it needs is on {name}; it starts at once.")
        brings = f"The first start on {name} copies its runtime from this computer."
        if kept is None:
            brings = f"The first start on {name} copies what it needs, unless it is cached there."
        return Readiness("to make", f"{brings} Later starts reuse it.")

    def _unfit(self, entry: ServerEntry) -> Readiness | None:
        """Return that the machine cannot have its Python; None: it can."""
        if self.platform is None:
            return None
        if entry.runtime != "python":
            return other_processor(entry, self.platform.machine)
        problem = python.too_old(entry, self.machine, self.platform)
        return Readiness("to fetch", problem, ("a later Python",)) if problem else None


def to_fetch(
    entries: Sequence[ServerEntry], there: MachineReadiness | None = None
) -> tuple[str, ...]:
    """Return the names of servers that lack something that is fetched with consent only. `there`:
    what is known of the machine they run on; None: it is this computer, whose disk is read."""
    if there is None:
        return tuple(entry.name for entry in entries if lacking(entry))
    return tuple(e.name for e in entries if there.readiness(e).state == "to fetch")


async def examine(machine: Machine, entries: Sequence[ServerEntry]) -> MachineReadiness:
    """Examine a machine. Raises PongbenchError when it is lost."""
    wanted = {entry.id: _programs(machine, entry) for entry in entries if not entry.unavailable}
    names = sorted({name for programs in wanted.values() for name in programs})
    found = dict(zip(names, await asyncio.gather(*(_has(machine, n) for n in names)), strict=True))
    missing_programs = {
        server: tuple(PROGRAMS[name].title for name in programs if not found[name])
        for server, programs in wanted.items()
    }
    runtimes = await _runtimes(machine, entries)
    return MachineReadiness(machine.name, machine.platform, missing_programs, runtimes)


def _programs(machine: Machine, entry: ServerEntry) -> Sequence[str]:
    """Return the programs needed there, fewer for servers built here."""
    return entry.programs_at_run if builds_for(machine, entry) else entry.programs


async def _has(machine: Machine, name: str) -> bool:
    task = {
        "install": False,
        "bring": True,
        "programs": {name: asdict(PROGRAMS[name])},
    }
    event = await run_builder(machine, "programs", task)
    return bool(event["event"] == "ready")


async def _runtimes(machine: Machine, entries: Sequence[ServerEntry]) -> dict[str, bool]:
    places = {}
    for entry in entries:
        if entry.runtime == "python" and not entry.build and not entry.make:
            place = await asyncio.to_thread(python.place, machine, entry)
            places[entry.id] = f"{place}/.whole"
    texts = await machine.read(list(places.values()))
    return {server: text is not None for server, text in zip(places, texts, strict=True)}

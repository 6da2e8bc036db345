"""Whether this computer has the prerequisites of a server, and what its first start would fetch;
nothing is started, fetched or built."""

from __future__ import annotations

import asyncio
import platform
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from workbench import paths, uv
from workbench.formatting import listed, number_of
from workbench.machines.base import Machine, Platform
from workbench.messages.plans import Warned, warning
from workbench.remote.builders import programs as finder
from workbench.remote.builders import python as builder
from workbench.servers import sources
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import recall
from workbench.servers.programs import PROGRAMS
from workbench.servers.requirements import requirements
from workbench.servers.runtimes import heritage, python
from workbench.servers.runtimes.builders import run_builder
from workbench.servers.runtimes.prepare import builds_for


@dataclass(frozen=True)
class Readiness:
    """What is missing before an entry can start."""

    state: Literal["ready", "to make", "to fetch"]
    """to fetch: system programs, for which consent is asked."""
    sentence: str
    programs: tuple[str, ...] = ()
    """Titles of the missing programs."""


@dataclass(frozen=True)
class MachineReadiness:
    """The prerequisites that another machine has."""

    machine: str
    platform: Platform | None = None
    missing_programs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Titles of the programs missing there, by server id."""
    runtimes: Mapping[str, bool] = field(default_factory=dict)
    """Whether the runtime of a server is cached there; absent: known only at its first start."""
    fetched: Collection[str] = ()
    """Servers whose packages for it this computer has."""


def readiness(entry: ServerEntry, there: MachineReadiness | None = None) -> Readiness:
    """Return the readiness of an entry. `there`: what is known of the machine it runs on; None: it
    is this computer, whose disk is read."""
    if found := _lacking(entry, there):
        return found
    if there is None:
        if entry.runtime == "none" or _has_runtime(entry):
            return Readiness("ready", "Everything it needs is installed.")
        which = f"Python {entry.runtime.removeprefix('python')}".strip()
        path = entry.requirements_path
        count = len(requirements(path)) if path else 0
        packages = f" and fetches {number_of(count, 'packages')}" if count else ""
        text = f"The first start creates a {which} environment{packages}; later ones reuse it."
        return Readiness("to make", text)
    name, kept = there.machine, there.runtimes.get(entry.id)
    if kept:
        return Readiness("ready", f"What it needs is on {name}; it starts at once.")
    brings = f"The first start on {name} copies its runtime from this computer."
    if kept is None:
        brings = f"The first start on {name} copies what it needs, unless it is cached there."
    return Readiness("to make", f"{brings} Later starts reuse it.")


def _lacking(entry: ServerEntry, there: MachineReadiness | None) -> Readiness | None:
    """Return what is fetched with consent only, or cannot be had; None: nothing. Source and old
    Pythons are fetched to this computer, from which other machines get them."""
    architecture, name, where = platform.machine(), "this computer", ""
    if there:
        architecture = there.platform.machine if there.platform else ""
        name, where = there.machine, " there"
        reported = there.platform if entry.runtime == "python" else None
        if reported and (problem := python.too_old(entry, name, reported)):
            return Readiness("to fetch", problem, ("a later Python",))
    if entry.heritage and architecture and (problem := heritage.unfit(architecture)):
        return Readiness("to fetch", problem, ("an x86-64 processor",))
    asks = "shows what would be fetched and asks first."
    source = entry.source_at
    if source and not sources.at_hand(entry):
        needs = f"its source code (licence: {source.licence}), from {source.git}"
        return Readiness("to fetch", f"It needs {needs}. Testing it {asks}", ("source code",))
    if entry.heritage and not heritage.at_hand(entry):
        which = f"Python {entry.runtime.removeprefix('python')}"
        return Readiness("to fetch", f"It needs {which} of Debian 11. Testing it {asks}", (which,))
    if there:
        missing = there.missing_programs.get(entry.id, ())
    else:
        missing = tuple(PROGRAMS[name].title for name in entry.programs if not _has_program(name))
    if not missing:
        return None
    text = f"It needs {listed(missing)}, which {name} lacks. Testing it{where} {asks}"
    return Readiness("to fetch", text, missing)


def _has_runtime(entry: ServerEntry) -> bool:
    """Return whether it has run here before, as far as that shows without starting anything."""
    if python.own(entry) is not None:
        return True
    if getattr(sys, "frozen", False) or entry.runtime != "python":
        return recall(entry) is not None
    task = {
        "requirements": str(entry.requirements_path or ""),
        "imports": entry.imports,
        "build": entry.build,
    }
    base, identity = builder.interpreter(task)
    place = paths.cache_dir() / "runtimes" / builder.key(task, base, identity)
    return (place / builder.STAMP).is_file()


def _has_program(name: str) -> bool:
    program = msgspec.to_builtins(PROGRAMS[name])
    if finder.located(program, "/") or finder.on_path(program):
        return True
    unpacked = paths.cache_dir() / "programs"
    return any(unpacked.glob(f"{name}-*/{finder.STAMP}"))


def to_fetch(
    entries: Sequence[ServerEntry], there: MachineReadiness | None = None
) -> tuple[str, ...]:
    """Return the names of servers that lack what is fetched with consent only."""
    return tuple(entry.name for entry in entries if _lacking(entry, there))


async def out_of_reach(
    entries: Sequence[ServerEntry], there: MachineReadiness | None = None
) -> Warned | None:
    """Return which of these cannot run, because the package index, which has their packages, cannot
    be reached; None: all can, as far as that goes. `there`: see `readiness`."""
    found = await asyncio.to_thread(lambda: [e for e in entries if _from_the_index(e, there)])
    if not found or not (why := await asyncio.to_thread(uv.unreached)):
        return None
    names, ids = [entry.name for entry in found], [entry.id for entry in found]
    return warning("packages-out-of-reach", servers=names, ids=ids, why=why)


def _from_the_index(entry: ServerEntry, there: MachineReadiness | None) -> bool:
    if entry.runtime != "python" or not entry.pinned:
        return False
    if there is None:
        return not _has_runtime(entry)
    return there.runtimes.get(entry.id) is False and entry.id not in there.fetched


async def examine(machine: Machine, entries: Sequence[ServerEntry]) -> MachineReadiness:
    """Examine a machine. Raises PongbenchError when it is lost."""
    wanted = {
        entry.id: entry.programs_at_run if builds_for(machine, entry) else entry.programs
        for entry in entries
        if not entry.unavailable
    }
    names = sorted({name for programs in wanted.values() for name in programs})
    found = dict(zip(names, await asyncio.gather(*(_has(machine, n) for n in names)), strict=True))
    missing_programs = {
        server: tuple(PROGRAMS[name].title for name in programs if not found[name])
        for server, programs in wanted.items()
    }
    places = {}
    for entry in entries:
        if entry.runtime == "python" and not entry.build and not entry.make:
            place = await asyncio.to_thread(python.place, machine, entry)
            places[entry.id] = f"{place}/.whole"
    texts = await machine.read(list(places.values()))
    runtimes = {id: text is not None for id, text in zip(places, texts, strict=True)}
    fetched = {e.id for e in entries if e.id in runtimes and python.is_fetched(machine, e)}
    return MachineReadiness(machine.name, machine.platform, missing_programs, runtimes, fetched)


async def _has(machine: Machine, name: str) -> bool:
    programs = {name: msgspec.to_builtins(PROGRAMS[name])}
    task = {"install": False, "bring": True, "programs": programs}
    event = await run_builder(machine, "programs", task)
    return bool(event["event"] == "ready")

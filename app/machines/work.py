"""The actions of the Machines page. They wait or read: for the engine's thread. No Qt."""

# ruff: noqa: PLC0415 - the engine is imported there

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.machines.records import Record, now, stamp

if TYPE_CHECKING:
    from workbench.machines.aliases import Alias
    from workbench.machines.checking import Step
    from workbench.machines.profiles import Profile
    from workbench.machines.secrets import Ask
    from workbench.sessions.history import FleetHistories, FleetHistory
    from workbench.sessions.library import Shelved
    from workbench.trash import Trashed


@dataclass(frozen=True)
class Known:
    """A profile; `profile` None: its file is damaged, and `problem` describes how."""

    name: str
    profile: Profile | None
    own: bool = False
    problem: str = ""


async def profiles() -> list[Known]:
    """Return all machines, this computer first."""
    from workbench.errors import BadInput
    from workbench.machines.profiles import is_own, load_profile, path_of, profile_names

    def read() -> list[Known]:
        found = []
        for name in profile_names():
            own = is_own(name)
            try:
                found.append(Known(name, load_profile(name), own))
            except BadInput as error:
                path = path_of(name)
                problem = str(error).replace(f"profile {path}", path.name)
                found.append(Known(name, None, own, problem))
        return sorted(found, key=lambda known: (known.profile is None, not _here(known)))

    return await asyncio.to_thread(read)


async def examples() -> list[Profile]:
    """Return the shipped profiles to begin from, which are no machines."""
    from workbench.machines import profiles

    return await asyncio.to_thread(profiles.examples)


async def history(histories: FleetHistories, sessions: Sequence[Shelved]) -> FleetHistory:
    """Return what these sessions, latest first, recorded about machines."""
    return await asyncio.to_thread(histories.read, sessions)


async def here() -> Record:
    """Return the facts of this computer that need no check."""
    import os
    import platform

    from workbench.machines import facts

    found: dict[str, Any] = {"facts": await asyncio.to_thread(facts.here)}
    if hasattr(os, "sched_getaffinity"):
        found["cpus"] = sorted(os.sched_getaffinity(0))
    return Record(found=found | {"python": platform.python_version()}, read=stamp(now()))


async def check(profile: Profile, ask: Ask, report: Callable[[Step], object]) -> None:
    """Check a machine; every finished step is reported."""
    from workbench.machines.checking import check_machine

    steps = check_machine(profile, ask=ask)
    try:
        async for step in steps:
            report(step)
    finally:
        await steps.aclose()  # type: ignore[attr-defined]


async def clean(profile: Profile, ask: Ask, *, cache: bool = False) -> dict[str, Any]:
    """Remove leftovers of crashed runs, and the work directory if `cache`. Returns the janitor's
    report with cache_bytes (remaining), freed (bytes) and left_tuned (a sentence). Raises
    PongbenchError.
    """
    import msgspec

    from workbench.machines.ssh import clean_machine

    async with clean_machine(profile, ask) as machine:
        found: dict[str, Any] = msgspec.to_builtins(machine.cleaned)
        if left_tuned := machine.survey.left_tuned:
            found["left_tuned"] = left_tuned.sentence(profile.name)
        if cache:
            found["freed"] = await machine.remove_cache()
        found["cache_bytes"] = await machine.cache_size()
    return found


async def save(values: dict[str, Any], *, new: bool) -> str:
    """Save a profile. Returns its name. Raises BadInput or PongbenchError."""
    from workbench.machines.profiles import make_profile, save_profile

    profile = make_profile(values)
    await asyncio.to_thread(save_profile, profile, replace=not new)
    return profile.name


async def consent(profile: Profile, tuning: bool) -> None:
    """Save in the profile whether kernel settings may be changed for the length of a run."""
    from workbench.machines.profiles import change_profile

    await asyncio.to_thread(change_profile, profile.name, {"tuning": tuning})


def remove(name: str) -> Trashed:
    """Move a profile to the trash. Raises BadInput or PongbenchError."""
    from workbench.machines.profiles import remove_profile

    return remove_profile(name)


async def trust(host: str, port: int, key: Any) -> None:
    from workbench.machines import hostkeys

    await asyncio.to_thread(hostkeys.trust, host, port, key)


async def hosts() -> list[Alias]:
    """Return the hosts of ~/.ssh/config without a profile."""
    from workbench.machines.aliases import aliases
    from workbench.machines.profiles import profile_names

    def read() -> list[Alias]:
        taken = set(profile_names())
        found = aliases(Path("~/.ssh/config").expanduser())
        return [alias for alias in found if profile_name(alias.name) not in taken]

    return await asyncio.to_thread(read)


async def bring_in(names: list[str]) -> list[str]:
    """Create profiles for hosts of ~/.ssh/config, whose settings stay there. Returns their names.
    Raises BadInput.
    """
    from workbench.machines.profiles import make_profile, save_profile

    made: list[str] = []

    def write() -> None:
        for alias in names:
            values = {"name": profile_name(alias), "connector": "ssh", "address": alias}
            profile = make_profile(values)
            save_profile(profile, replace=False)
            made.append(profile.name)

    await asyncio.to_thread(write)
    return made


def profile_name(alias: str) -> str:
    """Return a valid name for a profile."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in alias)
    return kept.lstrip("._-")[:63] or "machine"


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken."""
    names = [name, *(f"{name[:59]}-{number}" for number in range(2, 1000))]
    return next(each for each in names if each not in taken)


def _here(known: Known) -> bool:
    return known.profile is not None and known.profile.connector == "local"

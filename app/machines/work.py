"""The actions of the Machines page. They wait or read: for the engine's thread. No Qt."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.machines.records import Record, now, stamp
from workbench.errors import BadInput
from workbench.machines import facts
from workbench.machines.profiles import Profile, is_own, load_profile, path_of, profile_names

if TYPE_CHECKING:
    from workbench.machines.checking import Step
    from workbench.machines.secrets import Ask


@dataclass(frozen=True)
class Known:
    """A profile; `profile` None: its file is damaged, and `problem` describes how."""

    name: str
    profile: Profile | None
    own: bool = False
    problem: str = ""


def profiles() -> list[Known]:
    """Return all machines, this computer first."""
    found = []
    for name in profile_names():
        own = is_own(name)
        try:
            found.append(Known(name, load_profile(name), own))
        except BadInput as error:
            path = path_of(name)
            problem = str(error).replace(f"profile {path}", path.name)
            found.append(Known(name, None, own, problem))
    return sorted(found, key=lambda known: (known.profile is None, not is_here(known)))


async def here() -> Record:
    """Return the facts of this computer that need no check."""
    found: dict[str, Any] = {"facts": await asyncio.to_thread(facts.here)}
    if hasattr(os, "sched_getaffinity"):
        found["cpus"] = sorted(os.sched_getaffinity(0))
    return Record(found=found | {"python": platform.python_version()}, read=stamp(now()))


async def check(profile: Profile, ask: Ask, report: Callable[[Step], object]) -> None:
    from workbench.machines.checking import check_machine  # noqa: PLC0415 - only for a check

    steps = check_machine(profile, ask=ask)
    try:
        async for step in steps:
            report(step)
    finally:
        await steps.aclose()  # type: ignore[attr-defined]


async def clean(profile: Profile, ask: Ask, *, cache: bool = False) -> list[Step]:
    """Remove leftovers of crashed runs, and the work directory if `cache`. Returns the steps of a
    check that this repeats. Raises PongbenchError.
    """
    from workbench.machines.checking import cached, leftover_runs  # noqa: PLC0415 - as below
    from workbench.machines.ssh import cache_size, clean_machine  # noqa: PLC0415 - for that

    async with clean_machine(profile, ask) as machine:
        tuned, folder = machine.survey.left_tuned, machine.survey.work_dir
        runs = leftover_runs(machine.cleaned, profile.name, tuned)
        freed = await machine.remove_cache() if cache else 0
        size = await cache_size(machine.shell, machine.survey)
        return [runs, cached(size, folder, freed)]


def title(known: Known) -> str:
    return "This computer" if is_here(known) else known.name


def is_here(known: Known) -> bool:
    return known.profile is not None and known.profile.connector == "local"

"""Removes leftovers of crashed runs from a machine over SSH, and on request the work directory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Ask
from workbench.machines.shell import WORK_WITHIN_S, Shell
from workbench.machines.ssh import Cleaned, clean, open_shell, survey_machine
from workbench.machines.surveyed import Survey
from workbench.machines.wire import Count, quoted
from workbench.remote import REMOTE

REMOVER = REMOTE / "remove_workdir.py"


class Size(msgspec.Struct, frozen=True):
    """The answer of `remove_workdir.py`."""

    bytes: Count = 0
    error: str = ""


@dataclass(frozen=True)
class CleanMachine:
    """A machine without leftovers of crashed runs."""

    shell: Shell
    survey: Survey
    cleaned: Cleaned
    """What was removed, and which runs are active."""

    async def remove_cache(self) -> int:
        """As `remove_cache`; also raises PongbenchError while a run is active."""
        if self.cleaned.alive:
            raise PongbenchError(
                f"'{self.shell.name}' is in use, so {self.survey.work_dir} was kept. Try again"
                " later."
            )
        return await remove_cache(self.shell, self.survey)

    async def cache_size(self) -> int:
        return await cache_size(self.shell, self.survey)


@asynccontextmanager
async def clean_machine(profile: Profile, ask: Ask) -> AsyncIterator[CleanMachine]:
    """Log in and remove leftovers of crashed runs. Raises like `ssh.open_ssh`."""
    shell = await open_shell(profile, ask)
    try:
        survey = await survey_machine(shell, profile)
        yield CleanMachine(shell, survey, await clean(shell, survey))
    finally:
        await shell.close()


async def cache_size(shell: Shell, survey: Survey) -> int:
    """Return the size of the work directory in bytes."""
    what = "measure the work directory"
    arguments = (survey.python, survey.work_dir, "look")
    return (await shell.ask(what, REMOVER, Size, *arguments, within_s=WORK_WITHIN_S)).bytes


async def remove_cache(shell: Shell, survey: Survey) -> int:
    """Remove the work directory with all its content. Returns the bytes removed."""
    what = "remove the work directory"
    arguments = (survey.python, survey.work_dir)
    found = await shell.ask(what, REMOVER, Size, *arguments, within_s=WORK_WITHIN_S)
    if found.error:
        text = f"{survey.work_dir} of '{shell.name}' stays: {quoted(found.error)}."
        raise PongbenchError(text)
    return found.bytes

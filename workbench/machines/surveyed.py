"""What was found on a machine by looking around, and whether a run can work with it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.wire import Count, Folder, Text, Version, Word

LEAST_PROCESSES = 24
"""For runner, guardian, sessions, sampler and a small server, beside one agent a core."""
FEW_PROCESSES = 400
"""Servers with a thread for each connection need more."""


class LeftTuning(msgspec.Struct, frozen=True):
    """Kernel settings that a run changed, and that are not put back yet."""

    alive: bool
    """Whether that run goes on."""
    settings: Annotated[dict[Text, tuple[Text, Text]], msgspec.Meta(max_length=200)]
    """By name: as it was, and as it is for the run. Empty: who looked may not read which."""

    def sentence(self, machine: str) -> str:
        changed = [f"{key} {now} (before: {old})" for key, (old, now) in self.settings.items()]
        which = f": {', '.join(changed)}" if changed else ""
        whose = "goes on" if self.alive else "did not put them back"
        return f"'{machine}' has kernel settings of a run that {whose}{which}."


HOW_TO_RESTORE = (
    "A run or `pongbench machines clean` with a profile that allows it (tuning, sudo) puts them"
    " back, and so does a restart of the machine."
)


class Survey(msgspec.Struct, frozen=True):
    """What `survey.py` says."""

    python: Folder
    version: Version
    machine: Word
    libc: tuple[Word, Word]
    user: Text
    home: Text
    work_dir: Folder
    free_bytes: Count
    connection: Annotated[list[Word], msgspec.Meta(max_length=4)]
    """[our address, our port, its address, its port] as seen there; empty: it does not say."""
    noexec: str = ""
    """The mount point of the work directory, where nothing on it may be executed."""
    cores: Count = 1
    processes_left: Count | None = None
    """So many more may be started; None: no limit is known."""
    left_tuned: LeftTuning | None = None


def fit(machine: str, survey: Survey) -> None:
    """Raises PongbenchError when no run can work there."""
    if survey.noexec:
        raise PongbenchError(
            f"Programs may not run from the work directory of '{machine}', {survey.work_dir}:"
            f" {survey.noexec} is mounted noexec; name a directory elsewhere in the profile"
            " (work_dir), or mount it exec."
        )
    least = LEAST_PROCESSES + survey.cores
    if survey.processes_left is not None and survey.processes_left < least:
        raise PongbenchError(
            f"{survey.user} may start only {survey.processes_left:,} more processes on '{machine}',"
            f" and a run needs {least}: end some, or raise the limit (ulimit -u, TasksMax of"
            " systemd)."
        )

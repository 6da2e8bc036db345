"""What the survey of a machine found, and whether a run can work there."""

from __future__ import annotations

from typing import Annotated

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.wire import Count, Folder, Text, Version, Word

LEAST_PROCESSES = 24
"""Processes for runner, guardian, sessions, sampler and a small server, in addition to one agent
per core."""
FEW_PROCESSES = 400
"""Servers with one thread per connection need more."""


class LeftTuning(msgspec.Struct, frozen=True):
    """Kernel settings that a run changed and has not restored yet."""

    alive: bool
    """Whether that run is still running."""
    settings: Annotated[dict[Text, tuple[Text, Text]], msgspec.Meta(max_length=200)]
    """By name: the value before and during the run. Empty: only root can read them."""

    def sentence(self, machine: str) -> str:
        changed = [f"{key} {now} (before: {old})" for key, (old, now) in self.settings.items()]
        which = f": {', '.join(changed)}" if changed else ""
        whose = "is still running" if self.alive else "did not restore them"
        return f"'{machine}' has the kernel settings of a run that {whose}{which}."


HOW_TO_RESTORE = (
    "A run, or `pongbench machines clean`, with a profile that allows tuning and sudo restores"
    " them; so does a restart of the machine."
)


class Survey(msgspec.Struct, frozen=True):
    """The answer of `survey.py`."""

    python: Folder
    version: Version
    machine: Word
    libc: tuple[Word, Word]
    user: Text
    home: Text
    work_dir: Folder
    free_bytes: Count
    connection: Annotated[list[Word], msgspec.Meta(max_length=4)]
    """[our address, our port, its address, its port] as seen there; empty: unknown."""
    noexec: str = ""
    """The mount point of the work directory, if files on it may not be executed."""
    cores: Count = 1
    processes_left: Count | None = None
    """How many more processes may be started; None: no known limit."""
    left_tuned: LeftTuning | None = None


def fit(machine: str, survey: Survey) -> None:
    """Check that a run can work there. Raises PongbenchError."""
    if survey.noexec:
        raise PongbenchError(
            f"Programs cannot be executed in the work directory of '{machine}', {survey.work_dir}:"
            f" {survey.noexec} is mounted noexec; set another directory in the profile"
            " (work_dir), or mount it exec."
        )
    least = LEAST_PROCESSES + survey.cores
    if survey.processes_left is not None and survey.processes_left < least:
        raise PongbenchError(
            f"{survey.user} may start only {survey.processes_left:,} more processes on '{machine}',"
            f" but a run needs {least}: end some, or raise the limit (ulimit -u, TasksMax of"
            " systemd)."
        )

"""Independent inspection of the machine: what exists, regardless of our own records."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
PATIENCE_S = 60.0
"""For what is bound to come, on however busy a machine."""
CLEAN_WITHIN_S = 30.0
"""On a machine that is busy; on one at rest it is 5 s."""


def processes_with(mark: str) -> dict[int, str]:
    """Every process that has `mark` in its command line or environment, zombies aside."""
    found = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                command = (folder / "cmdline").read_bytes()
                if mark.encode() in command + (folder / "environ").read_bytes():
                    found[int(folder.name)] = command.replace(b"\0", b" ").decode()
            except OSError:
                continue
    return found


def files_below(folder: Path) -> list[str]:
    """Every file and directory below, but for the empty directory where runs are kept."""
    return sorted(path for path in map(str, folder.rglob("*")) if path != str(folder / "runs"))


def eventually(condition: Callable[[], T], *, within_s: float = PATIENCE_S) -> T:
    """The condition's first true value; its last one when time is up."""
    deadline = time.monotonic() + within_s
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return value


def wait_until_clean(mark: str, folder: Path) -> None:
    """Until neither a process nor a file is left; fails after `CLEAN_WITHIN_S`."""
    eventually(
        lambda: not processes_with(mark) and not files_below(folder), within_s=CLEAN_WITHIN_S
    )
    assert processes_with(mark) == {}
    assert files_below(folder) == []

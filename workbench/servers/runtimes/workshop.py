"""Building on this computer for machines over SSH."""

from __future__ import annotations

import contextlib
import platform
import sys
from collections.abc import AsyncIterator

from workbench.machines.base import Machine
from workbench.machines.local import LocalMachine, open_local
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import debian


def builds_for(machine: Machine, entry: ServerEntry) -> bool:
    """Return whether the entry is built, and builds of this computer run there: the same processor,
    and a C library no older than the one here."""
    there = machine.platform
    if there is None or sys.platform != "linux":
        return False
    if not (entry.make or entry.build or entry.runtime.removeprefix("python") in debian.DEBS):
        return False
    library, version = platform.libc_ver()
    return (
        there.machine == platform.machine()
        and (there.libc, library) == ("glibc", "glibc")
        and _numbers(there.libc_version) >= _numbers(version)
    )


@contextlib.asynccontextmanager
async def workshop(entry: ServerEntry) -> AsyncIterator[tuple[LocalMachine, str]]:
    """Open this computer, with the files of the entry in a folder. Raises PongbenchError."""
    here = await open_local()
    try:
        folder = await here.put(entry.folder, f"servers/{entry.id}")
        for path in entry.shared_paths:
            await here.put(path, f"{folder}/{path.name}")
        yield here, folder
    finally:
        await here.close()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())

"""What a machine offers to the rest of the program, wherever it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.errors import PongbenchError


@dataclass(frozen=True)
class Command:
    """A program to start on a machine. Never goes through a shell."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to a small clean environment (PATH, HOME, LANG=C.UTF-8, TMPDIR in the run dir)."""
    cwd: str = ""
    """Relative to the machine's run directory, or absolute."""
    nofile: int = 0
    """Soft descriptor limit wanted; 0: the machine's. Raised as far as the hard limit allows."""
    cpus: Sequence[int] = ()
    """Cores to run on; empty: any."""


@dataclass(frozen=True)
class Platform:
    """What packages for a machine must fit."""

    python: str
    """Version, whole: "3.11.2"."""
    machine: str
    """As uname says: "x86_64"."""
    libc: str
    """"glibc" or "musl"."""
    libc_version: str = ""


class Process(Protocol):
    """A program running on a machine under the runner. Its stderr is merged into its stdout."""

    @property
    def pid(self) -> int: ...

    def lines(self) -> AsyncIterator[bytes]:
        """Its output, line by line without the newline, until it closes it. One reader only."""
        ...

    def tail(self) -> list[str]:
        """The last lines of output (at most 20), for messages; works with and without a reader."""
        ...

    @property
    def dropped(self) -> int:
        """Lines of output lost so far because they were not read in time."""
        ...

    async def send(self, line: bytes) -> None:
        """Write one line (without newline) to its stdin."""
        ...

    async def wait(self) -> int:
        """Its exit status; negative: the signal that ended it."""
        ...

    async def stop(self, grace_s: float = 1.0) -> int:
        """SIGTERM to all that descends from it, after `grace_s` SIGKILL. Raises PongbenchError
        when something resists that, as what has become root may."""
        ...


class Machine(Protocol):
    """An open machine: one run directory (0700, removed whatever happens), one runner.

    Everything started ends with the machine, also when this program is killed.
    """

    @property
    def name(self) -> str: ...

    @property
    def run_dir(self) -> str:
        """Absolute path on that machine."""
        ...

    @property
    def cache_dir(self) -> str:
        """The one directory on that machine that stays."""
        ...

    @property
    def python(self) -> list[str]:
        """The command of a Python there, 3.10 or later, isolated, for programs of our own."""
        ...

    @property
    def cpus(self) -> list[int]:
        """The cores it allows us to use, ascending."""
        ...

    @property
    def is_local(self) -> bool:
        """Is it this computer?"""
        ...

    @property
    def platform(self) -> Platform | None:
        """None: it is this computer, and what runs here runs there."""
        ...

    @property
    def reach(self) -> str:
        """The address at which other machines reach servers on this one; "" for this computer,
        whose address depends on who asks."""
        ...

    @property
    def bind(self) -> str:
        """The address servers listen on so that others reach them."""
        ...

    @property
    def our_address(self) -> str:
        """This computer's, as that machine sees it; empty: it does not say, or is this one."""
        ...

    @property
    def beside(self) -> list[str]:
        """Processes that hold runs of other users there, in words."""
        ...

    @property
    def failure(self) -> PongbenchError | None:
        """Why it is lost (its connection, its runner), in a sentence; None: it is not, as far as is
        known."""
        ...

    async def lost(self) -> PongbenchError:
        """Wait until it is lost; its `failure`, which all that waits for it raises, too."""
        ...

    async def start(self, command: Command) -> Process:
        """Raises PongbenchError when it cannot be started: no such file, no permission, no core."""
        ...

    async def put(self, source: Path, target: str) -> str:
        """Copy a file or a tree to `target` (relative to the run directory); its absolute path."""
        ...

    async def bring(self, archive: Path, name: str) -> str:
        """Unpack a tar, named after its content, once and for all at `name` (relative) in the
        cache directory; its absolute path. The tar holds a file `.whole` in its root."""
        ...

    def way_to(self, host: str, port: int) -> AbstractAsyncContextManager[tuple[str, int]]:
        """An address and a port by which this program reaches those, which that machine does."""
        ...

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        """The texts of small files there (256 KiB at most); None: not to be read."""
        ...

    async def listening(self, port: int) -> tuple[int, int] | None:
        """(accept_queue, backlog) in force in the kernel; None: nobody listens on that port."""
        ...

    async def time_wait(self) -> int:
        """Local connections in TIME_WAIT."""
        ...

    async def clock(self) -> tuple[int, int]:
        """(offset_us, uncertainty_us): what to add to its monotonic clock to get ours."""
        ...

    async def facts(self) -> dict[str, object]:
        """See `machines.facts`."""
        ...

    async def close(self) -> None: ...


async def answers(machine: Machine, within_s: float) -> bool:
    """Whether it answers when it is asked."""
    with contextlib.suppress(PongbenchError, TimeoutError):
        async with asyncio.timeout(within_s):
            await machine.read(["/proc/uptime"])
            return True
    return False

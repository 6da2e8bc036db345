"""What a machine offers to the rest of the program, local or remote."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from workbench.errors import PongbenchError
from workbench.machines.wire import LONGEST_MESSAGE, InvalidMessage


@dataclass(frozen=True)
class Command:
    """A program to start on a machine. Never passed through a shell."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to a minimal environment (PATH, HOME, LANG=C.UTF-8, TMPDIR in the run directory)."""
    cwd: str = ""
    """Relative to the machine's run directory, or absolute."""
    nofile: int = 0
    """Wanted soft descriptor limit; 0: the machine's. Raised as far as the hard limit allows."""
    cpus: Sequence[int] = ()
    """Cores to run on; empty: any."""


@dataclass(frozen=True)
class Platform:
    """The platform that packages for a machine must match."""

    python: str
    """Full version: "3.11.2"."""
    machine: str
    """As reported by uname: "x86_64"."""
    libc: str
    """"glibc" or "musl"."""
    libc_version: str = ""


class Process(Protocol):
    """A program running on a machine under the runner. Its stderr is merged into its stdout."""

    @property
    def pid(self) -> int: ...

    def lines(self) -> AsyncIterator[bytes]:
        """Yield its output line by line, without the newline, until it closes it. One reader
        only."""
        ...

    def tail(self) -> list[str]:
        """Return the last lines of output (at most 20), for messages; works with and without a
        reader."""
        ...

    @property
    def dropped(self) -> int:
        """Lines of output dropped so far because they were not read in time."""
        ...

    async def send(self, line: bytes) -> None:
        """Write one line (without newline) to its stdin."""
        ...

    async def wait(self) -> int:
        """Wait for its exit status; negative: the signal that ended it."""
        ...

    async def stop(self, grace_s: float = 1.0) -> int:
        """Send SIGTERM to all its descendants, after `grace_s` SIGKILL. Raises PongbenchError when
        a process survives that, such as one that has become root."""
        ...


class Machine(Protocol):
    """An open machine: one run directory (0700, always removed), one runner.

    Everything started there ends with the machine, also when this program is killed.
    """

    @property
    def name(self) -> str: ...

    @property
    def run_dir(self) -> str:
        """Absolute path on that machine."""
        ...

    @property
    def cache_dir(self) -> str:
        """The only directory on that machine that stays."""
        ...

    @property
    def python(self) -> list[str]:
        """The command of a Python there, 3.10 or later, in isolated mode, for our own programs."""
        ...

    @property
    def cpus(self) -> list[int]:
        """The cores it allows us to use, ascending."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether it is this computer."""
        ...

    @property
    def platform(self) -> Platform | None:
        """None: it is this computer, so local packages fit."""
        ...

    @property
    def reach(self) -> str:
        """The address at which other machines reach servers on this one; "" for this computer,
        whose address depends on the peer."""
        ...

    @property
    def bind(self) -> str:
        """The address servers listen on so that others reach them."""
        ...

    @property
    def our_address(self) -> str:
        """This computer's address as seen by that machine; empty: unknown, or it is this
        computer."""
        ...

    @property
    def beside(self) -> list[str]:
        """Processes that hold runs of other users there, described for display."""
        ...

    @property
    def failure(self) -> PongbenchError | None:
        """Why it is lost (its connection, its runner), as a sentence; None: it is not known to be
        lost."""
        ...

    async def lost(self) -> PongbenchError:
        """Wait until it is lost and return its `failure`, which every waiting call raises as
        well."""
        ...

    async def start(self, command: Command) -> Process:
        """Start a program. Raises PongbenchError when it cannot: no such file, no permission, no
        core."""
        ...

    async def put(self, source: Path, target: str) -> str:
        """Copy a file or a tree to `target` (relative to the run directory). Returns its absolute
        path."""
        ...

    async def tool(self, source: Path) -> str:
        """Copy one of our programs there, a file or a folder, once. Returns its absolute path."""
        ...

    async def bring(self, archive: Path, name: str) -> str:
        """Unpack a tar once at `name` in the cache directory, named after its content. Returns its
        absolute path. The tar has a file `.whole` in its root."""
        ...

    def route_to(self, host: str, port: int) -> AbstractAsyncContextManager[tuple[str, int]]:
        """Return a local address and port that lead to an address reachable from that machine."""
        ...

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        """Return the texts of small files there (256 KiB at most); None: unreadable."""
        ...

    async def listening(self, port: int) -> tuple[int, int] | None:
        """Return the kernel's (accept_queue, backlog); None: no listening socket on that port."""
        ...

    async def time_wait(self) -> int:
        """Return the local connections in TIME_WAIT."""
        ...

    async def clock(self) -> tuple[int, int]:
        """Return (offset_us, uncertainty_us); the offset converts its monotonic clock to ours."""
        ...

    async def facts(self) -> dict[str, object]:
        """Return its facts; see `machines.facts`."""
        ...

    async def close(self) -> None: ...


async def answers(machine: Machine, within_s: float) -> bool:
    """Return whether it answers a request."""
    with contextlib.suppress(PongbenchError, TimeoutError):
        async with asyncio.timeout(within_s):
            await machine.read(["/proc/uptime"])
            return True
    return False


WITHIN_S = 8.0


async def output(
    process: Process, within_s: float = WITHIN_S, longest: int = LONGEST_MESSAGE
) -> list[bytes]:
    """Yield its lines until it closes its output. Raises InvalidMessage when it takes too long or
    sends too much; PongbenchError when its machine is lost."""
    lines, size = [], 0
    try:
        async with asyncio.timeout(within_s):
            async for line in process.lines():
                lines.append(line)
                size += len(line) + 1
                if size > longest:
                    raise InvalidMessage(f"more than {longest >> 10:,} KiB")
    except TimeoutError:
        raise InvalidMessage(f"no end of it within {within_s:.0f} s") from None
    return lines


async def ran(machine: Machine, command: Command, within_s: float) -> tuple[int | None, list[str]]:
    """Return its exit status and its last lines. None: it exceeded the time limit, and was stopped.

    Raises PongbenchError when it cannot be started, or its machine is lost.
    """
    process = await machine.start(command)
    status = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            status = await process.wait()
    if status is None:
        await process.stop(grace_s=0)
    return status, process.tail()

"""A machine, local or remote: one run directory, one runner, and what it offers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shlex
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from workbench.closing import to_the_end
from workbench.errors import PongbenchError
from workbench.machines import facts
from workbench.machines.runner_client import Command, Link, Process
from workbench.machines.wire import LONGEST_MESSAGE, Count, InvalidMessage, Ready, decode, quoted
from workbench.remote import REMOTE

T = TypeVar("T")

INTERPRETERS = "runtimes/interpreter-"
"""Below the work directory, before the hash of a Python brought there, which servers may read."""
SAMPLER = REMOTE / "sampler"
PINGS = 60
LONGEST, MOST_WORDS = 120, 24

_LISTENING: msgspec.json.Decoder[tuple[int, int] | None] = msgspec.json.Decoder(
    tuple[Count, Count] | None
)

log = logging.getLogger("workbench.machines.commands")
PING_FOR_S = 0.25
"""Seconds of pings; fewer suffice on a distant link: its uncertainty comes from neither end."""
WITHIN_S = 8.0


@dataclass(frozen=True)
class Platform:
    python: str
    """Full version: "3.11.2"."""
    machine: str
    """As reported by uname: "x86_64"."""
    libc: str
    """"glibc" or "musl"."""
    libc_version: str = ""


class Machine(ABC):
    """An open machine: one run directory (0700, always removed), one runner. A connector adds file
    transfer and closing. All that is started there ends with it, also if this program is killed."""

    is_local = False
    platform: Platform | None = None
    """None: it is this computer, so local packages fit."""
    reach = ""
    """Where other machines reach servers on it; "" for this computer: that depends on the peer."""
    bind = "127.0.0.1"
    """The address servers listen on so that others reach them."""
    our_address = ""
    """This computer's address as seen by that machine; empty: unknown, or it is this computer."""

    def __init__(self, link: Link, cache_dir: str, introduction: Ready) -> None:
        self._link = link
        self._version = introduction.version
        self._tools: dict[Path, str] = {}
        self._copying = asyncio.Lock()
        self._queried: set[int] = set()
        self.name = link.name
        self.run_dir: str = introduction.run
        """Absolute path on that machine."""
        self.cache_dir = cache_dir
        """The only directory on that machine that stays."""
        self.python = [introduction.python, "-I", "-S", "-u"]
        """The command of a Python there, 3.10 or later, in isolated mode, for our own programs."""
        self.cpus: list[int] = list(introduction.cpus)
        """The cores it allows us to use, ascending."""
        self.beside = [quoted(each) for each in introduction.beside]
        """Processes that hold runs of other users there, described for display."""

    @property
    def failure(self) -> PongbenchError | None:
        """Why it is lost (connection, runner), as a sentence; None: it is not known to be."""
        return self._link.failure

    async def lost(self) -> PongbenchError:
        """Wait until it is lost and return its `failure`, which every waiting call raises."""
        return await self._link.lost()

    async def start(self, command: Command) -> Process:
        """Start a program. Raises PongbenchError: no such file, no permission, no core."""
        log.info("%s: %s", self.name, described(command))
        return await self._link.start(command)

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        """Return the texts of small files there (256 KiB at most); None: unreadable."""
        return await self._link.read(paths)

    @abstractmethod
    async def put(self, source: Path, target: str) -> str:
        """Copy a file or a tree to `target` in the run directory. Returns its absolute path."""

    async def tool(self, source: Path) -> str:
        """Copy one of our programs there, a file or a folder, once. Returns its absolute path."""
        async with self._copying:  # It may be started while it is copied again.
            if source not in self._tools:
                self._tools[source] = await self.put(source, f"tools/{source.name}")
        return self._tools[source]

    @abstractmethod
    async def bring(self, archive: Path, name: str) -> str:
        """Unpack a tar once at `name` in the cache directory, named after its content. Returns its
        absolute path. The tar has a file `.whole` in its root."""

    @abstractmethod
    def route_to(self, host: str, port: int) -> AbstractAsyncContextManager[tuple[str, int]]:
        """Return a local address and port that lead to an address reachable from that machine."""

    @abstractmethod
    def leading_here(self, host: str, port: int) -> AbstractAsyncContextManager[tuple[str, int]]:
        """Return an address of that machine alone that leads to one here. Raises PongbenchError."""

    async def listening(self, port: int) -> tuple[int, int] | None:
        """Return the kernel's (accept_queue, backlog); None: no listening socket on that port."""
        sampler = await self.tool(SAMPLER)
        # Requested many times a second, and reported once.
        start = self._link.start if port in self._queried else self.start
        self._queried.add(port)
        process = await start(Command([*self.python, sampler, str(port)]))
        try:
            return await answer(process, _LISTENING)
        except InvalidMessage as error:
            raise PongbenchError(
                f"'{self.name}' cannot report what listens on port {port}: {error}."
            ) from None

    async def facts(self) -> dict[str, object]:
        return facts.process(await self.read(facts.PATHS)) | {
            "python": self._version,
            "cpus_allowed": self.cpus,
        }

    async def clock(self) -> tuple[int, int]:
        """Return (offset_us, uncertainty_us); the offset converts its monotonic clock to ours."""
        until = time.monotonic() + PING_FOR_S
        best = await self._link.ping()
        for _ in range(PINGS - 1):
            if time.monotonic() > until:
                break
            best = min(best, await self._link.ping(), key=lambda ping: ping[1])
        return best

    async def close(self) -> None:
        await to_the_end(self._close())

    @abstractmethod
    async def _close(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.close()


def described(command: Command) -> str:
    """Return a command as typed in a shell, for the log; long texts and lists are shortened."""
    words = shlex.join([_line(word) for word in command.argv[:MOST_WORDS]])
    left = len(command.argv) - MOST_WORDS
    return f"{words} … and {left} more" if left > 0 else words


def _line(word: str) -> str:
    first = word.strip().partition("\n")[0][:LONGEST]
    return first if first == word else f"{first}…"


async def answers(machine: Machine, within_s: float) -> bool:
    with contextlib.suppress(PongbenchError, TimeoutError):
        async with asyncio.timeout(within_s):
            await machine.read(["/proc/uptime"])
            return True
    return False


async def answer(process: Process, answers: msgspec.json.Decoder[T]) -> T:
    """Return what one of our programs prints as its last line. Raises InvalidMessage with what it
    says instead, PongbenchError when its machine is lost."""
    line, size = b"", 0
    try:
        async with asyncio.timeout(WITHIN_S):
            async for line in process.lines():
                size += len(line) + 1
                if size > LONGEST_MESSAGE:
                    raise InvalidMessage(f"more than {LONGEST_MESSAGE >> 10:,} KiB")
        return decode(answers, line)
    except TimeoutError:
        problem = f"no end of it within {WITHIN_S:.0f} s"
    except InvalidMessage as error:
        problem = str(error)
    raise InvalidMessage(quoted(" ".join(process.tail()[-1:]) or problem))


async def ran(machine: Machine, command: Command, within_s: float) -> tuple[int | None, list[str]]:
    """Return its exit status and its last lines; of what it started nothing is left. None: it took
    too long. Raises PongbenchError when it cannot be started, or its machine is lost."""
    process = await machine.start(command)
    status = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            status = await process.wait()
    await process.stop(grace_s=0)
    return status, process.tail()

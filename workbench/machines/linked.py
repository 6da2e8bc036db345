"""What all machines behind a link have in common, whichever connector opened them."""

from __future__ import annotations

import asyncio
import logging
import re
import shlex
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from workbench.errors import PongbenchError
from workbench.machines import facts
from workbench.machines.base import Command, output
from workbench.machines.runner_client import Link, LinkProcess
from workbench.machines.runnerevents import Ready
from workbench.machines.wire import Count, InvalidMessage, decode, quoted
from workbench.remote import REMOTE

SAMPLER = REMOTE / "sampler"
PINGS = 60
LONGEST, MOST_WORDS = 120, 24

_LISTENING: msgspec.json.Decoder[tuple[int, int] | None] = msgspec.json.Decoder(
    tuple[Count, Count] | None
)

log = logging.getLogger("workbench.machines.commands")
PING_FOR_S = 0.25
"""Seconds of pings; fewer suffice on a distant link: its uncertainty comes from neither end."""


class LinkedMachine:
    """A `base.Machine` on a link; a connector adds file transfer and closing."""

    def __init__(self, link: Link, cache_dir: str, introduction: Ready) -> None:
        self._link = link
        self._cache_dir = cache_dir
        self._introduction = introduction
        self._tools: dict[Path, str] = {}
        self._copying = asyncio.Lock()
        self._queried: set[int] = set()

    @property
    def name(self) -> str:
        return self._link.name

    @property
    def run_dir(self) -> str:
        return self._introduction.run

    @property
    def cache_dir(self) -> str:
        return self._cache_dir

    @property
    def python(self) -> list[str]:
        """The command of a Python there, 3.10 or later, for our own programs."""
        return [self._introduction.python, "-I", "-S", "-u"]

    @property
    def cpus(self) -> list[int]:
        """The cores it allows us to use."""
        return list(self._introduction.cpus)

    @property
    def beside(self) -> list[str]:
        return [quoted(each) for each in self._introduction.beside]

    @property
    def failure(self) -> PongbenchError | None:
        return self._link.failure

    async def lost(self) -> PongbenchError:
        return await self._link.lost()

    async def start(self, command: Command) -> LinkProcess:
        log.info("%s: %s", self.name, described(command))
        return await self._link.start(command)

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        """Return the texts of small files there (256 KiB at most); None: unreadable."""
        return await self._link.read(paths)

    async def put(self, source: Path, target: str) -> str:
        raise NotImplementedError

    async def tool(self, source: Path) -> str:
        async with self._copying:  # It may be started while it is copied again.
            if source not in self._tools:
                self._tools[source] = await self.put(source, f"tools/{source.name}")
        return self._tools[source]

    async def listening(self, port: int) -> tuple[int, int] | None:
        sampler = await self.tool(SAMPLER)
        # Requested many times a second, and reported once.
        start = self._link.start if port in self._queried else self.start
        self._queried.add(port)
        process = await start(Command([*self.python, sampler, str(port)]))
        try:
            return decode(_LISTENING, b"".join(await output(process)))
        except InvalidMessage as error:
            last = " ".join(process.tail()[-1:]) or str(error)
            raise PongbenchError(
                f"'{self.name}' cannot report what listens on port {port}: {quoted(last)}."
            ) from None

    async def time_wait(self) -> int:
        (text,) = await self.read(["/proc/net/sockstat"])
        return time_wait(text or "")

    async def facts(self) -> dict[str, object]:
        return facts.process(await self.read(facts.PATHS)) | {
            "python": self._introduction.version,
            "cpus_allowed": self.cpus,
        }

    async def clock(self) -> tuple[int, int]:
        until = time.monotonic() + PING_FOR_S
        best = await self._link.ping()
        for _ in range(PINGS - 1):
            if time.monotonic() > until:
                break
            best = min(best, await self._link.ping(), key=lambda ping: ping[1])
        return best


def described(command: Command) -> str:
    """Return a command as typed in a shell, for the log; program texts and long lists are
    shortened."""
    words = shlex.join([_line(word) for word in command.argv[:MOST_WORDS]])
    left = len(command.argv) - MOST_WORDS
    return f"{words} … and {left} more" if left > 0 else words


def _line(word: str) -> str:
    first = word.strip().partition("\n")[0][:LONGEST]
    return first if first == word else f"{first}…"


def time_wait(sockstat: str) -> int:
    """Return the connections in TIME_WAIT, from /proc/net/sockstat."""
    found = re.search(r"^TCP:.*\btw ([0-9]{1,12})", sockstat, re.MULTILINE)
    return int(found[1]) if found else 0

"""A program at the other end of a link: its output and its end."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from workbench.errors import PongbenchError
from workbench.machines import runnerevents
from workbench.machines.exchange import Exchange, resolve

MAX_UNREAD = 8 << 20
"""Bytes of output kept for a slow reader; older lines are dropped and counted."""
PER_LINE = 64
"""Overhead of a line in bytes, however short it is."""
TAIL_LINES, TAIL_WIDTH = 20, 1 << 16
STOPPED_WITHIN_S = 13.0
"""Seconds after the grace period: a runner spends up to 10 s on processes that resist."""
SLICE_S = 0.02
"""The longest time, in seconds, for which a reader of lines may keep the event loop."""


class LinkProcess:
    """A `base.Process`: a program under the runner at the other end of a link."""

    def __init__(self, link: Exchange, key: str, pid: int) -> None:
        self._link = link
        self._key = key
        self._pid = pid
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self._news = asyncio.Event()
        self._ended = False
        self.dropped = 0
        """Lines lost because nobody read them in time."""
        self._exit = link.expect()
        self._stopped: asyncio.Future[Any] | None = None

    @property
    def pid(self) -> int:
        return self._pid

    async def lines(self) -> AsyncIterator[bytes]:
        while True:
            began = time.monotonic()
            while self._unread:
                line = self._unread.popleft()
                self._unread_bytes -= len(line) + PER_LINE
                yield line
                # A slow reader of lines must not delay the heartbeats.
                if time.monotonic() - began > SLICE_S:
                    await asyncio.sleep(0)
                    began = time.monotonic()
            if self._ended:
                return
            if self._link.failure:
                raise self._link.failure
            self._news.clear()
            await self._news.wait()

    def tail(self) -> list[str]:
        return [line.decode("utf-8", "replace") for line in self._tail]

    async def send(self, line: bytes) -> None:
        text = line.decode("utf-8", "surrogateescape")
        await self._link.send(op="write", id=self._key, line=text)

    async def wait(self) -> int:
        status: int = await asyncio.shield(self._exit)
        return status

    async def stop(self, grace_s: float = 1.0) -> int:
        if self._stopped is None:
            self._stopped = self._link.expect()
            await self._link.send(op="stop", id=self._key, grace_s=grace_s)
        stopped = asyncio.shield(self._stopped)
        what = f"end process {self._pid}"
        if await self._link.in_time(stopped, what, grace_s + STOPPED_WITHIN_S):
            raise PongbenchError(
                f"Process {self._pid} of '{self._link.name}' or what it started cannot be ended:"
                " perhaps it became another user, such as root; end it there."
            )
        exit = asyncio.shield(self._exit)
        return int(await self._link.in_time(exit, f"report how process {self._pid} ended"))

    def take(self, line: bytes) -> None:
        """Add one line of its output."""
        self._tail.append(line[:TAIL_WIDTH])
        self._unread.append(line)
        self._unread_bytes += len(line) + PER_LINE
        while self._unread_bytes > MAX_UNREAD:
            self._unread_bytes -= len(self._unread.popleft()) + PER_LINE
            self.dropped += 1
        self._news.set()

    def take_event(self, event: runnerevents.OfProcess) -> None:
        match event:
            case runnerevents.Exit():
                resolve(self._exit, event.status)
            case runnerevents.Eof():
                self._ended = True
                self._news.set()
            case runnerevents.Stopped():
                resolve(self._stopped, event.left)
            case runnerevents.Dropped():
                self.dropped += event.lines

    def wake(self) -> None:
        """Wake the reader of the lines when the link has failed."""
        self._news.set()

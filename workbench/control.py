"""The user's commands to a running run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from workbench.closing import ended

T = TypeVar("T")


class Stopped(Exception):
    """The user asked the run to stop."""


class Control:
    """Pause, skip, stop; only in the engine's event loop. To abort, cancel the engine's task."""

    def __init__(self) -> None:
        self.stopping = False
        self.skipping = False
        """The server under test is to be left out from here on."""
        self._may_run = asyncio.Event()
        self._may_run.set()
        self._interrupted = asyncio.Event()

    @property
    def paused(self) -> bool:
        return not self._may_run.is_set()

    def pause(self) -> None:
        """Pause after the current point."""
        self._may_run.clear()

    def resume(self) -> None:
        self._may_run.set()

    def skip_server(self) -> None:
        """End the current point and continue with the next server."""
        self.skipping = True
        self._interrupt()

    def stop(self) -> None:
        """End the current point, stop the server, close the session."""
        self.stopping = True
        self._interrupt()

    def _interrupt(self) -> None:
        self._interrupted.set()
        self._may_run.set()

    def next_server(self) -> None:
        """Reset the commands that applied to the last server."""
        self.skipping = False
        if not self.stopping:
            self._interrupted.clear()

    def check(self) -> None:
        if self.stopping:
            raise Stopped

    async def until_resumed(self) -> None:
        await self._may_run.wait()
        self.check()

    async def interrupted(self) -> None:
        """Wait until the current point is to end."""
        await self._interrupted.wait()

    async def unless_interrupted(self, work: Awaitable[T]) -> T | None:
        """Return its result; None, after cancelling it, when the user skips or stops."""
        working = asyncio.ensure_future(work)
        interrupted = asyncio.ensure_future(self._interrupted.wait())
        try:
            await asyncio.wait({working, interrupted}, return_when=asyncio.FIRST_COMPLETED)
            return await working if working.done() else None
        finally:
            await ended(working, interrupted)

    async def rest(self, seconds: float) -> None:
        """Sleep, unless the user skips the rest. Raises Stopped when the run is to end."""
        try:
            async with asyncio.timeout(seconds):
                await self._interrupted.wait()
        except TimeoutError:
            pass
        self.check()

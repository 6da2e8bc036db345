"""Replaying a session as a film."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence

from workbench.documents import AnyDocument, RunStart, Window

AS_FAST_AS_POSSIBLE = math.inf
FASTEST = 1000
_BATCH = 500


def times_us(documents: Sequence[AnyDocument]) -> list[int]:
    """Return when each document was emitted, never decreasing."""
    return list(itertools.accumulate(map(time_us, documents), max))


def time_us(document: AnyDocument) -> int:
    """Return when a document was emitted: a window at its end."""
    match document:
        case RunStart():
            return 0
        case Window():
            return document.t_us + document.length_us
        case _:
            return document.t_us


class SessionSource:
    """An asynchronous iterator over documents, each at its time.

    After a jump back it begins again with the `RunStart`, at which every consumer resets, and
    yields at once all that precedes the new position; after a jump forward, all in between. One
    iteration at a time; all methods belong to the iterating thread.
    """

    def __init__(
        self,
        documents: Sequence[AnyDocument],
        *,
        speed: float = 1.0,
        paused: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = documents
        self._times = times_us(documents)
        self._clock = clock
        self._next = 0
        self._changed = asyncio.Event()
        self._speed, self._paused = speed, paused
        self._at_us, self._since_s = 0.0, clock()

    @property
    def duration_us(self) -> int:
        return self._times[-1] if self._times else 0

    @property
    def position_us(self) -> float:
        """The position in the recording, at most its duration."""
        position_us = self._passed_us()
        # At infinite speed there is no position in between.
        return min(
            position_us if math.isfinite(position_us) else self._shown_us(), self.duration_us
        )

    @property
    def paused(self) -> bool:
        return self._paused

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        """Set the speed: 1 to `FASTEST`, or `AS_FAST_AS_POSSIBLE`."""
        self._move(self.position_us)
        self._speed = speed

    def pause(self) -> None:
        self._move(self.position_us)
        self._paused = True

    def play(self) -> None:
        self._move(self.position_us)
        self._paused = False

    def seek(self, t_us: float) -> None:
        """Jump to `t_us`; documents before come at once. An ended iteration must be restarted."""
        t_us = min(max(0.0, t_us), self.duration_us)
        if t_us < self._shown_us():
            self._next = 0
        self._move(t_us)

    async def __aiter__(self) -> AsyncIterator[AnyDocument]:
        since_rest = 0
        while self._next < len(self._documents):
            ahead_us = self._times[self._next] - self._passed_us()
            speed = 0.0 if self._paused else self._speed
            wait_s = 0.0 if ahead_us <= 0 else ahead_us / (speed * 1e6) if speed else math.inf
            if wait_s > 0 or since_rest == _BATCH:
                since_rest = 0
                await self._rest(wait_s)
                continue
            since_rest += 1
            self._next += 1
            yield self._documents[self._next - 1]

    async def _rest(self, wait_s: float) -> None:
        """Wait until then, or until the playhead is moved; at least one turn of the loop."""
        self._changed.clear()
        if wait_s == 0:
            await asyncio.sleep(0)
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                await self._changed.wait()

    def _shown_us(self) -> int:
        return self._times[self._next - 1] if self._next else 0

    def _passed_us(self) -> float:
        """The position by the viewer's clock."""
        passed_s = self._clock() - self._since_s
        if self._paused or passed_s <= 0:
            return self._at_us
        return self._at_us + passed_s * self._speed * 1e6

    def _move(self, at_us: float) -> None:
        """Continue from a position."""
        self._at_us, self._since_s = at_us, self._clock()
        self._changed.set()

"""Replaying a session as a film."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.documents import AnyDocument, RunStart, Window

AS_FAST_AS_POSSIBLE = math.inf
FASTEST = 1000
_BATCH = 500


@dataclass(frozen=True)
class Playhead:
    """The position of a replay, in seconds of the viewer's clock and microseconds recorded."""

    at_us: float = 0.0
    """The position at `since_s`."""
    since_s: float = 0.0
    speed: float = 1.0
    """Seconds of the recording per second; infinite: as fast as possible."""
    paused: bool = False

    def position_us(self, now_s: float) -> float:
        if self.paused or now_s <= self.since_s:
            return self.at_us
        return self.at_us + (now_s - self.since_s) * self.speed * 1e6

    def wait_s(self, t_us: float, now_s: float) -> float:
        """Return the time until `t_us`: 0 when it has passed, infinite while paused."""
        ahead_us = t_us - self.position_us(now_s)
        if ahead_us <= 0:
            return 0.0
        return math.inf if self.paused else ahead_us / (self.speed * 1e6)


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
        self._playhead = Playhead(0.0, clock(), _checked(speed), paused)

    @property
    def duration_us(self) -> int:
        return self._times[-1] if self._times else 0

    @property
    def position_us(self) -> float:
        """The position in the recording, at most its duration."""
        position_us = self._playhead.position_us(self._clock())
        # At infinite speed there is no position in between.
        return min(
            position_us if math.isfinite(position_us) else self._shown_us(), self.duration_us
        )

    @property
    def paused(self) -> bool:
        return self._playhead.paused

    @property
    def speed(self) -> float:
        return self._playhead.speed

    @speed.setter
    def speed(self, speed: float) -> None:
        """Set the speed, 1 to 1000 or `AS_FAST_AS_POSSIBLE`. Raises ValueError."""
        self._move(speed=_checked(speed))

    def pause(self) -> None:
        self._move(paused=True)

    def play(self) -> None:
        self._move(paused=False)

    def seek(self, t_us: float) -> None:
        """Jump to `t_us`; documents before come at once. An ended iteration must be restarted."""
        t_us = min(max(0.0, t_us), self.duration_us)
        if t_us < self._shown_us():
            self._next = 0
        self._move(at_us=t_us)

    def __aiter__(self) -> AsyncIterator[AnyDocument]:
        return self._play()

    async def _play(self) -> AsyncIterator[AnyDocument]:
        since_rest = 0
        while self._next < len(self._documents):
            wait_s = self._playhead.wait_s(self._times[self._next], self._clock())
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
        try:
            async with asyncio.timeout(None if math.isinf(wait_s) else wait_s):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _shown_us(self) -> int:
        return self._times[self._next - 1] if self._next else 0

    def _move(self, **changes: Any) -> None:
        here = replace(self._playhead, at_us=self.position_us, since_s=self._clock())
        self._playhead = replace(here, **changes)
        self._changed.set()


def _checked(speed: float) -> float:
    if not (1 <= speed <= FASTEST or speed == AS_FAST_AS_POSSIBLE):
        raise ValueError(f"a speed is from 1 to {FASTEST}, not {speed}")
    return speed

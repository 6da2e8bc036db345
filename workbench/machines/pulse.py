"""Notices that the other end has fallen silent, and that this computer slept."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

EVERY_S = 1.0

BOOTTIME = getattr(time, "CLOCK_BOOTTIME", None)
"""The clock that goes on while the computer sleeps; None: this system has none."""


@dataclass(frozen=True)
class Instant:
    """A time on two clocks, in seconds; they differ by how long the computer slept."""

    running_s: float
    elapsed_s: float

    @classmethod
    def now(cls) -> Instant:
        running_s = time.monotonic()
        elapsed_s = running_s if BOOTTIME is None else time.clock_gettime(BOOTTIME)
        return cls(running_s, elapsed_s)

    def slept_since(self, before: Instant) -> float:
        """Return for how long the computer slept."""
        return (self.elapsed_s - before.elapsed_s) - (self.running_s - before.running_s)


class Pulse:
    """Counts the seconds without input.

    Only seconds in which this program could read count: after it was busy or suspended, pending
    input is read before another second counts.
    """

    def __init__(self) -> None:
        self._silent = 0

    def beat(self) -> None:
        self._silent = 0

    async def stops(self, after_s: float) -> None:
        """Return once nothing was received for this many seconds."""
        while self._silent * EVERY_S < after_s:
            await asyncio.sleep(EVERY_S)
            self._silent += 1

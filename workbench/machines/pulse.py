"""Notices that the other end has fallen silent, and that this program did not run for a time."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from workbench.messages.base import Stated
from workbench.messages.notes import notice

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

    def elapsed_since(self, before: Instant) -> float:
        # Where the monotonic clock goes on as well, it is the only one.
        return max(self.elapsed_s - before.elapsed_s, self.running_s - before.running_s)

    def slept_since(self, before: Instant) -> float:
        """Return for how long the computer slept."""
        return (self.elapsed_s - before.elapsed_s) - (self.running_s - before.running_s)


class Pulse:
    """Counts the seconds without input in which this program could read: after it was busy or
    suspended, pending input is read before another second counts."""

    def __init__(self) -> None:
        self._silent = 0
        self._awake: Instant | None = None
        """When this program last ran, while it counts."""
        self._absence: tuple[Stated, Instant] | None = None
        """The latest time in which this program did not run, and when that ended."""

    def beat(self) -> None:
        self._silent = 0

    async def stops(self, after_s: float) -> None:
        """Return once nothing was received for this many seconds."""
        self._awake = Instant.now()
        while self._silent * EVERY_S < after_s:
            await asyncio.sleep(EVERY_S)
            self._look()
            self._silent += 1

    def absence(self, least_s: float, since_s: float) -> Stated | None:
        """Return the latest time of at least `least_s` in which this program did not run;
        None: there was none that ended within `since_s`."""
        self._look()
        if self._absence is None:
            return None
        found, ended = self._absence
        recent = Instant.now().elapsed_since(ended) <= since_s
        return found if recent and found.parameters["seconds"] >= least_s else None

    def _look(self) -> None:
        if self._awake is None:
            return
        now = Instant.now()
        missed_s = now.elapsed_since(self._awake) - EVERY_S
        if missed_s > EVERY_S:
            asleep = now.slept_since(self._awake) > EVERY_S
            said = notice("suspended", seconds=missed_s + EVERY_S, asleep=asleep)
            self._absence = said, now
        self._awake = now

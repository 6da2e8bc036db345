"""Notices that the other end has fallen silent."""

from __future__ import annotations

import asyncio

EVERY_S = 1.0


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

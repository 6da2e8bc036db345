"""The samplers of a run's machines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection

from workbench.closing import to_the_end
from workbench.documents import HostSample
from workbench.machines.base import Machine
from workbench.machines.sampler_client import Sampling
from workbench.machines.usage import Usage

AHEAD_US = 60_000_000
"""A sample from further in the future than this is discarded."""


class Samplers:
    """Samples every machine of a run, and emits samples on the session's axis, from its zero on."""

    def __init__(self, emit: Callable[[HostSample], None]) -> None:
        self._emit = emit
        self._zero_us: int | None = None
        self._samplings: dict[str, Sampling] = {}

    def begin(self, zero_us: int) -> None:
        """Start emitting. `zero_us`: the session's zero on this computer's monotonic clock."""
        self._zero_us = zero_us

    async def start(
        self,
        machine: Machine,
        clock: tuple[int, int],
        cores: Collection[int] = (),
        beside: Collection[int] = (),
    ) -> Sampling:
        """Sample a machine; also one that was lost and is back. `clock`: from `Machine.clock`,
        `cores`, `beside`: see `Sampling`."""
        # This computer's clock is the session's; its offset is measured, but known to be none.
        offset_us = 0 if machine.is_local else clock[0]

        def to_session_us(mono_us: int) -> int:
            return -1 if self._zero_us is None else mono_us + offset_us - self._zero_us

        if before := self._samplings.pop(machine.name, None):
            await before.stop()
        sampling = self._samplings[machine.name] = Sampling(cores, beside)
        await sampling.start(machine, to_session_us, self._take)
        return sampling

    async def mark(self) -> None:
        """Begin a point on every machine; see `Sampling.mark`."""
        await asyncio.gather(*(sampling.mark() for sampling in self._samplings.values()))

    async def since_mark(self, *, now: bool) -> dict[str, Usage]:
        """By machine; see `Sampling.since_mark`."""
        asked = {name: sampling.since_mark(now=now) for name, sampling in self._samplings.items()}
        return dict(zip(asked, await asyncio.gather(*asked.values()), strict=True))

    async def stop(self) -> None:
        await to_the_end(self._stop())

    async def _stop(self) -> None:
        for sampling in reversed(self._samplings.values()):
            await sampling.stop()

    def _take(self, sample: HostSample) -> None:
        now_us = time.monotonic_ns() // 1000 - (self._zero_us or 0)
        if 0 <= sample.t_us <= now_us + AHEAD_US:
            self._emit(sample)

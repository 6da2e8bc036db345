"""Watches a run's target: a point in which it was lost says nothing about its server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.closing import ended
from workbench.errors import PongbenchError
from workbench.load.base import LoadReport
from workbench.machines.base import Machine, answers
from workbench.machines.pulse import Instant
from workbench.messages.base import Message
from workbench.messages.notes import SamplerLost, SamplerRestarted, TargetGone
from workbench.messages.reasons import ComputerSlept, TargetLost, TargetSilent
from workbench.run.state import RunState

ANSWERS_WITHIN_S = 4.0
"""As long as a runner may be silent: where a server takes all there is, answers are slow."""

ASLEEP_S = 0.5
"""The clocks of a computer that did not sleep differ by far less."""


class PointWatch:
    """Watches the target during one point."""

    def __init__(self, target: Machine, waits: Sequence[asyncio.Task[PongbenchError]]) -> None:
        self._target = target
        self._waits = waits
        self._began = Instant.now()

    async def lost(self) -> None:
        """Wait until the target or its sampler is lost."""
        await asyncio.wait(self._waits, return_when=asyncio.FIRST_COMPLETED)

    async def checked(self, report: LoadReport, complete: bool) -> LoadReport:
        """The report, with a complaint where the target was lost meanwhile. After a bad point that
        is `complete` the target is asked whether it is still there."""
        cause: Message | None = next(
            (TargetLost(said=str(wait.result())) for wait in self._waits if wait.done()), None
        )
        counts = report.counts
        slept_s = Instant.now().slept_since(self._began)
        if not cause and slept_s > ASLEEP_S:
            cause = ComputerSlept(seconds=slept_s)
        if not cause and complete and counts.succeeded < SUSTAINED_SHARE * counts.scheduled:
            cause = await self._silence()
        return replace(report, complaints=[*report.complaints, cause]) if cause else report

    async def _silence(self) -> Message | None:
        if await answers(self._target, ANSWERS_WITHIN_S):
            return None
        if failure := self._target.failure:
            return TargetLost(said=str(failure))
        return TargetSilent(machine=self._target.name, within_s=ANSWERS_WITHIN_S)


class TargetWatch:
    """Watches the target of a run and its sampler."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._target = run.stage.target
        self._sampling = run.stage.sampling
        self._unsampled = False
        """Its sampler could not be restarted, which was noted."""

    @contextlib.asynccontextmanager
    async def during_point(self) -> AsyncIterator[PointWatch]:
        """Watch for the length of a point."""
        waits = [asyncio.create_task(self._target.lost())]
        if self._sampling.failure is None:
            waits.append(asyncio.create_task(self._sampling.lost()))
        try:
            yield PointWatch(self._target, waits)
        finally:
            await ended(*waits)

    async def after_point(self) -> None:
        """Restart the sampler where it is lost. Raises PongbenchError where the target is lost."""
        if self._sampling.failure and not self._unsampled:
            await answers(self._target, ANSWERS_WITHIN_S)  # else it may not be known yet
        if failure := self._target.failure:
            self._run.note(TargetGone(said=str(failure)))
            raise failure
        if self._sampling.failure and not self._unsampled:
            await self._restart_sampler(self._sampling.failure)

    async def _restart_sampler(self, failure: PongbenchError) -> None:
        try:
            await self._sampling.again()
        except PongbenchError:
            self._unsampled = True
            self._run.note(SamplerLost(said=str(failure)))
            return
        self._run.note(SamplerRestarted(said=str(failure)))

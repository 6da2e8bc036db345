"""Whether a run's target is there: a point in which it was lost shows nothing of its server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Protocol

from workbench.analysis.evidence import HOLDS
from workbench.closing import ended
from workbench.errors import PongbenchError
from workbench.load.base import LoadReport
from workbench.machines.base import Machine, answers
from workbench.machines.sampler_client import Sampling
from workbench.messages.base import Message
from workbench.messages.notes import Notice, SamplerLost, SamplerRestarted, TargetGone
from workbench.messages.reasons import TargetLost, TargetSilent

ANSWERS_WITHIN_S = 4.0
"""As long as a runner may be silent: where a server takes all there is, answers are slow."""


class Noting(Protocol):
    """Records something in the session. `machine` "": the target."""

    def __call__(self, notice: Notice, server: str = "", *, machine: str = "") -> None: ...


class Watched:
    """The target in one point."""

    def __init__(self, target: Machine, waits: Sequence[asyncio.Task[PongbenchError]]) -> None:
        self._target = target
        self._waits = waits

    async def lost(self) -> None:
        """Wait until it is lost, or its sampler."""
        await asyncio.wait(self._waits, return_when=asyncio.FIRST_COMPLETED)

    async def checked(self, report: LoadReport, complete: bool) -> LoadReport:
        """With a complaint where it was lost meanwhile. After a bad point that is `complete` it is
        asked whether it is there."""
        cause: Message | None = next(
            (TargetLost(said=str(wait.result())) for wait in self._waits if wait.done()), None
        )
        counts = report.counts
        if not cause and complete and counts.succeeded < HOLDS * counts.scheduled:
            cause = await self._silence()
        return replace(report, complaints=[*report.complaints, cause]) if cause else report

    async def _silence(self) -> Message | None:
        if await answers(self._target, ANSWERS_WITHIN_S):
            return None
        if failure := self._target.failure:
            return TargetLost(said=str(failure))
        return TargetSilent(machine=self._target.name, within_s=ANSWERS_WITHIN_S)


class Presence:
    """The target of a run and its sampler."""

    def __init__(self, target: Machine, sampling: Sampling) -> None:
        self._target = target
        self._sampling = sampling
        self._without = False
        """Its sampler could not be started again, which was told."""

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[Watched]:
        """For the length of a point."""
        waits = [asyncio.create_task(self._target.lost())]
        if self._sampling.failure is None:
            waits.append(asyncio.create_task(self._sampling.lost()))
        try:
            yield Watched(self._target, waits)
        finally:
            await ended(*waits)

    async def look(self, note: Noting) -> None:
        """After a point: raises PongbenchError where the target is lost; its sampler is started
        again where only that is."""
        if self._sampling.failure and not self._without:
            await answers(self._target, ANSWERS_WITHIN_S)  # else it may not be known yet
        if failure := self._target.failure:
            note(TargetGone(said=str(failure)))
            raise failure
        if self._sampling.failure and not self._without:
            await self._sample_again(self._sampling.failure, note)

    async def _sample_again(self, failure: PongbenchError, note: Noting) -> None:
        try:
            await self._sampling.again()
        except PongbenchError:
            self._without = True
            note(SamplerLost(said=str(failure)))
            return
        note(SamplerRestarted(said=str(failure)))

"""The passes over the servers: calibrate, sweep, rest; what happens between points."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from workbench.budget import Budget
from workbench.control import Control
from workbench.documents import AnyDocument, Block, Note, PointStop, ServerRecord
from workbench.errors import PongbenchError
from workbench.measure import Bench, Target
from workbench.plans import Plan
from workbench.servers.catalogue import NULL_SERVER
from workbench.servers.deploy import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult
from workbench.stage import Stage
from workbench.sweeps import PointPlan, calibration, order, sweep

Answer = TypeVar("Answer")

SETTLE_S = 5.0
"""At most: for a server to work off what the last point left in its accept queue."""


@dataclass(frozen=True)
class Rehearsal:
    """What was learnt of a server before the run."""

    entry: ServerEntry
    record: ServerRecord
    gate: GateResult


class Passes:
    """A run under way. Everything it does and finds is emitted as documents."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage,
        budget: Budget,
        rehearsed: dict[str, Rehearsal],
        *,
        control: Control,
        emit: Callable[[AnyDocument], None],
        tell: Callable[[str], None],
        seed: int,
        zero_us: int,
    ) -> None:
        self.plan = plan
        self.stage = stage
        self.budget = budget
        self.rehearsed = rehearsed
        self.control = control
        self.emit = emit
        self.tell = tell
        self.seed = seed
        self.zero_us = zero_us
        self.left_out: list[str] = []
        """Why servers could not be measured after all."""
        self.sampler_missed = False
        self.bench = Bench(
            plan=plan,
            load=stage.load,
            sampling=stage.sampling,
            control=control,
            emit=emit,
            session_us=lambda mono_us: mono_us - zero_us,
            client_cores=len(stage.placement.agents),
        )

    def now_us(self) -> int:
        """On the session's axis."""
        return time.monotonic_ns() // 1000 - self.zero_us

    def left_out_text(self) -> str:
        return " ".join(self.left_out)

    def note(self, topic: str, text: str, server: str = "", **data: Any) -> None:
        self.emit(
            Note(
                t_us=self.now_us(),
                topic=topic,
                text=text,
                server=server,
                machine=self.stage.target.name,
                data=data,
            )
        )

    async def run(self) -> None:
        """All blocks of the plan's order. Raises Stopped when it was asked to end."""
        for warning in [*self.budget.warnings, self.stage.placement.note]:
            if warning:
                self.note("warning", warning)
        for server, rehearsal in self.rehearsed.items():
            self.note(
                "gate",
                " ".join(rehearsal.gate.sentences),
                server,
                gate=msgspec.to_builtins(rehearsal.gate),
            )
        await self.calibrate()
        for block in order(self.plan, self.seed):
            self.control.next_server()
            self.control.check()
            await self.sweep(block)

    async def calibrate(self) -> None:
        """Find the rate up to which the clients themselves can be trusted."""
        if NULL_SERVER not in self.rehearsed:
            return
        null = self.rehearsed[NULL_SERVER].entry
        if self.plan.workload.protocol not in null.protocols:
            self.note(
                "warning",
                f"The null server does not speak {self.plan.workload.protocol}, so the clients' "
                "own ceiling was not measured.",
            )
            return
        ceiling = None
        try:
            async with self.deployed(null.id) as deployment:
                points = calibration(self.plan, null.id, seed=self.seed)
                ceiling = await self.drive(points, deployment, [])
        except _LeftOut as reason:
            self.note("deploy", str(reason), null.id)
        if ceiling is None:
            self.note("warning", "The clients' own ceiling was not measured.")
            return
        self.bench.ceiling_per_s = ceiling
        top = max(self.plan.rates_per_s)
        if ceiling >= top:
            text = f"The clients reach {top:,.0f}/s against the null server: all the plan asks for."
        elif ceiling:
            text = (
                f"The clients reach {ceiling:,.0f}/s against the null server; what is offered "
                "beyond that says more about them than about a server."
            )
        else:
            text = "The clients held no rate against the null server; no point can be trusted."
        self.note("ceiling", text, null.id, ceiling_per_s=ceiling, reached_all=ceiling >= top)

    async def sweep(self, block: Block) -> None:
        """One server's points in one pass. What goes wrong with it is a note, not an error."""
        rests = self.budget.cool_down_s[block.server]
        try:
            async with self.deployed(block.server) as deployment:
                points = sweep(
                    self.plan,
                    block.server,
                    seed=self.seed,
                    pass_number=block.pass_number,
                )
                gave_up = await self.drive(points, deployment, rests)
                if gave_up:
                    self.note("gave-up", gave_up, block.server)
        except _LeftOut as reason:
            self.left_out.append(str(reason))
            self.note("deploy", str(reason), block.server)

    @contextlib.asynccontextmanager
    async def deployed(self, server: str) -> AsyncIterator[Deployment]:
        """Started, gated, watched; and stopped at the end."""
        entry = self.rehearsed[server].entry
        try:
            deployment = await self.stage.deploy(entry, self.plan, self.tell)
        except PongbenchError as error:
            raise _LeftOut(str(error)) from None
        try:
            self.tell_backlog(deployment)
            await self.stage.sampling.watch(server, deployment.pid, deployment.port)
            yield deployment
        finally:
            await self.stage.sampling.watch("", 0, 0)
            await deployment.stop()

    def tell_backlog(self, deployment: Deployment) -> None:
        asked, name = self.plan.backlog, deployment.entry.name
        text = f"{name} listens with a backlog of {deployment.backlog:,}"
        if deployment.backlog != asked:
            text += f", not the {asked:,} asked for"
        self.note(
            "backlog", f"{text}.", deployment.entry.id, backlog=deployment.backlog, asked=asked
        )

    async def drive(
        self,
        points: Generator[PointPlan, PointStop, Answer],
        deployment: Deployment,
        rests: Sequence[float],
    ) -> Answer | None:
        """Run what the generator asks for until it returns; None: ended before that."""
        target = Target(
            deployment.entry.id, deployment.entry.name, deployment.host, deployment.port
        )
        judged = 0
        point = next(points)
        while True:
            stop = await self.bench.measure(point, target)
            self.warn_of_sampler()
            if self.skipped(target):
                return None
            if not deployment.alive():
                self.note("died", await _obituary(deployment, point), target.server)
                return None
            rest = self.plan.cool_down_s
            if point.purpose == "sweep" and judged < len(rests):
                rest = rests[judged]
                judged += 1
            try:
                point = points.send(stop)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            await self.cool_down(deployment, rest)
            await self.pause_if_asked(stop)
            if self.skipped(target):
                return None

    def skipped(self, target: Target) -> bool:
        """Is it to be left out from here on? Raises Stopped when the run is to end."""
        self.control.check()
        if self.control.skipping:
            self.note("skipped", f"{target.name} was skipped.", target.server)
        return self.control.skipping

    def warn_of_sampler(self) -> None:
        failure = self.stage.sampling.failure
        if failure and not self.sampler_missed:
            self.sampler_missed = True
            self.note("warning", f"{failure}. From here on CPU, memory and counters are missing.")

    async def cool_down(self, deployment: Deployment, seconds: float) -> None:
        if seconds > max(2.0, self.plan.cool_down_s):
            self.note(
                "cool-down",
                f"Waiting {seconds:.0f} s until the client's local ports are free again.",
                deployment.entry.id,
            )
        await self.control.rest(seconds)
        deadline = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline:
            state = await self.stage.target.listening(deployment.port)
            if state is None or state[0] == 0 or self.control.skipping:
                return
            await self.control.rest(0.05)
        self.note(
            "settle",
            f"{deployment.entry.name} still had connections waiting {SETTLE_S:.0f} s after the "
            "last point; the next one meets them, too.",
            deployment.entry.id,
        )

    async def pause_if_asked(self, last: PointStop) -> None:
        if self.control.paused:
            self.note("paused", f"Paused after {last.rate_per_s:,.0f}/s.", last.server)
            await self.control.until_resumed()
            self.note("resumed", "Resumed.", last.server)


class _LeftOut(Exception):
    """A server cannot be measured; the text is a sentence."""


async def _obituary(deployment: Deployment, point: PointPlan) -> str:
    status = await deployment.process.wait()
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    said = " ".join(deployment.process.tail()[-1:])
    text = f"{deployment.entry.name} ended {how} at {point.load}; its sweep ends here."
    return f"{text} Its last words: {said}" if said else text

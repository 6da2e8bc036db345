"""One server's turn: started afresh, loaded point after point, stopped; what happens in between."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from workbench import wording
from workbench.analysis.looks import holds
from workbench.attendance import Attendance, Noting
from workbench.control import Control
from workbench.documents import PointStop, ServerRecord
from workbench.errors import PongbenchError
from workbench.measure import Bench, Target
from workbench.plans import Plan
from workbench.servers.deploy import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import Footprint, footprint
from workbench.servers.gate import GateResult
from workbench.servers.warming import warm
from workbench.stage import Stage
from workbench.sweeps import PointPlan
from workbench.sweeps import points as planned_points
from workbench.wording import offered

Answer = TypeVar("Answer")

GROWTH = 2.0
GROWTH_BYTES = 16_000_000
"""A server that has grown by so much and to so many times its size is told of."""

SETTLE_S = 5.0
"""At most: for a server to work off what the last point left in its accept queue."""


@dataclass(frozen=True)
class Rehearsal:
    """What was learnt of a server before the run."""

    entry: ServerEntry
    record: ServerRecord
    gate: GateResult


class LeftOut(Exception):
    """A server cannot be measured; the text is a sentence."""


class Turns:
    """What every turn of a run needs, and what was told already."""

    def __init__(
        self,
        plan: Plan,
        stage: Stage,
        rehearsed: Mapping[str, Rehearsal],
        *,
        bench: Bench,
        control: Control,
        note: Noting,
        tell: Callable[[str], None],
    ) -> None:
        self.plan = plan
        self.stage = stage
        self.rehearsed = rehearsed
        self.bench = bench
        self.control = control
        self.note = note
        self.tell = tell
        self.sampler_missed = False
        self.last: PointStop | None = None
        """The last point of any turn."""
        self.attendance = Attendance(stage, bench, control, note, tell)

    async def take(
        self,
        server: str,
        points: Generator[PointPlan, PointStop, Answer],
        rests: Sequence[float] = (),
        swept: list[PointStop] | None = None,
    ) -> Answer | None:
        """Run what the generator asks for until it returns; None: ended before that. `rests` in
        seconds after each point of a sweep, in the order of the plan's rates; such points are added
        to `swept`. Raises LeftOut when the server cannot be started, Stopped when the run is to
        end."""
        await self.pause_if_asked()
        self.control.next_server()
        self.control.check()
        await self.attendance.take_back()
        self.control.check()
        async with self.deployed(server) as deployment:
            before = await footprint(self.stage.target, deployment.pid)
            answer = await self.drive(points, deployment, rests, swept)
            await self.tell_growth(deployment, before)
            return answer

    @contextlib.asynccontextmanager
    async def deployed(self, server: str) -> AsyncIterator[Deployment]:
        """Started, gated, watched; and stopped at the end."""
        entry = self.rehearsed[server].entry
        try:
            deployment = await self.stage.deploy(entry, self.plan, self.tell)
        except PongbenchError as error:
            raise LeftOut(str(error)) from None
        try:
            self.tell_backlog(deployment)
            await self.warm_up(deployment)
            await self.stage.sampling.watch(server, deployment.pid, deployment.port)
            yield deployment
        finally:
            await self.stage.sampling.watch("", 0, 0)
            await deployment.stop()

    async def warm_up(self, deployment: Deployment) -> None:
        """For servers that a plan's warm-up, the same for all, would leave cold."""
        name, seconds = deployment.entry.name, deployment.entry.warm_up_s
        if not seconds:
            return
        self.tell(f"Warming up {name} for {seconds:g} s")
        calls = await warm(deployment, self.control.rest)
        text = f"{name} gets faster while it runs, so it was called for {seconds:g} s beforehand."
        self.note("warm-up", text, deployment.entry.id, calls=calls)

    async def tell_growth(self, deployment: Deployment, before: Footprint) -> None:
        """Of memory that is still held when nobody calls any more."""
        if not deployment.alive():
            return
        after = await footprint(self.stage.target, deployment.pid)
        if after.rss_bytes < before.rss_bytes + GROWTH_BYTES or not before.rss_bytes:
            return
        if after.rss_bytes < before.rss_bytes * GROWTH:
            return
        text = (
            f"{deployment.entry.name} grew from {wording.megabytes(before.rss_bytes)} to"
            f" {wording.megabytes(after.rss_bytes)} and still held that after its last point: it"
            " leaks, or does not give back what it once took."
        )
        data = {"before_bytes": before.rss_bytes, "after_bytes": after.rss_bytes}
        self.note("memory", text, deployment.entry.id, **data)

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
        swept: list[PointStop] | None,
    ) -> Answer | None:
        target = Target(
            deployment.entry.id, deployment.entry.name, deployment.host, deployment.port
        )
        planned = (point.load for point in planned_points(self.plan, target.server))
        after = dict(zip(planned, rests, strict=False))
        point = next(points)
        while not self.skipped(target):
            stop = self.last = await self.bench.measure(point, target)
            if swept is not None and point.purpose == "sweep":
                swept.append(stop)
            self.raise_ceiling(stop, target)
            self.warn_of_sampler()
            self.attendance.look()
            if self.skipped(target):
                return None
            if not deployment.alive():
                self.note("died", await _obituary(deployment, point), target.server)
                return None
            rest = self.plan.cool_down_s
            if point.purpose == "sweep":
                rest = after.get(point.load, rest)
            try:
                point = points.send(stop)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            await self.cool_down(deployment, rest)
            await self.pause_if_asked()
        return None

    def raise_ceiling(self, stop: PointStop, target: Target) -> None:
        """A rate that was held is one the clients reach, whatever they did against the null
        server: something was in their way then."""
        known = self.bench.ceiling_per_s
        if known is None or stop.rate_per_s <= known or not (stop.complete and holds(stop)):
            return
        self.bench.ceiling_per_s = stop.rate_per_s
        before = f"{wording.rate(known)}/s was known" if known else "they had held no rate"
        self.note(
            "ceiling",
            f"{target.name} held {wording.rate(stop.rate_per_s)}/s, so the clients reach at least"
            f" that; before, {before}.",
            target.server,
            ceiling_per_s=stop.rate_per_s,
            reached_all=stop.rate_per_s >= max(self.plan.rates_per_s),
            others_cpu_pct=self.bench.ceiling_others_pct,
        )

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
            self.note(
                "warning",
                f"{str(failure).rstrip('.')}. From here on CPU, memory and counters are missing.",
            )

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

    async def pause_if_asked(self) -> None:
        """Between two points, and between two turns while no server runs. Raises Stopped."""
        if not self.control.paused:
            return
        after = offered(self.last) if self.last else "the trial of the servers"
        server = self.last.server if self.last else ""
        self.note("paused", f"Paused after {after}.", server)
        await self.control.until_resumed()
        self.note("resumed", "Resumed.", server)


async def _obituary(deployment: Deployment, point: PointPlan) -> str:
    status = await deployment.process.wait()
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    said = " ".join(deployment.process.tail()[-1:])
    when = (
        f"while it was warmed up at {point.load}"
        if point.purpose == "warm_up"
        else f"at {point.load}"
    )
    text = f"{deployment.entry.name} ended {how} {when}; its sweep ends here."
    return f"{text} Its last words: {said}" if said else text

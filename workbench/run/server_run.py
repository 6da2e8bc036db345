"""One server's turn: started afresh, loaded point after point, stopped; what happens in between."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from workbench.analysis.repeats import holds
from workbench.axis import RATE
from workbench.closing import to_the_end
from workbench.control import Control
from workbench.documents import PointStop, ServerRecord
from workbench.errors import PongbenchError
from workbench.messages import notes
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan
from workbench.plan.schedule import points as planned_points
from workbench.run.client_recovery import Attendance
from workbench.run.environment import Stage
from workbench.run.point import Bench, Target
from workbench.run.target_watch import Noting
from workbench.servers.deploy import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import Footprint, footprint
from workbench.servers.gate import GateResult
from workbench.servers.warming import warm

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
            await to_the_end(self.put_away(deployment))

    async def put_away(self, deployment: Deployment) -> None:
        try:
            await self.stage.sampling.watch("", 0, 0)
        finally:
            await deployment.stop()

    async def warm_up(self, deployment: Deployment) -> None:
        """For servers that a plan's warm-up, the same for all, would leave cold."""
        name, seconds = deployment.entry.name, deployment.entry.warm_up_s
        if not seconds:
            return
        self.tell(f"Warming up {name} for {seconds:g} s")
        calls = await warm(deployment, self.control.rest)
        self.note(notes.WarmUp(name=name, seconds=seconds, calls=calls), deployment.entry.id)

    async def tell_growth(self, deployment: Deployment, before: Footprint) -> None:
        """Of memory that is still held when nobody calls any more."""
        if not deployment.alive():
            return
        after = await footprint(self.stage.target, deployment.pid)
        if after.rss_bytes < before.rss_bytes + GROWTH_BYTES or not before.rss_bytes:
            return
        if after.rss_bytes < before.rss_bytes * GROWTH:
            return
        grown = notes.Memory(
            name=deployment.entry.name,
            before_bytes=before.rss_bytes,
            after_bytes=after.rss_bytes,
        )
        self.note(grown, deployment.entry.id)

    def tell_backlog(self, deployment: Deployment) -> None:
        name, backlog = deployment.entry.name, deployment.backlog
        in_force = notes.Backlog(name=name, backlog=backlog, asked=self.plan.backlog)
        self.note(in_force, deployment.entry.id)

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
        planned = (point.x for point in planned_points(self.plan, target.server))
        after = dict(zip(planned, rests, strict=False))
        point = next(points)
        while not self.skipped(target):
            stop = self.last = await self.bench.measure(point, target)
            if swept is not None and point.purpose == "sweep":
                swept.append(stop)
            self.raise_ceiling(stop, target)
            await self.bench.presence.look(self.note)
            self.attendance.look()
            if self.skipped(target):
                return None
            if not deployment.alive():
                died = await _how_it_ended(deployment, point, self.plan)
                self.note(died, target.server)
                return None
            rest = self.plan.cool_down_s
            if point.purpose == "sweep":
                rest = after.get(point.x, rest)
            try:
                point = points.send(stop)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            await self.cool_down(deployment, rest)
            await self.pause_if_asked()
        return None

    def raise_ceiling(self, stop: PointStop, target: Target) -> None:
        """A rate that was sustained is one the clients reach, whatever they did against the null
        server: something was in their way then. A warm-up is no such rate."""
        known = self.bench.ceiling_per_s
        if known is None or stop.x <= known or stop.purpose != "sweep":
            return
        if not (stop.complete and holds(stop)):
            return
        self.bench.ceiling_per_s = stop.x
        found = notes.Ceiling(
            ceiling_per_s=stop.x,
            reached_all=stop.x >= max(self.plan.axis.values),
            others_cpu_pct=self.bench.ceiling_others_pct,
            name=target.name,
            before_per_s=known,
        )
        self.note(found, target.server)

    def skipped(self, target: Target) -> bool:
        """Is it to be left out from here on? Raises Stopped when the run is to end."""
        self.control.check()
        if self.control.skipping:
            self.note(notes.Skipped(name=target.name), target.server)
        return self.control.skipping

    async def cool_down(self, deployment: Deployment, seconds: float) -> None:
        if seconds > max(2.0, self.plan.cool_down_s):
            self.note(notes.CoolDown(seconds=seconds), deployment.entry.id)
        await self.control.rest(seconds)
        deadline = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline:
            state = await self.stage.target.listening(deployment.port)
            if state is None or state[0] == 0 or self.control.skipping:
                return
            await self.control.rest(0.05)
        settle = notes.Settle(name=deployment.entry.name, seconds=SETTLE_S)
        self.note(settle, deployment.entry.id)

    async def pause_if_asked(self) -> None:
        """Between two points, and between two turns while no server runs. Raises Stopped."""
        if not self.control.paused:
            return
        last = self.last
        server = last.server if last else ""
        self.note(notes.Paused(**_place(last, self.plan)) if last else notes.Paused(), server)
        await self.control.until_resumed()
        self.note(notes.Resumed(), server)


def _place(point: PointPlan | PointStop, plan: Plan) -> dict[str, Any]:
    """On the plan's axis; a warm-up is always a rate."""
    axis = RATE if point.purpose == "warm_up" else plan.axis
    return {"x": point.x, "suffix": axis.suffix}


async def _how_it_ended(deployment: Deployment, point: PointPlan, plan: Plan) -> notes.Died:
    return notes.Died(
        name=deployment.entry.name,
        status=await deployment.process.wait(),
        warming_up=point.purpose == "warm_up",
        said=" ".join(deployment.process.tail()[-1:]),
        **_place(point, plan),
    )

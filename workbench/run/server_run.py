"""Runs one server: started afresh, loaded point by point, stopped. Before it, lost clients
that can be reached offer load again."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from workbench.analysis.knee import is_sustained
from workbench.axis import RATE
from workbench.closing import to_the_end
from workbench.documents import PointStop
from workbench.errors import PongbenchError
from workbench.machines import facts
from workbench.machines.base import answers
from workbench.machines.secrets import never_ask
from workbench.messages.base import Said, Stated
from workbench.messages.notes import notice
from workbench.messages.reasons import reason
from workbench.plan import schedule
from workbench.plan.model import Plan
from workbench.plan.needs import kept_open
from workbench.plan.schedule import PointPlan
from workbench.run.environment import Stage
from workbench.run.point import PointRunner, Target
from workbench.run.state import RunState
from workbench.servers.deployment import Deployment, telling
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import Footprint, descriptor_limit, footprint, memory_shared_once
from workbench.servers.gate import wire_to
from workbench.servers.running import changed
from workbench.workloads.registry import spoken_by
from workbench.workloads.wire import Fault

AT_ONCE = 8
"""Concurrent connections: enough to keep one core of a server busy."""


async def warm(
    deployment: Deployment, rest: Callable[[float], Awaitable[None]]
) -> tuple[int, int, int]:
    """Call it for as long as its entry asks for. Returns the number of answered calls: of all, of
    the second third of the time, and of the last.

    Each call of the workload uses a new connection. `rest` waits a number of seconds, raises, or
    returns early when the user skips the wait.
    """
    answered = 0
    workload = spoken_by(deployment.entry.protocols)
    if workload is None:
        return 0, 0, 0

    async def calls() -> None:
        nonlocal answered
        while deployment.alive():
            try:
                await workload.warm_up(wire_to(deployment), deployment.entry)
                answered += 1
            except (Fault, OSError):
                await asyncio.sleep(0.01)  # It may refuse connections at once.

    async with asyncio.TaskGroup() as group:
        callers = [group.create_task(calls()) for _ in range(AT_ONCE)]
        before = []
        try:
            for _ in range(3):
                before.append(answered)
                await rest(deployment.entry.warm_up_s / 3)
        finally:
            for caller in callers:
                caller.cancel()
    _, first, second = before
    return answered, second - first, answered - second


Answer = TypeVar("Answer")

GROWTH = 2.0
GROWTH_BYTES = 16_000_000
"""A server's memory growth is noted from this factor and this many bytes on."""

SETTLE_S = 5.0
"""The longest wait for a server to empty its accept queue after a point."""


class NotMeasurable(Exception):
    """A server cannot be measured; the text is a sentence for the user."""


class ServerRunner:
    """Runs the servers of a run, one at a time."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._target = run.stage.target
        self.points = PointRunner(run)
        self._clients = ClientRecovery(run)
        self._last: PointStop | None = None

    async def run(
        self,
        server: str,
        points: Generator[PointPlan, PointStop, Answer],
        rests: Sequence[float] = (),
        results: list[PointStop] | None = None,
    ) -> Answer | None:
        """Start a server, run the points that the generator asks for until it returns, stop the
        server. Returns what the generator returns; None: ended before that.

        `rests`: seconds to wait after each point of a sweep, in the order of the plan's rates.
        Points of a sweep are added to `results`. Raises NotMeasurable when the server cannot be
        started, Stopped when the run is to end."""
        async with self.turn(server, self._run.rehearsed[server].entry) as deployment:
            before = await footprint(self._target, deployment.roots)
            shared_once = await memory_shared_once(self._target, deployment.roots)
            nofile = await descriptor_limit(self._target, deployment.roots)
            self._note_in_force(deployment, before, nofile)
            target = Target(
                deployment, nofile, len(before.cores), functools.partial(self._changed, deployment)
            )
            answer = await self._drive(points, rests, results, target)
            await self._note_growth(deployment, before.rss_bytes, shared_once)
            return answer

    @contextlib.asynccontextmanager
    async def turn(self, server: str, entry: ServerEntry) -> AsyncIterator[Deployment]:
        """The server, started, warmed up and sampled; stopped at the end. Raises as `run`."""
        control = self._run.control
        await self._pause_if_asked()
        control.next_server()
        control.check()
        await self._clients.rejoin_lost()
        control.check()
        try:
            deployment = await self._run.stage.deploy(entry, self._run.plan, self._run.notify)
        except PongbenchError as error:
            raise NotMeasurable(str(error)) from None
        try:
            await self._warm_up(deployment)
            await self._run.stage.sampling.watch(server, **deployment.watched)
            yield deployment
        finally:
            await to_the_end(self._stop(deployment))

    async def _stop(self, deployment: Deployment) -> None:
        try:
            await self._run.stage.sampling.watch("", 0, 0)
        finally:
            await deployment.stop()

    async def _warm_up(self, deployment: Deployment) -> None:
        """Warm up a server that needs more than the plan's warm-up, which is the same for all."""
        name, seconds = deployment.entry.name, deployment.entry.warm_up_s
        if not seconds:
            return
        self._run.notify(f"Warming up {name} for {seconds:g} s")
        calls, before, last = await warm(deployment, self._run.control.rest)
        more = round(100 * (last / before - 1)) if before else 0
        warmed = notice("warm-up", name=name, seconds=seconds, calls=calls, more_pct=more)
        self._run.note(warmed, deployment.entry.id)

    async def _note_growth(self, deployment: Deployment, rss_bytes: int, pss_bytes: int) -> None:
        """Note memory that it took under load and kept. `pss_bytes`: 0 if unknown."""
        if not deployment.alive():
            return
        after = await footprint(self._target, deployment.roots)
        pss_after = await memory_shared_once(self._target, deployment.roots) if pss_bytes else 0
        before, now = (pss_bytes, pss_after) if pss_after else (rss_bytes, after.rss_bytes)
        if not before or now < max(before + GROWTH_BYTES, before * GROWTH):
            return
        grown = notice(
            "memory",
            name=deployment.entry.name,
            before_bytes=before,
            after_bytes=now,
            processes=after.processes if after.processes > 1 else 0,
            shared_once=bool(pss_after),
            held=kept_open(self._run.plan),
        )
        self._run.note(grown, deployment.entry.id)

    def _note_in_force(self, deployment: Deployment, used: Footprint, nofile: int) -> None:
        """Note its backlog and descriptor limit, where they are known, and what it runs on."""
        entry, plan = deployment.entry, self._run.plan
        if deployment.backlog:
            asked = 0 if entry.running else plan.backlog
            found = notice("backlog", name=entry.name, backlog=deployment.backlog, asked=asked)
            self._run.note(found, entry.id)
        if used.processes:
            resources = notice(
                "resources",
                name=entry.name,
                processes=used.processes,
                threads=used.threads,
                cores=list(used.cores),
                nofile=nofile,
                asked_nofile=0 if entry.running else plan.nofile,
            )
            self._run.note(resources, entry.id)

    async def _drive(
        self,
        points: Generator[PointPlan, PointStop, Answer],
        rests: Sequence[float],
        results: list[PointStop] | None,
        target: Target,
    ) -> Answer | None:
        deployment, entry = target.deployment, target.entry
        planned = (point.x for point in schedule.points(self._run.plan, entry.id))
        after = dict(zip(planned, rests, strict=False))
        point = next(points)
        while not self._skipped(target):
            stop = self._last = await self.points.measure(point, target)
            if results is not None and point.judged:
                results.append(stop)
            self._raise_limit(stop, target)
            await self.points.after_point()
            self._clients.note_lost()
            await self._run.note_others()
            if self._skipped(target):
                return None
            if not deployment.alive():
                died = notice(
                    "died",
                    name=entry.name,
                    status=await deployment.process.wait(),
                    warming_up=point.purpose == "warm_up",
                    said=telling(deployment.process.tail()),
                    **_place(point, self._run.plan),
                )
                self._run.note(died, entry.id)
                return None
            rest = self._run.plan.cool_down_s
            if point.judged:
                rest = after.get(point.x, rest)
            try:
                point = points.send(stop)
            except StopIteration as end:
                answer: Answer = end.value
                return answer
            await self._cool_down(deployment, rest)
            await self._pause_if_asked()
        return None

    async def _changed(self, deployment: Deployment, *, between: bool) -> Said | None:
        """See `Target.changed`; watch it as it is now. A point counts only if the server was there
        all the time."""
        entry, said = deployment.entry, await changed(deployment)
        if said:
            note = notice("server-changed", name=entry.name, said=said, between=between)
            self._run.note(note, entry.id)
            await self._run.stage.sampling.watch(entry.id, **deployment.watched)
        elif deployment.known and not deployment.roots:
            said = "it was not running"
        return reason("server-changed", name=entry.name, said=said) if said else None

    def _raise_limit(self, stop: PointStop, target: Target) -> None:
        """A rate that a server sustained is one that the clients reach."""
        if not stop.judged or not (stop.complete and is_sustained(stop)):
            return
        limit = self._run.limits[stop.load_tool]
        before = limit.per_s
        if before is None or stop.x <= before:
            return
        limit.per_s = stop.x
        found = notice(
            "ceiling",
            ceiling_per_s=stop.x,
            reached_all=stop.x >= max(self._run.plan.values),
            others_cpu_pct=limit.background_load_pct,
            name=target.entry.name,
            before_per_s=before,
        )
        self._run.note(found, target.entry.id)

    def _skipped(self, target: Target) -> bool:
        """Whether the user skips this server. Raises Stopped when the run is to end."""
        self._run.control.check()
        if self._run.control.skipping:
            self._run.note(notice("skipped", name=target.entry.name), target.entry.id)
        return self._run.control.skipping

    async def _cool_down(self, deployment: Deployment, seconds: float) -> None:
        if seconds > max(2.0, self._run.plan.cool_down_s):
            self._run.note(notice("cool-down", seconds=seconds), deployment.entry.id)
        await self._run.control.rest(seconds)
        if not deployment.here:
            return
        deadline = time.monotonic() + SETTLE_S
        while time.monotonic() < deadline:
            state = await self._target.listening(deployment.port)
            if state is None or state[0] == 0 or self._run.control.skipping:
                return
            await self._run.control.rest(0.05)
        entry = deployment.entry
        self._run.note(notice("settle", name=entry.name, seconds=SETTLE_S), entry.id)

    async def _pause_if_asked(self) -> None:
        """Wait while the run is paused. Raises Stopped."""
        if not self._run.control.paused:
            return
        last = self._last
        server = last.server if last else ""
        where = _place(last, self._run.plan) if last else {}
        self._run.note(notice("paused", **where), server)
        await self._run.control.until_resumed()
        self._run.note(notice("resumed"), server)


def _place(point: PointPlan | PointStop, plan: Plan) -> dict[str, Any]:
    """On the plan's axis; a warm-up is always a rate."""
    axis = RATE if point.purpose == "warm_up" else plan.axis
    return {"x": point.x, "suffix": axis.suffix}


BACK_WITHIN_S = 60.0
ANSWERS_WITHIN_S = 2.0


class ClientRecovery:
    """Notes which clients are lost and back; meanwhile the client limit is suspended."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._stage = run.stage
        self._lost: list[str] = []
        self._refused: dict[str, Stated] = {}
        """By client: why it could not rejoin when that was last noted."""

    def note_lost(self) -> None:
        """Note the clients that were lost since the last call."""
        lost_now = {name for load in self._stage.loads.values() for name in load.lost}
        new = [n for n in self._stage.fleet.clients if n in lost_now and n not in self._lost]
        if not new or len(self._lost) + len(new) == len(self._stage.fleet.clients):
            return  # none is left: the next point ends the run
        limit = self._run.limit
        for each in self._run.limits.values():
            each.of_all, each.per_s = each.of_all if self._lost else each.per_s, None
        for name in new:
            self._lost.append(name)
            void = bool(limit.of_all)
            lost = notice("client-lost", clients=[name], left=self._left, limit_void=void)
            self._run.note(lost, machine=name)

    async def rejoin_lost(self) -> None:
        """Before a server starts: clients that can be reached again offer load from here on."""
        limit = self._run.limit
        for name in list(self._lost):
            self._run.notify(f"Reconnecting to {name}")
            try:
                found = await self._run.control.unless_interrupted(rejoin(self._stage, name))
            except PongbenchError as error:
                refused = notice("client-not-back", clients=[name], said=str(error))
                if refused != self._refused.get(name):
                    self._refused[name] = refused
                    self._run.note(refused, machine=name)
                continue
            if found is None:
                return
            self._lost.remove(name)
            for each in self._run.limits.values():
                # One measured in between was that of fewer clients.
                each.per_s = None if self._lost else each.of_all
            valid = bool(limit.per_s)
            back = notice(
                "client-back", clients=[name], left=self._left, limit_valid=valid, **found
            )
            self._run.note(back, machine=name)

    @property
    def _left(self) -> int:
        return len(self._stage.fleet.clients) - len(self._lost)


async def rejoin(stage: Stage, name: str) -> dict[str, list[str]]:
    """Take a lost client back: a new agent, on its machine opened again where that was lost, too.

    Returns which facts changed and what became of its tuning, for the note. Nobody is asked
    for a password during a run. Raises PongbenchError when it fails, also for a changed host key.
    """
    try:
        async with asyncio.timeout(BACK_WITHIN_S):
            found: dict[str, list[str]] = {}
            if not await answers(stage.members[name].machine, ANSWERS_WITHIN_S):
                found = await _reopen(stage, name)
            for load in stage.loads.values():
                if name in load.lost:
                    await load.rejoin(stage.members[name].machine)
            return found
    except TimeoutError:
        raise PongbenchError(f"It was not ready within {BACK_WITHIN_S:.0f} s.") from None


async def _reopen(stage: Stage, name: str) -> dict[str, list[str]]:
    before = stage.members[name]
    await before.machine.close()
    machine = await stage.fleet.open(before.profile, never_ask)
    try:
        events = await stage.tuneup.retune(machine, before.profile)
        clock, found = await machine.clock(), await machine.facts()
        await stage.samplers.start(machine, clock)
    except BaseException:
        await to_the_end(machine.close())
        raise
    stage.returned.push_async_callback(machine.close)
    stage.members[name] = replace(before, machine=machine, facts=found, clock=clock)
    new = facts.changes(before.facts, found)
    return {"changed": new, "said": [notice.text() for _, notice in events]}

"""Profiles servers after all results are measured, in a separate pass that is excluded from
them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from workbench.analysis.knee import knee
from workbench.closing import ended
from workbench.documents import PointStop
from workbench.messages import notes, outcomes
from workbench.plan import schedule
from workbench.plan.model import Profile
from workbench.plan.needs import clients_close
from workbench.run.point import Target
from workbench.run.server_run import NotMeasurable, ServerRunner
from workbench.run.state import RunState
from workbench.servers.deployment import Deployment
from workbench.servers.profiling import (
    Failed,
    Profiled,
    Profiler,
    Profiling,
    Stacks,
    bring_profiler,
    profiler_of,
)
from workbench.untrusted import one_line

MOST_STACKS = 1_000
"""The most stacks that a session records of a profile; the rarest are summed up."""


class ProfilePass:
    """The profiling pass over all servers."""

    def __init__(self, run: RunState, servers: ServerRunner) -> None:
        self._run = run
        self._servers = servers
        self._wanted = run.plan.profiled or Profile()
        self._programs: dict[str, str] = {}
        """By server that can be profiled: the profiler's path on the target."""

    async def prepare(self) -> None:
        """Bring the profilers to the target, and note which are missing, before the measurement."""
        for server in self._run.plan.servers:
            profiler = profiler_of(self._run.rehearsed[server].entry)
            try:
                path = await bring_profiler(self._run.stage.target, profiler)
            except Failed as failed:
                self._note_failure(server, profiler, failed)
            else:
                self._programs[server] = path

    async def run(self, results: Sequence[PointStop]) -> None:
        """Profile every server at the plan's rate, or one its results suggest. Raises Stopped."""
        for server in self._programs:
            complete = [stop for stop in results if stop.server == server and stop.complete]
            if x := self._wanted.at or self._sustained(complete):
                await self._profile_at(server, x)

    async def _profile_at(self, server: str, x: float) -> None:
        entry = self._run.rehearsed[server].entry
        profiler = profiler_of(entry)
        self._run.notify(f"Profiling {entry.name} with {profiler.title}")
        try:
            async with self._servers.turn(server, profiler.prepared(entry)) as deployment:
                found = await self._profile(profiler, deployment, x)
        except NotMeasurable as reason:
            self._note_failure(server, profiler, Failed("start", str(reason)))
        except Failed as failed:
            self._note_failure(server, profiler, failed)
        else:
            if found:
                self._note(server, *found, x)

    def _sustained(self, results: Sequence[PointStop]) -> float:
        """Return the highest sustained value, otherwise the highest measured; 0: there is none."""
        axis, found = self._run.plan.axis, None
        if axis.bounds:
            found = max((stop.x for stop in results if stop.verdict == "ok"), default=None)
        elif axis.has_limit:
            found = knee(results)
        return found or max((stop.x for stop in results), default=0.0)

    async def _profile(
        self, profiler: Profiler, deployment: Deployment, x: float
    ) -> tuple[Profiled, float] | None:
        """Return the samples under load, and their time; None: the user skipped the server."""
        plan, entry = self._run.plan, deployment.entry
        target = Target(entry.id, entry.name, deployment.host, deployment.port, entry)
        profiling = Profiling(profiler, deployment, self._programs[entry.id])
        number, seed = plan.repeats + 1, self._run.seed
        if before_it := schedule.warm_up(plan, entry.id, seed, number):
            await self._servers.points.measure(before_it, target)
        # The rests of its sweep leave enough ports for its largest point.
        rests = self._run.budget.cool_down_s[entry.id]
        await self._run.control.rest(max(rests, default=plan.cool_down_s))
        seconds = self._seconds(deployment, x)
        point = schedule.profile_point(plan, entry.id, x, seconds=seconds, seed=seed)
        sampling = asyncio.create_task(profiling.sample(seconds, schedule.PROFILE_LEAD_S))
        try:
            await self._servers.points.measure(point, target)
            await self._servers.points.target_watch.after_point()
            self._run.control.check()
            if self._run.control.skipping:
                self._run.note(notes.Skipped(name=entry.name), entry.id)
                return None
            await sampling
            return await profiling.finish(), seconds
        finally:
            await ended(sampling)

    def _seconds(self, deployment: Deployment, x: float) -> float:
        """Return the sampling time: no longer than the clients' ports last."""
        plan, wanted = self._run.plan, self._wanted.seconds
        point = schedule.profile_point(plan, "", x, seconds=wanted, seed=0)
        per_s = point.connection_rate_per_s
        if not per_s or not clients_close(plan, deployment.entry.closes_first):
            return wanted
        fit = self._run.budget.ports_free / per_s - 2 * schedule.PROFILE_LEAD_S
        return max(1.0, min(wanted, fit))

    def _note(self, server: str, found: Profiled, seconds: float, x: float) -> None:
        name = self._run.rehearsed[server].entry.name
        frames, stacks, other = bounded(found.stacks)
        profile = outcomes.Profile(
            name=name,
            x=x,
            suffix=self._run.plan.axis.suffix,
            tool=found.tool,
            seconds=round(seconds, 3),
            samples=found.stacks.total(),
            frames=frames,
            stacks=stacks,
            other=other,
        )
        self._run.note(profile, server)

    def _note_failure(self, server: str, profiler: Profiler, failed: Failed) -> None:
        note = outcomes.NotProfiled(
            name=self._run.rehearsed[server].entry.name,
            tool=profiler.title,
            machine=self._run.stage.target.name,
            why=failed.why,
            detail=failed.detail,
        )
        self._run.note(note, server)


def bounded(stacks: Stacks, most: int = MOST_STACKS) -> tuple[list[str], list[int], int]:
    """Return names (sanitised), stacks and omitted samples for `outcomes.Profile`."""
    places: dict[str, int] = {}
    flat: list[int] = []
    kept = stacks.most_common(most)
    for stack, count in kept:
        calls = [places.setdefault(one_line(name), len(places)) for name in stack]
        flat += [count, len(calls), *calls]
    return list(places), flat, stacks.total() - sum(count for _, count in kept)

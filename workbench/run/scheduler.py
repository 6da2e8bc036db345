"""The order of a run: calibrates clients, runs every server in turn, repeats what is in doubt, and
then profiles them, in a pass that is excluded from results."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from workbench import __version__, paths, stores
from workbench.analysis.knee import is_sustained, knee, undecided
from workbench.axis import RATE
from workbench.closing import ended
from workbench.documents import Block, PointStop
from workbench.errors import PongbenchError
from workbench.messages import outcomes
from workbench.messages.base import Stated
from workbench.messages.notes import notice
from workbench.plan import schedule
from workbench.plan.calibration import Ceiling, calibration
from workbench.plan.model import Plan, Profile
from workbench.plan.schedule import Sweep, order, repeat_sweep, sweep
from workbench.plan.search import PeakSearch
from workbench.run.network_check import note_links
from workbench.run.point import Target
from workbench.run.server_run import NotMeasurable, ServerRunner
from workbench.run.state import ClientLimit, RunState
from workbench.run.tuning import TuningEvent
from workbench.servers import profiling as profilers
from workbench.servers.deployment import Deployment
from workbench.servers.entry import APPS, ServerEntry
from workbench.untrusted import one_line

PROGRAM = "with_postgres.py"
"""Of `APPS`: it starts one for each application."""


def settings(entry: ServerEntry) -> dict[str, str]:
    """Return what `PROGRAM` sets, as PostgreSQL reads it; empty: the entry has none."""
    if APPS / PROGRAM not in entry.shared_paths:
        return {}
    _, _, after = (APPS / PROGRAM).read_text("utf-8").partition('SETTINGS = """')
    text, _, _ = after.partition('"""')
    return dict(line.split(" = ", 1) for line in text.strip().splitlines())


class Scheduler:
    """Runs all servers of a plan in its order."""

    def __init__(self, run: RunState, left_out: Sequence[str] = ()) -> None:
        self._run = run
        self.servers = ServerRunner(run)
        self._results: defaultdict[tuple[str, int], list[PointStop]] = defaultdict(list)
        self._closed: set[tuple[str, int]] = set()
        """Servers and passes that are not repeated: skipped, died, or could not be started."""
        self.left_out = list(left_out)
        """Why servers could not be measured after all, as sentences."""

    @property
    def _plan(self) -> Plan:
        return self._run.plan

    def without_result(self) -> Iterator[Stated]:
        """Return the series without a point that counts, unless skipped or the server died."""
        found: defaultdict[tuple[str, str], list[PointStop]] = defaultdict(list)
        for key, stops in self._results.items():
            for stop in stops if key not in self._closed else ():
                found[stop.server, stop.load_tool].append(stop)
        for (server, tool), stops in found.items():
            if not any(stop.complete for stop in stops):
                name = self._run.rehearsed[server].entry.name
                several = len(self._plan.load_tools) > 1
                # The first reason is that it was interrupted, the second why.
                said = " ".join(stops[0].reasons[1:2])
                yield notice("no-result", name=f"{name}, {tool}" if several else name, said=said)

    async def run(self) -> None:
        """All blocks of the plan's order. Raises Stopped when it was asked to end."""
        self._note_conditions()
        note_links(self._run)
        profiles = ProfilePass(self._run, self.servers) if self._plan.profiled else None
        if profiles:
            await profiles.prepare()
        await self._calibrate()
        if self._plan.to_ceiling:
            self._set_rates()
        blocks = order(self._plan, self._run.seed)
        for block in blocks:
            number = block.pass_number
            if self._plan.search:
                await self._search(block)
            else:
                points = sweep(self._plan, block.server, seed=self._run.seed, pass_number=number)
                await self._run_server(block, points)
        if self._plan.axis.has_limit and not self._plan.search:
            for _ in range(1, self._plan.looks):
                await self._repeat_doubtful(blocks)
        if profiles:
            await profiles.run([stop for stops in self._results.values() for stop in stops])

    async def restore(self) -> None:
        """End the tuning of the machines, and note what was restored and what could not be."""
        self._note_tuning(await self._run.stage.tuneup.close())

    def _note_conditions(self) -> None:
        run = self._run
        for reason in self.left_out:
            run.note(notice("deploy", said=reason))
        # Until the rates are known, the budget is an estimate.
        of_plan = [] if run.plan.to_ceiling else run.budget.warnings
        for warning in [*of_plan, run.stage.placement.shared]:
            if warning:
                run.note(warning)
        self._note_tuning(run.stage.tuneup.events)
        for other in run.claim.others if run.claim else ():
            run.note_other(other)
        for name, member in run.stage.members.items():
            if there := list(member.machine.beside):
                run.note(notice("shared-machine", machine=name, there=there), machine=name)
        if run.exposed:
            names, address = list(run.exposed.names), run.exposed.address
            said = run.exposed.text
            run.note(notice("exposed", servers=names, address=address, said=said))
        confined = [each.record.confined for each in run.rehearsed.values()]
        if any(each.user and not each.landlock and "files" not in each.rights for each in confined):
            # The kernel cannot keep servers from the files of their user.
            run.note(notice("confinement", machine=run.stage.target.name))
        entries = [r.entry for r in run.rehearsed.values() if r.entry.family != "tool"]
        alike = (
            set.intersection(*(set(entry.conditions) for entry in entries)) if entries else set()
        )
        for server, rehearsal in run.rehearsed.items():
            run.note(notice("gate", gate=msgspec.to_builtins(rehearsal.gate)), server)
            entry = rehearsal.entry
            if stated := settings(entry):
                run.note(notice("database", settings=stated), server)
            over_tls = entry.tls_unequal if run.plan.declared.tls(run.plan.workload) else ()
            for text in (*entry.differences, *over_tls):
                if len(entries) == 1 or text not in alike:
                    run.note(notice("unequal", name=entry.name, said=text), server)

    def _note_tuning(self, events: Sequence[TuningEvent]) -> None:
        for machine, event in events:
            self._run.note(event, machine=machine)

    async def _calibrate(self) -> None:
        """Find the rate up to which the clients themselves can be trusted, the client limit."""
        tools = (r.entry for r in self._run.rehearsed.values() if r.entry.family == "tool")
        null = next(tools, None)
        if null is None or not (self._plan.calibrate and self._plan.axis.calibrated):
            return
        if not self._plan.declared.serves(self._plan.workload.protocol, null.protocols):
            protocol = self._plan.workload.protocol
            self._run.note(notice("client-limit-unknown", protocol=protocol))
            return
        for tool in self._plan.load_tools:
            await self._calibrate_with(tool, null)

    async def _calibrate_with(self, tool: str, null: ServerEntry) -> None:
        ceiling = None
        key = limit_key(self._run, tool)
        known = await asyncio.to_thread(recall, key)
        try:
            ceiling = await self.servers.run(
                null.id,
                calibration(
                    self._plan,
                    null.id,
                    seed=self._run.seed,
                    most_per_s=self._run.budget.most_per_s if self._plan.to_ceiling else math.inf,
                    load_tool=tool,
                    known=known,
                ),
            )
        except NotMeasurable as reason:
            self._run.note(notice("deploy", said=str(reason)), null.id)
        if ceiling is None:
            self._run.note(notice("client-limit-unknown"))
            return
        await asyncio.to_thread(remember, key, ceiling)
        self._run.limits[tool] = ClientLimit(ceiling.per_s, ceiling.others_pct)
        top = self._run.budget.most_per_s if self._plan.to_ceiling else max(self._plan.rates_per_s)
        reached_all = ceiling.per_s >= top
        found = notice(
            "ceiling",
            ceiling_per_s=ceiling.per_s,
            reached_all=reached_all,
            others_cpu_pct=ceiling.others_pct,
            disturbed=ceiling.disturbed,
            confirmed=ceiling.confirmed,
            load_tool=tool if len(self._plan.load_tools) > 1 else "",
        )
        self._run.note(found, null.id)

    def _set_rates(self) -> None:
        """Give the plan its rates, up to the client limit. Raises PongbenchError if unknown."""
        run, ceiling_per_s = self._run, self._run.limit.per_s
        if not ceiling_per_s:
            raise PongbenchError(
                "The rates end at the client limit, which could not be measured; give the highest"
                " rate in place of 'ceiling'."
            )
        plan = run.plan.ending_at(min(ceiling_per_s, run.budget.most_per_s))
        if len(plan.rates_per_s) < 2:
            lowest, highest = RATE.at(plan.rates_per_s[0]), RATE.at(ceiling_per_s)
            raise PongbenchError(
                f"The rates begin at {lowest}, but the clients reach only {highest}; lower"
                " rates.from."
            )
        run.plan, run.budget = plan, run.assess(plan)
        run.budget.check()
        run.note(notice("rates", values=plan.rates_per_s, suffix=plan.axis.suffix))
        for warning in run.budget.warnings:
            run.note(warning)

    async def _search(self, block: Block) -> None:
        """Search one server's peak in one pass; what was found is noted, however it ended."""
        search = PeakSearch(
            self._plan,
            block.server,
            name=self._run.rehearsed[block.server].entry.name,
            seed=self._run.seed,
            pass_number=block.pass_number,
        )
        try:
            await self._run_server(block, search.run(lambda: self._run.limit.per_s or 0.0))
        finally:
            if search.measured:
                self._run.note(search.answer(), block.server)

    async def _repeat_doubtful(self, blocks: Sequence[Block]) -> None:
        """Repeat what is in doubt at the end: a slow spell is over by then."""
        known, doubts = self._run.limit.per_s or 0.0, []
        for block in blocks:
            results = self._results[_key(block)] if _key(block) not in self._closed else []
            for tool in self._plan.load_tools:
                if last := undecided([s for s in results if s.load_tool == tool], known):
                    doubts.append((block, last))
                    break
        for block, last in doubts:
            again = notice(
                "again",
                name=self._run.rehearsed[block.server].entry.name,
                look=last.look,
                pass_number=block.pass_number,
                rates_per_s=[last.x],
                suffix=self._plan.axis.suffix,
                verdict=last.verdict,
                held=is_sustained(last),
                passes=self._plan.repeats,
            )
            self._run.note(again, block.server)
        for block, _ in doubts:
            before = list(self._results[_key(block)])
            points = repeat_sweep(
                self._plan,
                block.server,
                before,
                seed=self._run.seed,
                pass_number=block.pass_number,
                ceiling_per_s=self._run.limit.per_s or 0.0,
            )
            await self._run_server(block, points)

    async def _run_server(self, block: Block, points: Sweep) -> None:
        """Run points of one server; what fails in it is a note, not an error. Raises Stopped."""
        key, rests = _key(block), self._run.budget.cool_down_s[block.server]
        try:
            gave_up = await self.servers.run(block.server, points, rests, self._results[key])
        except NotMeasurable as reason:
            self._closed.add(key)
            self.left_out.append(str(reason))
            self._run.note(notice("deploy", said=str(reason)), block.server)
            return
        if gave_up is None:
            self._closed.add(key)
        for each in gave_up or ():
            self._run.note(each, block.server)


def _key(block: Block) -> tuple[str, int]:
    return block.server, block.pass_number


_FOR_S = 86_400.0
"""How long what the clients reached is kept, to begin the next calibration there."""


def remember(key: str, found: Ceiling) -> None:
    """Keep a result, unless other programs disturbed it. One that cannot be kept is no error."""
    if found.disturbed or found.confirmed or not found.per_s:
        return
    with contextlib.suppress(OSError):
        stores.write(_path(key), msgspec.json.encode(found))
        stores.tidy(_path(key).parent, _FOR_S)


def recall(key: str) -> Ceiling | None:
    """Return what was found within a day; None: nothing was."""
    try:
        age_s = time.time() - _path(key).stat().st_mtime
        known = msgspec.json.decode(_path(key).read_bytes(), type=Ceiling)
    except (OSError, msgspec.DecodeError):
        return None
    return known if 0 <= age_s < _FOR_S else None


def limit_key(run: RunState, tool: str) -> str:
    """Return what a limit depends on: the clients, the load tool and the workload."""
    plan, stage = run.plan, run.stage
    machines = sorted(
        (each.name, sorted(each.roles), str(each.facts.get("kernel")), each.facts.get("cpu_count"))
        for each in stage.records()
    )
    load = plan.workload, plan.unit, plan.workers, plan.nofile, tool, stage.versions.get(tool, {})
    what = msgspec.json.encode((__version__, machines, load))
    return hashlib.sha256(what).hexdigest()[:24]


def _path(key: str) -> Path:
    return paths.cache_dir() / "limits" / f"{key}.json"


MOST_STACKS = 1_000
"""The most stacks that a session records of a profile; the rarest are summed up."""


class ProfilePass:
    def __init__(self, run: RunState, servers: ServerRunner) -> None:
        self._run = run
        self._servers = servers
        self._wanted = run.plan.profiled or Profile()
        self._programs: dict[str, str] = {}
        """By server that can be profiled: the profiler's path on the target."""

    async def prepare(self) -> None:
        """Bring the profilers to the target, and note which are missing, before the measurement."""
        for server in self._run.plan.servers:
            profiler = profilers.profiler_of(self._run.rehearsed[server].entry)
            try:
                path = await profilers.bring_profiler(self._run.stage.target, profiler)
            except profilers.Failed as failed:
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
        profiler = profilers.profiler_of(entry)
        self._run.notify(f"Profiling {entry.name} with {profiler.title}")
        try:
            async with self._servers.turn(server, profiler.prepared(entry)) as deployment:
                await self._profile(profiler, deployment, x)
        except NotMeasurable as reason:
            self._note_failure(server, profiler, profilers.Failed("start", str(reason)))
        except profilers.Failed as failed:
            self._note_failure(server, profiler, failed)

    def _sustained(self, results: Sequence[PointStop]) -> float:
        """Return the highest sustained value, otherwise the highest measured; 0: there is none."""
        axis, found = self._run.plan.axis, None
        if axis.bounds:
            found = max((stop.x for stop in results if stop.verdict == "ok"), default=None)
        elif axis.has_limit:
            found = knee(results)
        return found or max((stop.x for stop in results), default=0.0)

    async def _profile(
        self, profiler: profilers.Profiler, deployment: Deployment, x: float
    ) -> None:
        """Note the samples under load, unless the user skips the server."""
        plan, entry = self._run.plan, deployment.entry
        target = Target(deployment)
        profiling = profilers.Profiling(profiler, deployment, self._programs[entry.id])
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
            await self._servers.points.after_point()
            self._run.control.check()
            if self._run.control.skipping:
                self._run.note(notice("skipped", name=entry.name), entry.id)
                return
            await sampling
            self._note(entry.id, await profiling.finish(), seconds, x)
        finally:
            await ended(sampling)

    def _seconds(self, deployment: Deployment, x: float) -> float:
        """Return the sampling time: no longer than the clients' ports last."""
        plan, wanted = self._run.plan, self._wanted.seconds
        point = schedule.profile_point(plan, "", x, seconds=wanted, seed=0)
        per_s = point.connection_rate_per_s
        closes_first = deployment.entry.closes_first
        if not per_s or not plan.declared.clients_close(plan.workload, closes_first):
            return wanted
        fit = self._run.budget.ports_free / per_s - 2 * schedule.PROFILE_LEAD_S
        return max(1.0, min(wanted, fit))

    def _note(self, server: str, found: profilers.Profiled, seconds: float, x: float) -> None:
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

    def _note_failure(
        self, server: str, profiler: profilers.Profiler, failed: profilers.Failed
    ) -> None:
        note = notice(
            "not-profiled",
            name=self._run.rehearsed[server].entry.name,
            tool=profiler.title,
            machine=self._run.stage.target.name,
            why=failed.why,
            detail=failed.detail,
        )
        self._run.note(note, server)


def bounded(stacks: profilers.Stacks, most: int = MOST_STACKS) -> tuple[list[str], list[int], int]:
    """Return names (sanitised), stacks and omitted samples for `outcomes.Profile`."""
    places: dict[str, int] = {}
    flat: list[int] = []
    kept = stacks.most_common(most)
    for stack, count in kept:
        calls = [places.setdefault(one_line(name), len(places)) for name in stack]
        flat += [count, len(calls), *calls]
    return list(places), flat, stacks.total() - sum(count for _, count in kept)

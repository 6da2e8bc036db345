"""Runs a plan: a rehearsal that finds what cannot work, then the session."""

from __future__ import annotations

import asyncio
import datetime
import functools
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from workbench import __version__, consent, metrics
from workbench.axis import Axis
from workbench.closing import to_the_end
from workbench.control import Control, Stopped
from workbench.documents import VERSION, AnyDocument, HostSample, RunStart, RunStop, SeriesRecord
from workbench.errors import BadInput, PongbenchError
from workbench.load.registry import remarks
from workbench.machines.base import Machine
from workbench.machines.opening import open_machine
from workbench.machines.profiles import load_profile, profile_names
from workbench.machines.secrets import Ask, named, never_ask
from workbench.messages.plans import Warned, more_rights, old_servers_exposed, warning
from workbench.plan.budget import Budget, assess
from workbench.plan.model import Plan
from workbench.plan.reading import recorded
from workbench.plan.schedule import order, points, series_key
from workbench.run import claims, environment
from workbench.run.network_check import check_links
from workbench.run.scheduler import Scheduler
from workbench.run.state import Rehearsal, RunState
from workbench.run.tuning import Tuning
from workbench.servers.deployment import Deployment, see_address
from workbench.servers.entry import ServerEntry
from workbench.servers.footprint import footprint
from workbench.servers.gate import gate, remember, wire_to
from workbench.servers.programs import MissingPrograms
from workbench.servers.readiness import examine, out_of_reach, to_fetch
from workbench.servers.running import is_own, resolved
from workbench.workloads.http.requests import SAFE

_ABORTED = RunStop(t_us=0, status="aborted")


@dataclass(frozen=True)
class Consents:
    """What a user agrees to, or is asked; by default nothing, and nobody is there."""

    ask: Ask = never_ask
    install: bool = False
    """Whether programs that machines lack may be unpacked there."""
    tuning: Tuning | None = None
    """Kernel settings for the length of the run; None: they stay as they are."""
    expose: consent.Consent[consent.Exposure] = consent.never_agree
    """Whether servers without security fixes may listen where other machines reach them."""
    run_foreign: consent.Consent[consent.ForeignCode] = consent.never_agree
    """Whether a program of the user, such as a locustfile, may run on the clients."""
    load: consent.Consent[consent.OfRunning] = consent.never_agree
    """Whether servers that run already may be loaded where they are, and with what changes them."""
    on_busy: claims.OnBusy | None = None
    """Asks what to do where another run is on these machines; None: no machine is claimed."""


@dataclass(frozen=True)
class Observer:
    """Who follows a run, beside its documents."""

    notify: Callable[[str], None] = lambda text: None
    on_budget: Callable[[Budget], None] = lambda budget: None
    """Called with what the run will cost, before anything is started."""
    on_trial: Callable[[Sequence[ServerEntry], int], None] = lambda servers, done: None
    """Called before each server is tested and after the last: all servers, how many done."""


@dataclass
class Engine:
    """One run of one plan.

    An exception out of `emit` ends the run: it means that nobody records it any more.
    """

    plan: Plan
    entries: Sequence[ServerEntry]
    emit: Callable[[AnyDocument], None]
    """Gets every document, in order, in the engine's event loop."""
    null: ServerEntry | None = None
    """To calibrate the clients with."""
    fleet: environment.Fleet = field(default_factory=environment.Fleet)
    consents: Consents = field(default_factory=Consents)
    observer: Observer = field(default_factory=Observer)
    control: Control = field(default_factory=Control)

    def __post_init__(self) -> None:
        if not (self.plan.calibrate and self.plan.axis.calibrated):
            self.null = None
        self._claim: claims.Hold | None = None
        self.seed = self.plan.seed or 1 + secrets.randbelow(2**31 - 1)

    async def assess(self, tune: str = "") -> Budget:
        """What the run will cost on its machines. `tune`: with this set of kernel settings."""
        async with environment.open_fleet(self.fleet, self.consents.ask) as members:
            address, reach = environment.addresses(self.fleet, members)
            facts = await environment.facts_for(members, tune)
            budget = await asyncio.to_thread(self._assess, facts, reach)
            for entry in self.entries:
                see_address(entry, address)
            if found := consent.exposure(self.entries, self.fleet.target, address):
                budget.warnings.append(old_servers_exposed(found))
            budget.warnings.extend(await self._lacking(members[self.fleet.target].machine))
            return budget

    async def _lacking(self, machine: Machine) -> list[Warned]:
        there = None if machine.is_local else await examine(machine, self.entries)
        found: list[Warned] = []
        if not self.consents.install and (
            lacking := await asyncio.to_thread(to_fetch, self.entries, there)
        ):
            found.append(warning("must-be-fetched", servers=list(lacking)))
        if unreached := await out_of_reach(self.entries, there):
            found.append(unreached)
        return found

    async def run(self) -> RunStop:
        """Raises BadInput or PongbenchError before the first document, when the run cannot begin.

        Afterwards the session always ends with a RunStop, which is returned; only a failing
        `emit` and cancellation (abort) are raised, too.
        """
        on_busy, fleet = self.consents.on_busy, self.fleet
        if on_busy is None:
            return await self._run(fleet)
        name, notify = self.plan.name or "Run", self.observer.notify
        holding = claims.held(name, fleet.profiles(), fleet.roles, on_busy, notify)
        async with holding as self._claim:
            if self._claim.others and fleet.open is open_machine:
                fleet = replace(fleet, open=functools.partial(open_machine, exclusive=False))
            return await self._run(fleet)

    def _emit(self, document: AnyDocument) -> None:
        self.emit(document)
        if self._claim:
            self._claim(document)

    async def _run(self, fleet: environment.Fleet) -> RunStop:
        consents, over = self.consents, False

        def take(sample: HostSample) -> None:
            # One may be on its way when the session ends.
            if not over:
                self._emit(sample)

        declared, workload = self.plan.declared, self.plan.workload
        foreign = declared.foreign_code(workload, self.fleet.clients)
        await consent.agreed(foreign, consents.run_foreign)
        known = await named(declared.secrets(workload))
        opening = environment.open_stage(
            self.plan,
            fleet,
            take,
            consents.ask,
            consents.tuning,
            install=consents.install,
            notify=self.observer.notify,
        )
        run: RunState | None = None
        end = _ABORTED
        try:
            async with opening as stage:
                for entry in self.entries:
                    see_address(entry, stage.bind)
                budget = await asyncio.to_thread(self._assess, stage.facts, stage.reach)
                self.observer.on_budget(budget)
                budget.check()
                if self._claim:
                    await asyncio.to_thread(self._claim.expect, budget.duration_s[1])
                exposed = await consent.agreed(
                    consent.exposure(self.entries, self.fleet.target, stage.bind), consents.expose
                )
                self.entries = await _contacts(self.plan, self.entries, consents.load)
                links = await check_links(stage)
                rehearsed, left_out, budget = await self._rehearse(stage, known, budget)
                plan = budget.known(self.plan)
                zero = time.monotonic_ns() // 1000
                stage.samplers.zero_us = zero
                self._emit(self._start(stage, rehearsed, plan.axis))
                run = RunState(
                    plan=plan,
                    stage=stage,
                    budget=budget,
                    rehearsed=rehearsed,
                    control=self.control,
                    emit=self._emit,
                    assess=functools.partial(self._assess, stage.facts, stage.reach),
                    notify=self.observer.notify,
                    seed=self.seed,
                    zero_us=zero,
                    exposed=exposed,
                    links=links,
                    secrets=known,
                    claim=self._claim,
                )
                scheduler = Scheduler(run, left_out)
                try:
                    end = await _run(scheduler)
                finally:
                    try:
                        await to_the_end(scheduler.restore())
                    finally:
                        over = True
        except asyncio.CancelledError:
            if end.status == "stopped":
                end = _ABORTED
            raise
        finally:
            if run:
                # Once all is closed: until then a run that stops may still be aborted.
                end = msgspec.structs.replace(end, t_us=run.now_us())
                self._emit(end)
        return end

    def _assess(
        self, facts: Mapping[str, dict[str, Any]], reach: str, plan: Plan | None = None
    ) -> Budget:
        """`facts`: of each machine; `reach`: of servers; `plan`: once its rates are known."""
        budget = assess(
            plan or self.plan,
            self.entries,
            environment.tightest([facts[name] for name in self.fleet.clients]),
            loopback=self.fleet.loopback,
            clients=len(self.fleet.clients),
            target=self.fleet.target,
            target_facts=facts[self.fleet.target],
            ipv6=":" in reach,
        )
        budget.warnings.extend(remarks(plan or self.plan, clients=len(self.fleet.clients)))
        for entry in self.entries:
            budget.warnings.extend(more_rights(entry.name, entry.rights))
        return budget

    async def _rehearse(
        self, stage: environment.Stage, known: Mapping[str, str], budget: Budget
    ) -> tuple[dict[str, Rehearsal], list[str], Budget]:
        """Deploy, gate and stop every server once: what cannot work is reported before hours are
        spent, and no runtime is built while something is measured. `known`: the plan's secrets.

        Also returns why servers are left out, and the cost of the others; if none remains, or the
        plan requires all, it raises what the first one failed with."""
        self.observer.notify("Testing every server once before the run.")
        rehearsed: dict[str, Rehearsal] = {}
        failed: list[PongbenchError] = []
        left_out: list[str] = []
        servers = [*self.entries, *([self.null] if self.null else [])]
        for finished, entry in enumerate(servers):
            self.observer.on_trial(servers, finished)
            try:
                rehearsed[entry.id] = await self._rehearse_one(stage, entry, known)
            except MissingPrograms:
                raise  # a question to the user
            except PongbenchError as error:
                if entry is self.null or self.plan.require_all:
                    raise
                failed.append(error)
                left_out.append(f"{entry.name} is left out: {error}")
                self.observer.notify(left_out[-1])
        self.observer.on_trial(servers, len(servers))
        if len(failed) == len(self.entries):
            raise failed[0]
        if failed:
            self.entries = [each for each in self.entries if each.id in rehearsed]
            ids = [each for each in self.plan.servers if each in rehearsed]
            self.plan = msgspec.structs.replace(self.plan, servers=ids)
            budget = await asyncio.to_thread(self._assess, stage.facts, stage.reach)
        return rehearsed, left_out, budget

    async def _rehearse_one(
        self, stage: environment.Stage, entry: ServerEntry, known: Mapping[str, str]
    ) -> Rehearsal:
        deployment = await stage.deploy(
            entry, self.plan, self.observer.notify, install=self.consents.install
        )
        try:
            if deployment.entry.running:
                return await self._meet(deployment, known)
            result = await gate(deployment)
            if not result.passed:
                raise PongbenchError(
                    f"{entry.name} did not pass the wire gate: {' '.join(result.sentences)} "
                    "Fix it, or leave it out of the plan."
                )
            where = "" if stage.target.is_local else stage.target.name
            version = deployment.version
            await asyncio.to_thread(remember, entry, result, version, where)
            if entry is not self.null:
                result = await self.plan.declared.own_calls(
                    wire_to(deployment), self.plan.workload, entry, result, known
                )
                deployment.gated = msgspec.to_builtins(result)
            return Rehearsal(entry, deployment.record(), result)
        finally:
            await to_the_end(deployment.stop())

    async def _meet(self, deployment: Deployment, known: Mapping[str, str]) -> Rehearsal:
        """Ask a running server what the plan asks; what it answers is what it is to answer."""
        entry, declared = deployment.entry, self.plan.declared
        assert entry.running
        workload = declared.at(self.plan.workload, entry)
        result, expected = await declared.probe(wire_to(deployment), workload, entry, known)
        used = await footprint(deployment.machine, deployment.roots)
        result = msgspec.structs.replace(
            result, processes=used.processes, threads=used.threads, rss_bytes=used.rss_bytes
        )
        for sentence in (f"{entry.name}: {text}" for text in result.sentences):
            self.observer.notify(sentence)
        deployment.gated = msgspec.to_builtins(result)
        contact = replace(entry.running, expected=expected)
        entry = msgspec.structs.replace(entry, running=contact)
        return Rehearsal(entry, deployment.record(), result)

    def _series(self, rehearsed: dict[str, Rehearsal]) -> list[SeriesRecord]:
        """One per server, or where several load tools run every point, one for each of them."""
        tools = self.plan.load_tools
        if len(tools) == 1:
            return []
        return [
            SeriesRecord(
                key=series_key(tools, server, tool),
                server=server,
                label=f"{rehearsed[server].entry.name}, {tool}",
                params={"load_tool": tool},
            )
            for server in self.plan.servers
            for tool in tools
        ]

    def _start(
        self, stage: environment.Stage, rehearsed: dict[str, Rehearsal], axis: Axis
    ) -> RunStart:
        """`axis`: with the values that the machines decide."""
        contestants = [rehearsed[server] for server in self.plan.servers]
        return RunStart(
            v=VERSION,
            session=secrets.token_hex(8),
            started_utc=datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            pongbench=__version__,
            plan=recorded(self.plan),
            machines=stage.records(serves=any(not r.record.elsewhere for r in contestants)),
            servers=[each.record for each in contestants],
            order=order(self.plan, self.seed),
            seed=self.seed,
            axis=axis,
            series=self._series(rehearsed),
            load_versions={name: dict(each) for name, each in stage.versions.items() if each},
            metrics=metrics.records(
                self.plan.declared.requests(self.plan.workload),
                held=self.plan.workload.held > 0,
                statuses=self.plan.declared.statuses,
            ),
        )


async def _run(scheduler: Scheduler) -> RunStop:
    try:
        await scheduler.run()
    except Stopped:
        return RunStop(t_us=0, status="stopped")
    except PongbenchError as error:
        return RunStop(t_us=0, status="failed", reason=str(error), code=error.code)
    without = [each.text() for each in scheduler.without_result()]
    if not scheduler.left_out and not without:
        return RunStop(t_us=0, status="done")
    return RunStop(
        t_us=0,
        status="failed",
        reason=" ".join([*scheduler.left_out, *without]),
        code="servers-left-out" if scheduler.left_out else "no-result",
    )


async def _contacts(
    plan: Plan, entries: Sequence[ServerEntry], agree: consent.Consent[consent.OfRunning]
) -> list[ServerEntry]:
    """Return the entries, running servers with addresses. Raises BadInput, PongbenchError."""
    found: list[ServerEntry] = []
    asked: list[consent.OfRunning] = []
    for entry in entries:
        if entry.running is None:
            found.append(entry)
            continue
        found.append(await resolved(entry))
        asked += await asyncio.to_thread(list, _asked(plan, found[-1]))
    for each in asked:
        await consent.agreed(each, agree)
    return found


def _asked(plan: Plan, entry: ServerEntry) -> Iterator[consent.OfRunning]:
    contact = entry.running
    assert contact
    requests = plan.declared.asks(plan.declared.at(plan.workload, entry))
    others = {each for each in contact.addresses if contact.address.port and not is_own(each)}
    if others and not others <= _machines():
        methods = [method for method, _ in requests] or [plan.declared.label]
        what = _most(plan, " and ".join(dict.fromkeys(methods)))
        yield consent.Load(contact.address.host, contact.addresses, what)
    if changing := [f"{method} {path}" for method, path in requests if method not in SAFE]:
        yield consent.Repeated(entry.name, tuple(changing), _often(plan))


def _most(plan: Plan, what: str) -> str:
    """Return the highest load: "up to 20,000 GET/s"."""
    if plan.closed:
        return f"{max(plan.concurrency):,} concurrent {what}, each as fast as it is answered,"
    if plan.to_ceiling:
        return f"as many {what}/s as the clients can offer"
    return f"up to {_most_per_s(plan):,.0f} {what}/s"


def _most_per_s(plan: Plan) -> float:
    calls = 1 if plan.unit == "requests" else plan.workload.calls_per_connection
    return max(plan.rates_per_s) * calls


def _often(plan: Plan) -> str:
    """Return how often requests are made in all: "24,000 times, up to 2,000/s"."""
    turns = plan.repeats * len(plan.load_tools)
    samples = [point.samples for point in points(plan, "")]
    if plan.closed and not all(samples):
        return "as often as it is answered, for as long as the points last"
    if plan.to_ceiling:
        return "as often as the clients can"
    count = max(samples) * plan.search.points if plan.search else sum(samples)
    per_s = "" if plan.closed else f", up to {_most_per_s(plan):,.0f}/s"
    return f"about {count * turns:,} times{per_s}"


def _machines() -> set[str]:
    found: set[str] = set()
    for name in profile_names():
        try:
            profile = load_profile(name)
        except BadInput:
            continue
        for host in filter(None, (profile.address, profile.reach)):
            try:
                found |= {str(each[4][0]) for each in socket.getaddrinfo(host, None)}
            except OSError:
                continue
    return found

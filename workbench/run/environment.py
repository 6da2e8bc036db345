"""The machines of a run with all that it needs on them, opened and closed together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from workbench.analysis.usage import Usage
from workbench.closing import all_of, to_the_end
from workbench.consent import is_loopback
from workbench.documents import HostSample, MachineRecord
from workbench.errors import BadInput
from workbench.load import registry
from workbench.load.base import Client, LoadGenerator, LoadTool
from workbench.machines.base import Machine
from workbench.machines.facts import limits_of
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Placement, Profile, Role, is_link_local, load_profile, place
from workbench.machines.sampler_client import Sampling
from workbench.machines.secrets import Ask, never_ask
from workbench.machines.tuning import load_set
from workbench.plan.model import Plan
from workbench.plan.schedule import PointPlan
from workbench.run.tuning import Opened, TuneUp, Tuning, TuningPlan, plans_for, tune
from workbench.servers.address import is_address
from workbench.servers.certificate import Certificate, issue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.running import attach, is_here
from workbench.servers.runtimes import Notify

AHEAD_US = 60_000_000
"""A sample from further in the future than this is discarded."""


class Samplers:
    """Samples every machine of a run, and emits samples on the session's axis, from its zero on."""

    def __init__(self, emit: Callable[[HostSample], None]) -> None:
        self._emit = emit
        self.zero_us: int | None = None
        """The session's zero on this computer's monotonic clock; None: nothing is emitted yet."""
        self._samplings: dict[str, Sampling] = {}

    async def start(
        self,
        machine: Machine,
        clock: tuple[int, int],
        cores: Collection[int] = (),
        beside: Collection[int] = (),
    ) -> Sampling:
        """Sample a machine. `clock`: from `Machine.clock`; the others: see `Sampling`."""
        # This computer's clock is the session's; its offset is measured, but known to be none.
        offset_us = 0 if machine.is_local else clock[0]

        def to_session_us(mono_us: int) -> int:
            return -1 if self.zero_us is None else mono_us + offset_us - self.zero_us

        if before := self._samplings.pop(machine.name, None):
            await before.stop()
        sampling = Sampling(machine, to_session_us, self._take, cores, beside)
        self._samplings[machine.name] = sampling
        await sampling.start()
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
        now_us = time.monotonic_ns() // 1000 - (self.zero_us or 0)
        if 0 <= sample.t_us <= now_us + AHEAD_US:
            self._emit(sample)


HERE = "localhost"


@dataclass(frozen=True)
class Fleet:
    """The machines of a run, by the names of their profiles."""

    target: str = HERE
    clients: tuple[str, ...] = (HERE,)
    open: Callable[[Profile, Ask], Awaitable[Machine]] = open_machine

    def roles(self, name: str) -> list[Role]:
        roles: list[Role] = ["target"] if name == self.target else []
        return [*roles, "client"] if name in self.clients else roles

    @property
    def loopback(self) -> bool:
        """Whether all load stays on one machine."""
        return self.clients == (self.target,)

    def profiles(self) -> dict[str, Profile]:
        """The profiles by name. Raises BadInput where one is missing or lacks the role."""
        found = {name: load_profile(name) for name in (self.target, *self.clients)}
        for name, profile in found.items():
            for role in self.roles(name):
                if role not in profile.roles:
                    listed = " and ".join(profile.roles)
                    raise BadInput(
                        f"'{name}' is not to be a {role}: its profile says {listed}; change its"
                        " roles, or take another machine."
                    )
        return found


@dataclass(frozen=True)
class Member:
    """An open machine of the run."""

    machine: Machine
    profile: Profile
    roles: list[Role]
    facts: dict[str, Any]
    clock: tuple[int, int]
    """(offset_us, uncertainty_us) when it was opened."""


@dataclass(frozen=True)
class Stage:
    """Target and clients, ready for load."""

    fleet: Fleet
    members: dict[str, Member]
    placement: Placement
    """The cores of the server on the target, and of the agents of all clients together."""
    tools: Mapping[str, LoadTool]
    """By name: the plan's, and one that can offer the rate of a warm-up."""
    loads: Mapping[str, LoadGenerator]
    versions: Mapping[str, Mapping[str, str]]
    """Of tools that are programs, by tool and machine."""
    samplers: Samplers
    sampling: Sampling
    """Of the target."""
    bind: str
    """The address that servers listen on."""
    reach: str
    """The address at which clients reach them."""
    tuneup: TuneUp
    returned: AsyncExitStack
    """Machines that were lost and opened again; closed at the end."""
    certificate: Certificate | None = None
    """Of the servers; None: the plan is without TLS."""

    @property
    def target(self) -> Machine:
        return self.members[self.fleet.target].machine

    @property
    def facts(self) -> dict[str, dict[str, Any]]:
        """The facts of the machines, with kernel settings as changed for the run."""
        return {name: member.facts for name, member in self.members.items()}

    def with_tool(self, point: PointPlan) -> PointPlan:
        """The point with a load tool, for a warm-up and a calibration the first with rates."""
        if point.load_tool:
            return point
        can = (name for name, tool in self.tools.items() if "rate" in tool.capabilities.axes)
        return replace(point, load_tool=next(can, next(iter(self.tools))))

    async def deploy(
        self, entry: ServerEntry, plan: Plan, notify: Notify, *, install: bool = False
    ) -> Deployment:
        """Start a server with the same backlog, descriptor limit and cores as all others; one that
        runs already is only reached.

        `install`: whether programs the target lacks may be unpacked there."""
        if entry.running:
            here = is_here(entry, self.target, self.reach)
            return await attach(self.target, entry, here=here)
        return await deploy(
            self.target,
            entry,
            backlog=plan.backlog,
            nofile=plan.nofile,
            cpus=self.placement.server,
            host=self.bind,
            reach=self.reach,
            notify=notify,
            install=install,
            certificate=self.certificate,
        )

    def records(self, *, serves: bool = True) -> list[MachineRecord]:
        """For `RunStart.machines`. `serves`: whether any server was on the target."""
        return [
            MachineRecord(
                name=name,
                roles=[role for role in member.roles if serves or role != "target"],
                facts=dict(member.facts),
                clock_offset_us=member.clock[0],
                clock_uncertainty_us=member.clock[1],
            )
            for name, member in self.members.items()
        ]


@asynccontextmanager
async def open_fleet(fleet: Fleet, ask: Ask = never_ask) -> AsyncIterator[dict[str, Member]]:
    """Open all machines at once, and close them together. Raises BadInput or PongbenchError."""
    profiles = fleet.profiles()
    async with AsyncExitStack() as stack:

        async def open_one(profile: Profile) -> Machine:
            machine = await fleet.open(profile, ask)
            stack.push_async_callback(machine.close)
            return machine

        machines = await all_of(map(open_one, profiles.values()))
        yield {
            name: Member(
                machine, profile, fleet.roles(name), await machine.facts(), await machine.clock()
            )
            for (name, profile), machine in zip(profiles.items(), machines, strict=True)
        }


async def preview_tuning(fleet: Fleet, name: str, ask: Ask = never_ask) -> list[TuningPlan]:
    """What a set of kernel settings would change. Raises BadInput or PongbenchError."""
    async with open_fleet(fleet, ask) as members:
        return await plans_for(_opened(members), name)


async def facts_for(members: Mapping[str, Member], tune: str) -> dict[str, dict[str, Any]]:
    """The facts with this set of kernel settings; empty: without. Raises BadInput."""
    facts = {name: dict(member.facts) for name, member in members.items()}
    if not tune:
        return facts
    wanted = load_set(tune)
    for plan in await plans_for(_opened(members), tune):
        if plan.why_not is None:
            facts[plan.machine] = wanted.in_force(facts[plan.machine])
    return facts


def _opened(members: Mapping[str, Member]) -> Opened:
    return {name: (member.machine, member.profile) for name, member in members.items()}


@asynccontextmanager
async def open_stage(
    plan: Plan,
    fleet: Fleet,
    emit: Callable[[HostSample], None],
    ask: Ask = never_ask,
    tuning: Tuning | None = None,
    *,
    install: bool = False,
    notify: Notify = lambda text: None,
) -> AsyncIterator[Stage]:
    """Open all that a run needs. `install`: whether programs that clients lack may be unpacked
    there. Raises BadInput or PongbenchError if a machine cannot be used as its profile says."""
    async with (
        open_fleet(fleet, ask) as members,
        AsyncExitStack() as returned,
        AsyncExitStack() as stack,
    ):
        # Before anything listens or opens a connection, for what is in force then counts.
        tuneup = await stack.enter_async_context(tune(_opened(members), tuning, ask))
        for name in tuneup.tuned:
            members[name] = replace(members[name], facts=await members[name].machine.facts())
        placement, clients = _places(fleet, members, plan)
        for remark in plan.declared.remarks(plan.workload):
            notify(remark.text())  # What is started next may wait for what the user does.
        tools = {tool.name: tool for tool in registry.tools_for(plan)}
        loads, versions = {}, {}
        for name, tool in tools.items():
            there = await registry.equipped(tool, clients, install=install, notify=notify)
            versions[name] = {c.machine.name: v for c in there for v in c.programs.described()}
            loads[name] = load = await tool.start(there)
            stack.push_async_callback(load.close)
        samplers = Samplers(emit)
        stack.push_async_callback(samplers.stop)
        samplings = {}
        for name, member in members.items():
            # On the target, the cores that count: the server's, and those of workers beside it.
            cores = placement.server
            if name in fleet.clients:
                cores = (*cores, *placement.agents[: plan.workers])
            # A server that runs already may be on any of them.
            anywhere = any(map(is_address, plan.servers))
            observed = cores if name == fleet.target and not anywhere else ()
            beside = set(observed) - set(placement.server)
            samplings[name] = await samplers.start(member.machine, member.clock, observed, beside)
        bind, reach = addresses(fleet, members)
        yield Stage(
            fleet,
            members,
            placement,
            tools,
            loads,
            versions,
            samplers,
            samplings[fleet.target],
            bind,
            reach,
            tuneup,
            returned,
            issue() if plan.declared.tls(plan.workload) else None,
        )


def tightest(facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The facts of the client with the fewest local ports, for all have the same share of load."""
    return min(facts, key=lambda each: limits_of(each).ports)


def _places(fleet: Fleet, members: dict[str, Member], plan: Plan) -> tuple[Placement, list[Client]]:
    target = members[fleet.target]
    cpus, allowed = target.profile.cpus, target.machine.cpus
    beside = place(cpus, allowed, machine=fleet.target, roles=target.roles)
    agents: list[int] = []
    clients = []
    for name in fleet.clients:
        machine, profile = members[name].machine, members[name].profile
        alone = place(profile.cpus, machine.cpus, machine=name, roles=["client"])
        cores = beside.agents if name == fleet.target else alone.agents
        agents += cores
        brought = plan.declared.brought(plan.workload)
        clients.append(
            Client(machine, cores, workers=plan.workers, nofile=plan.nofile, brought=brought)
        )
    return Placement(beside.server, tuple(agents), beside.shared), clients


def addresses(fleet: Fleet, members: dict[str, Member]) -> tuple[str, str]:
    """The address that servers listen on, and the one at which clients reach them."""
    target = members[fleet.target]
    if fleet.loopback:
        own = target.profile.bind if is_loopback(target.profile.bind) else "127.0.0.1"
        return own, own
    machine, profile = target.machine, target.profile
    others = [members[name].machine for name in fleet.clients if name != fleet.target]
    if not machine.is_local:
        bind, reach = machine.bind, machine.reach
    else:
        seen = [m.our_address for m in others if m.our_address]
        reach = profile.reach or (seen[0] if seen else "127.0.0.1")
        bind = profile.bind or reach
    far = [m.name for m in others if not m.is_local]
    if far and (is_loopback(reach) or is_link_local(reach)):
        raise BadInput(
            f"'{fleet.target}' was reached at {reach}, where {far[0]} cannot reach it; name its"
            " address for the others in its profile (reach and bind)."
        )
    return bind, reach

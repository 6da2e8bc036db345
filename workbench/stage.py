"""Everything a run needs on its machines, opened together and closed together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from workbench.documents import HostSample, MachineRecord
from workbench.load.agents import AgentFleet, Client
from workbench.machines.base import Machine
from workbench.machines.local import open_local
from workbench.machines.placement import Placement, place
from workbench.machines.profiles import Profile, load_profile
from workbench.machines.sampling import Sampling
from workbench.plans import Plan
from workbench.servers.deploy import Deployment, deploy
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Notify


@dataclass(frozen=True)
class Stage:
    """Target and clients, ready. For now they are one machine: this one."""

    target: Machine
    profile: Profile
    placement: Placement
    facts: dict[str, Any]
    load: AgentFleet
    sampling: Sampling
    session_zero: Callable[[int], None]
    """Set the session's zero on this machine's monotonic clock (us); samples come from then on."""

    async def deploy(self, entry: ServerEntry, plan: Plan, tell: Notify) -> Deployment:
        """Start a server with the same backlog, descriptor limit and cores as all others."""
        return await deploy(
            self.target,
            entry,
            backlog=plan.backlog,
            nofile=plan.nofile,
            cpus=self.placement.server,
            notify=tell,
        )

    @property
    def loopback(self) -> bool:
        return True

    def records(self) -> list[MachineRecord]:
        """For `RunStart.machines`."""
        return [
            MachineRecord(
                name=self.target.name, roles=list(self.profile.roles), facts=dict(self.facts)
            )
        ]


async def open_machine(profile_name: str) -> Machine:
    """Raises BadInput or PongbenchError when the machine cannot be opened."""
    return await open_local(name=load_profile(profile_name).name)


@asynccontextmanager
async def open_stage(
    plan: Plan, profile_name: str, emit: Callable[[HostSample], None]
) -> AsyncIterator[Stage]:
    """Raises BadInput or PongbenchError when a machine cannot be used as the profile says."""
    profile = load_profile(profile_name)
    target = await open_machine(profile.name)
    try:
        placement = place(profile.cpus, target.cpus, machine=profile.name)
        facts = await target.facts()
        client = Client(target, placement.agents, workers=plan.workers, nofile=plan.nofile)
        load = await AgentFleet.start([client])
        # The cores that count: where the server runs, and those the workers are pinned to.
        sampling = Sampling([*placement.server, *placement.agents[: plan.workers]])
        zero: list[int] = []

        def session_us(mono_us: int) -> int:
            return mono_us - zero[0] if zero else -1

        def emit_in_session(sample: HostSample) -> None:
            if sample.t_us >= 0:
                emit(sample)

        try:
            await sampling.start(target, session_us, emit_in_session)
            yield Stage(target, profile, placement, facts, load, sampling, session_zero=zero.append)
        finally:
            await sampling.stop()
            await load.close()
    finally:
        await target.close()

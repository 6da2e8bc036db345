"""Our own load agents, on one client or several, as one load generator."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self, get_args

import msgspec

from workbench.closing import ended, to_the_end
from workbench.errors import PongbenchError
from workbench.load.agent import Agent, command
from workbench.load.base import (
    Capabilities,
    Client,
    LoadReport,
    LoadTool,
    LoadWindow,
    PointSpec,
    Reported,
    starts_at,
)
from workbench.load.point import ARM_WITHIN_S, NotInTime, Point
from workbench.machines.base import Machine
from workbench.messages.reasons import PointOverdue
from workbench.workloads.registry import WORKLOADS

GRACE_S = 10.0
"""How much longer than `PointSpec.longest_s` a point may take, in seconds."""
STOPPED_WITHIN_S = 30.0
"""Time for a point to stop: an agent may first have to end thousands of calls that timed out at
once, and to open as many connections while local ports are scarce."""


class AgentFleet:
    """A `LoadGenerator` that distributes a point's schedule over all workers of all clients."""

    arms_within_s = ARM_WITHIN_S

    def __init__(self, agents: list[Agent], worker: str = "") -> None:
        self._agents = agents
        self._worker = worker
        self._point: Point | None = None
        self._stopping = False
        """The point is to end, however far its beginning is."""
        self._count = 0

    @classmethod
    async def start(cls, clients: Sequence[Client], worker: str = "") -> Self:
        """Start an agent on every client. Raises PongbenchError when one cannot be started.
        `worker`: see `bundle.agent_command`."""
        fleet = cls([], worker)
        try:
            starting = [asyncio.ensure_future(fleet._start(client)) for client in clients]
            try:
                await asyncio.gather(*starting)
            finally:
                await ended(*starting)
            fleet._agents.sort(key=lambda agent: clients.index(agent.client))
        except BaseException:
            await fleet.close()
            raise
        return fleet

    async def _start(self, client: Client) -> None:
        process = await client.machine.start(await command(client, self._worker))
        agent = Agent(client, process)
        self._agents.append(agent)
        await agent.ready()

    async def rejoin(self, machine: Machine) -> None:
        """Restart a lost agent, on the same machine or on one opened again. Raises PongbenchError
        when it does not start."""
        (lost,) = [agent for agent in self._agents if agent.name == machine.name]
        client = replace(lost.client, machine=machine)
        agent = Agent(client, await machine.start(await command(client, self._worker)))
        try:
            await agent.ready()
        except BaseException:
            await to_the_end(agent.close())
            raise
        self._agents[self._agents.index(lost)] = agent
        await lost.close()

    @property
    def workers(self) -> int:
        return sum(agent.client.workers for agent in self._agents if not agent.failure)

    @property
    def lost(self) -> list[str]:
        return [agent.name for agent in self._agents if agent.failure]

    async def run(
        self,
        spec: PointSpec,
        *,
        started: Callable[[int], None],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        agents = [agent for agent in self._agents if not agent.failure]
        if not agents:
            raise PongbenchError(self._agents[0].failure)
        self._stopping = False
        if len(agents) > 1 or not agents[0].client.machine.is_local:
            # One by one, because simultaneous answers delay each other here. A client that does not
            # answer is found out below, where the point can report it.
            for agent in agents:
                with contextlib.suppress(PongbenchError):
                    await agent.set_clock()
        self._count += 1
        self._point = point = Point(self._count, agents, on_window)
        try:
            await point.arm(_wire(spec), spec.longest_s, self.arms_within_s)
            if self._stopping:  # An agent may have received the start before it knew the point.
                await point.stop()
            at_us = starts_at(agent.uncertainty_us for agent in agents)
            await point.start(at_us)
            started(at_us)
            return await self._result(point, spec.longest_s + GRACE_S)
        except BaseException:
            with contextlib.suppress(PongbenchError):
                await to_the_end(point.stop())
            raise
        finally:
            self._point = None
            for agent in agents:
                agent.on_event = lambda *_: None

    async def _result(self, point: Point, allowed_s: float) -> LoadReport:
        """The report; of a point that takes longer than allowed, what was measured until now."""
        try:
            return await point.result(allowed_s)
        except NotInTime as late:
            for client in late.silent:
                point.complaints.append(PointOverdue(client=client, allowed_s=allowed_s))
            await point.stop()
            return await point.result(STOPPED_WITHIN_S)

    async def stop_point(self) -> None:
        self._stopping = True
        if self._point is not None:
            await self._point.stop()

    async def close(self) -> None:
        await to_the_end(self._close())

    async def _close(self) -> None:
        await asyncio.gather(*(agent.close() for agent in self._agents))


def _wire(spec: PointSpec) -> dict[str, Any]:
    """Return the load for agents, without shares; see `agent.protocol.Load`."""
    data: dict[str, Any] = msgspec.structs.asdict(spec)
    return data


TOOL = LoadTool(
    name="agent",
    label="Pongbench's own agent",
    capabilities=Capabilities(
        reports=frozenset(get_args(Reported)),
        axes=("rate", "concurrency"),
        workloads=tuple(key for key, each in WORKLOADS.items() if each.load_tool == "agent"),
    ),
    start=AgentFleet.start,
)

ZEROMQ = LoadTool(
    name="zeromq",
    label="Pongbench's ZeroMQ client",
    capabilities=msgspec.structs.replace(
        TOOL.capabilities, workloads=("zeromq",), one_connection=True
    ),
    start=partial(AgentFleet.start, worker="zeromq"),
)
"""An agent whose workers use pyzmq."""

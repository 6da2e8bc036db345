"""Our own load agents, on one client or several, as one load generator."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar, Self, get_args

import msgspec

from workbench.closing import all_of, ended, to_the_end
from workbench.errors import PongbenchError
from workbench.load import events
from workbench.load.base import (
    Capabilities,
    Client,
    LoadReport,
    LoadTool,
    OnStart,
    OnWindow,
    PointSpec,
    Reported,
    starts_at,
)
from workbench.load.merge import WindowMerger, client_part, merge_reports
from workbench.machines.base import Machine
from workbench.machines.bundle import Brought, agent_command
from workbench.machines.runner_client import Command, Process
from workbench.machines.wire import MOST_NOISE, InvalidMessage, decode, quoted
from workbench.messages.base import Said
from workbench.messages.reasons import reason
from workbench.workloads.registry import WORKLOADS

HELLO_WITHIN_S = 8.0
FILES = "files"
"""Folder in the run directory for the files that a workload brings."""


class Agent:
    def __init__(self, client: Client, process: Process) -> None:
        self.client = client
        self.name = client.machine.name
        self.process = process
        self.offset_us = 0
        self.uncertainty_us = 0
        self.failure = ""
        self.on_event: Callable[[Agent, events.AgentEvent | events.Lost], None] = lambda *_: None
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    async def ready(self) -> None:
        """Wait for its hello. Raises PongbenchError when it is late."""
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                await self._greeted
        except TimeoutError:
            raise PongbenchError(f"The load agent on {self.name} did not start.") from None
        await self.set_clock()

    async def set_clock(self) -> None:
        """Measure the clock again: a drift of one second per week is 1 ms in ten minutes."""
        self.offset_us, self.uncertainty_us = await self.client.machine.clock()

    async def send(self, **command: Any) -> None:
        await self.process.send(json.dumps(command).encode())

    async def close(self) -> None:
        await ended(self._reading)
        with contextlib.suppress(PongbenchError):
            await self.process.stop()

    async def _read(self) -> None:
        try:
            noise = 0
            async for line in self.process.lines():
                if line.startswith(b"{"):
                    self._take(decode(events.DECODER, line))
                    continue
                noise += 1  # Such as a traceback; it stays in the tail.
                if noise > MOST_NOISE:
                    raise InvalidMessage(f"{quoted(self.process.tail()[-1])}, and so on")
            output = [quoted(line) for line in self.process.tail() if not line.startswith("{")]
            self._fail(": ".join([f"The load agent on {self.name} ended", *output[-1:]]) + ".")
        except PongbenchError as error:
            self._fail(str(error))
        except InvalidMessage as error:
            self._fail(f"The load agent on {self.name} sent an invalid message ({error}).")
            with contextlib.suppress(PongbenchError):
                await self.process.stop(0)  # It may still offer load.

    def _take(self, event: events.AgentEvent) -> None:
        if not isinstance(event, events.Hello):
            self.on_event(self, event)
        elif self._greeted.done():
            raise InvalidMessage("a second greeting")
        else:
            self._greeted.set_result(None)

    def _fail(self, sentence: str) -> None:
        self.failure = sentence
        if not self._greeted.done():
            self._greeted.set_exception(PongbenchError(self.failure))
            self._greeted.exception()  # No caller waits for it any more.
        self.on_event(self, events.Lost())


async def command(client: Client, worker: str = "") -> Command:
    """Return the agent's command, and copy what it needs. `worker`: see `agent_command`."""
    brought = client.brought
    argv, env = await agent_command(client.machine, worker, brought)
    if brought:
        await put_files(client.machine, brought)
    argv += ["--workers", str(client.workers)]
    if client.cpus:
        argv += ["--cpus", ",".join(map(str, client.cpus))]
    cwd = FILES if brought and brought.files else ""
    return Command(argv=argv, env=env, cwd=cwd, nofile=client.nofile, cpus=client.cpus)


async def put_files(machine: Machine, brought: Brought) -> None:
    for name, source in brought.files.items():
        await machine.put(source, f"{FILES}/{name}")


ARM_WITHIN_S = 5.0
WINDOWS_PER_S = 5
SPARE_S = 60.0
"""Seconds by which a point may exceed its calls before it has too many windows."""
MOST_COMPLAINTS = 20


async def until(reached: Callable[[], bool], news: asyncio.Event, within_s: float) -> bool:
    """Wait until something holds, looking whenever there are news. Returns whether it came."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            while not reached():
                news.clear()
                await news.wait()
    return reached()


class NotInTime(PongbenchError):
    def __init__(self, silent: list[str], what: str, within_s: float) -> None:
        where = ", ".join(silent)
        super().__init__(
            f"The load agent on {where} did not {what} the point within {within_s:.0f} s."
        )
        self.silent = silent


class Point:
    def __init__(self, number: int, agents: list[Agent], on_window: OnWindow) -> None:
        self.number = number
        self.agents = agents
        workers = [(a.name, w) for a in agents for w in range(a.client.workers)]
        self.merger = WindowMerger(workers, on_window)
        self.at_work = self.merger.reached
        self.armed: set[tuple[str, int]] = set()
        self.reports: dict[tuple[str, int], events.Done] = {}
        self.complaints: list[Said] = []
        self.most_windows = 0
        """That a worker may send in the time the point may take."""
        self.news = asyncio.Event()
        self.lost_lines = 0
        """Reports of 200 ms that were not read in time and dropped on their way."""
        self._lost_before = {agent.name: agent.process.dropped for agent in agents}
        self.refused: Exception | None = None
        """What whoever takes the windows raised; no fault of the agent that sent them."""
        for agent in agents:
            agent.on_event = self.take

    async def arm(self, spec: PointSpec, within_s: float) -> None:
        """Arm all agents, with a share each; see `agent.protocol.Load`."""
        first, load = 0, {**asdict(spec), "shares": len(self.at_work)}
        self.most_windows = math.ceil((spec.longest_s + SPARE_S) * WINDOWS_PER_S)
        for agent in self.agents:
            await self._send(agent, op="point", id=self.number, load={**load, "share": first})
            first += agent.client.workers
        await self._until(lambda: self.at_work.keys() <= self.armed, within_s, "arm")

    async def start(self, at_us: int) -> None:
        for agent in self.agents:
            await self._send(agent, op="start", id=self.number, at_us=at_us - agent.offset_us)

    async def result(self, allowed_s: float) -> LoadReport:
        await self._until(lambda: not self.at_work, allowed_s, "finish")
        if not self.reports:
            raise PongbenchError(self.complaints[0].text())
        for agent in self.agents:
            self.lost_lines += agent.process.dropped - self._lost_before[agent.name]
        if self.lost_lines:
            self.complaints.append(reason("windows-lost", count=self.lost_lines))
        clients = []
        for agent in self.agents:
            if reports := [
                r for (name, _), r in sorted(self.reports.items()) if name == agent.name
            ]:
                clients.append(client_part(agent.name, reports, agent.uncertainty_us))
        report = merge_reports(list(self.reports.values()), self.complaints)
        return replace(report, clients=clients)

    async def stop(self) -> None:
        for agent in self.agents:
            await self._send(agent, op="stop", id=self.number)

    async def _send(self, agent: Agent, **command: Any) -> None:
        # A lost one is reported by its reader; the others continue.
        if not agent.failure:
            with contextlib.suppress(PongbenchError):
                await agent.send(**command)

    def take(self, agent: Agent, event: events.AgentEvent | events.Lost) -> None:
        try:
            self._take(agent, event)
        except InvalidMessage:
            raise
        except Exception as error:
            self.refused = error
        self.news.set()

    def _take(self, agent: Agent, event: events.AgentEvent | events.Lost) -> None:
        match event:
            case events.Lost():
                for part in [each for each in self.at_work if each[0] == agent.name]:
                    self.merger.ended(part)
                self.complaints.append(reason("client-gone", client=agent.name, said=agent.failure))
            case events.Error() if len(self.complaints) >= MOST_COMPLAINTS:
                raise InvalidMessage("complaints without end")
            case events.Error():
                self.complaints.append(
                    reason("agent-problem", client=agent.name, said=quoted(event.text))
                )
            case events.Armed() | events.LoadWindow() | events.Done() if event.id == self.number:
                self._take_part((agent.name, event.worker), event)
            case _:
                pass

    def _take_part(
        self, part: tuple[str, int], event: events.Armed | events.LoadWindow | events.Done
    ) -> None:
        if part not in self.at_work:
            raise InvalidMessage(f"worker {part[1]} is not at work")
        if isinstance(event, events.Armed):
            self.armed.add(part)
            return
        self.lost_lines += event.dropped
        if isinstance(event, events.Done):
            self.reports[part] = event
            self.merger.ended(part)
            return
        if not self.at_work[part] < event.index <= self.most_windows:
            raise InvalidMessage(f"window {event.index} after {self.at_work[part]}")
        self.merger.add(part, event)

    async def _until(self, reached: Callable[[], bool], within_s: float, what: str) -> None:
        in_time = await until(lambda: self.refused is not None or reached(), self.news, within_s)
        if self.refused is not None:
            raise self.refused
        if not in_time:
            silent = sorted({name for name, _ in self.at_work})
            raise NotInTime(silent, what, within_s)


GRACE_S = 10.0
"""How much longer than `PointSpec.longest_s` a point may take, in seconds."""
STOPPED_WITHIN_S = 30.0
"""An agent may first have to end thousands of calls that timed out at once, and to open as many."""


class AgentFleet:
    """A `LoadGenerator` that distributes a point's schedule over all workers of all clients."""

    arms_within_s = ARM_WITHIN_S
    untold: ClassVar[tuple[str, ...]] = ()
    """Counts of a point that its workers do not know."""

    def __init__(self, agents: list[Agent], worker: str = "") -> None:
        self._agents = agents
        self._worker = worker
        self._point: Point | None = None
        self._stopping = False
        """The point is to end, however far its beginning is."""
        self._count = 0

    @classmethod
    async def start(cls, clients: Sequence[Client], worker: str = "") -> Self:
        """Start an agent on every client. Raises PongbenchError. `worker`: see `agent_command`."""
        fleet = cls([], worker)
        try:
            await all_of(fleet._start(client) for client in clients)
            fleet._agents.sort(key=lambda agent: clients.index(agent.client))
        except BaseException:
            await fleet.close()
            raise
        return fleet

    async def _start(self, client: Client) -> None:
        agent = Agent(client, await client.machine.start(await command(client, self._worker)))
        try:
            await agent.ready()
        except BaseException:
            await to_the_end(agent.close())
            raise
        self._agents.append(agent)

    async def rejoin(self, machine: Machine) -> None:
        """Restart a lost agent, on the same machine or one opened again. Raises PongbenchError."""
        (lost,) = [agent for agent in self._agents if agent.name == machine.name]
        await self._start(replace(lost.client, machine=machine))
        self._agents[self._agents.index(lost)] = self._agents.pop()
        await lost.close()

    @property
    def workers(self) -> int:
        return sum(agent.client.workers for agent in self._agents if not agent.failure)

    @property
    def lost(self) -> list[str]:
        return [agent.name for agent in self._agents if agent.failure]

    async def run(self, spec: PointSpec, *, started: OnStart, on_window: OnWindow) -> LoadReport:
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
            await point.arm(spec, self.arms_within_s)
            if self._stopping:  # An agent may have received the start before it knew the point.
                await point.stop()
            at_us = starts_at(agent.uncertainty_us for agent in agents)
            await point.start(at_us)
            started(at_us)
            report = await self._result(point, spec.longest_s + GRACE_S)
            counts = msgspec.structs.replace(report.counts, **dict.fromkeys(self.untold))
            return replace(report, counts=counts)
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
                point.complaints.append(reason("point-overdue", client=client, allowed_s=allowed_s))
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

"""Our own load agents, on one client or several, as one load generator."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import paths
from workbench.agent.protocol import VERSION
from workbench.errors import PongbenchError
from workbench.load.base import LoadReport, LoadWindow
from workbench.load.merge import WindowMerger, merge_reports
from workbench.machines.base import Command, Machine, Process

LEASE_S = 4.0
HEARTBEAT_S = 1.0
HELLO_WITHIN_S = 15.0
ARM_WITHIN_S = 5.0
LEAD_US = 50_000
"""Between arming and the first connection: time for the command to reach every client."""
GRACE_S = 10.0
"""A point may take this much longer than `longest_s`."""


@dataclass(frozen=True)
class Client:
    """A machine that offers load."""

    machine: Machine
    cpus: Sequence[int] = ()
    workers: int = 1
    nofile: int = 0


class Agent:
    """One agent process: reads its lines, keeps its lease."""

    def __init__(self, client: Client, process: Process) -> None:
        self.client = client
        self.name = client.machine.name
        self.process = process
        self.hello: dict[str, Any] = {}
        self.offset_us = 0
        self.failure = ""
        self.on_event: Callable[[Agent, dict[str, Any]], None] = lambda agent, event: None
        self._greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._beat())]

    async def ready(self) -> None:
        """Wait for its hello. Raises PongbenchError when it does not come or does not fit."""
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                await self._greeted
        except TimeoutError:
            raise PongbenchError(f"The load agent on {self.name} did not start.") from None
        if self.hello.get("version") != VERSION:
            raise PongbenchError(
                f"The load agent on {self.name} speaks version {self.hello.get('version')}, "
                f"this program version {VERSION}."
            )
        self.offset_us, _ = await self.client.machine.clock()

    async def say(self, **command: Any) -> None:
        await self.process.send(json.dumps(command).encode())

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(PongbenchError):
            await self.process.stop()

    async def _read(self) -> None:
        try:
            async for line in self.process.lines():
                try:
                    event = json.loads(line)
                    kind = event["ev"]
                except (ValueError, KeyError, TypeError):
                    continue  # noise, for example a traceback; it stays in the tail
                if kind == "hello":
                    self.hello = event
                    self._greeted.set_result(None)
                else:
                    self.on_event(self, event)
            self._fail("ended")
        except PongbenchError as error:
            self._fail(str(error))

    def _fail(self, why: str) -> None:
        tail = " ".join(self.process.tail()[-1:])
        self.failure = f"The load agent on {self.name} {why}: {tail}".rstrip(": ") + "."
        if not self._greeted.done():
            self._greeted.set_exception(PongbenchError(self.failure))
        self.on_event(self, {"ev": "lost"})

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await asyncio.sleep(HEARTBEAT_S)
                await self.say(op="hb")


class AgentFleet:
    """A `LoadGenerator`: the point's schedule is dealt out over all workers of all clients."""

    def __init__(self, agents: list[Agent]) -> None:
        self._agents = agents
        self._point: _Point | None = None
        self._count = 0

    @classmethod
    async def start(cls, clients: Sequence[Client]) -> AgentFleet:
        """Start an agent on every client. Raises PongbenchError when one cannot be started."""
        fleet = cls([])
        try:
            for client in clients:
                process = await client.machine.start(_command(client))
                agent = Agent(client, process)
                fleet._agents.append(agent)
                await agent.ready()
        except BaseException:
            await fleet.close()
            raise
        return fleet

    @property
    def workers(self) -> int:
        return sum(agent.client.workers for agent in self._agents)

    async def run(
        self,
        load: dict[str, Any],
        *,
        started: Callable[[int], None],
        on_window: Callable[[LoadWindow], None],
    ) -> LoadReport:
        agents = [agent for agent in self._agents if not agent.failure]
        if not agents:
            raise PongbenchError(self._agents[0].failure)
        self._count += 1
        self._point = point = _Point(self._count, agents, on_window)
        try:
            await point.arm(load)
            at_us = time.monotonic_ns() // 1000 + LEAD_US
            await point.start(at_us)
            started(at_us)
            return await point.result(longest_s(load) + GRACE_S)
        except BaseException:
            with contextlib.suppress(PongbenchError):
                await point.stop()
            raise
        finally:
            self._point = None
            for agent in agents:
                agent.on_event = lambda agent, event: None

    async def stop_point(self) -> None:
        if self._point is not None:
            await self._point.stop()

    async def close(self) -> None:
        await asyncio.gather(*(agent.close() for agent in self._agents))


class _Point:
    """A point under way."""

    def __init__(
        self, number: int, agents: list[Agent], on_window: Callable[[LoadWindow], None]
    ) -> None:
        self.number = number
        self.agents = agents
        self.parts = {(a.name, w) for a in agents for w in range(a.client.workers)}
        self.merger = WindowMerger(self.parts, on_window)
        self.armed: set[tuple[str, int]] = set()
        self.ended: set[tuple[str, int]] = set()
        self.reports: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.news = asyncio.Event()
        self.refused: Exception | None = None
        """What whoever takes the windows raised; no fault of the agent that sent them."""
        for agent in agents:
            agent.on_event = self.take

    async def arm(self, load: dict[str, Any]) -> None:
        first = 0
        for agent in self.agents:
            shared = {**load, "share": first, "shares": len(self.parts)}
            await agent.say(op="point", id=self.number, load=shared)
            first += agent.client.workers
        await self._until(lambda: self.armed | self.ended == self.parts, ARM_WITHIN_S, "arm")

    async def start(self, at_us: int) -> None:
        for agent in self.agents:
            await agent.say(op="start", id=self.number, at_us=at_us - agent.offset_us)

    async def result(self, allowed_s: float) -> LoadReport:
        await self._until(lambda: self.ended == self.parts, allowed_s, "finish")
        if not self.reports:
            raise PongbenchError(self.complaints[0])
        return merge_reports(self.reports, self.complaints)

    async def stop(self) -> None:
        for agent in self.agents:
            if not agent.failure:
                await agent.say(op="stop", id=self.number)

    def take(self, agent: Agent, event: dict[str, Any]) -> None:
        try:
            self._take(agent, event)
        except Exception as error:
            self.refused = error
            self.news.set()

    def _take(self, agent: Agent, event: dict[str, Any]) -> None:
        kind = event["ev"]
        if kind == "lost":
            for part in self.parts - self.ended:
                if part[0] == agent.name:
                    self._end(part)
            self.complaints.append(agent.failure)
        elif event.get("id") != self.number:
            if kind == "error":
                self.complaints.append(f"The load agent on {agent.name}: {event['text']}.")
            return
        else:
            part = (agent.name, event["worker"])
            if kind == "armed":
                self.armed.add(part)
            elif kind == "window":
                self.merger.add(part, event)
            elif kind == "done":
                self.reports.append(event)
                self._end(part)
            elif kind == "error":
                self.complaints.append(f"The load agent on {agent.name}: {event['text']}.")
        self.news.set()

    def _end(self, part: tuple[str, int]) -> None:
        self.ended.add(part)
        self.merger.ended(part)

    async def _until(self, reached: Callable[[], bool], within_s: float, what: str) -> None:
        try:
            async with asyncio.timeout(within_s):
                while self.refused is None and not reached():
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            silent = sorted({name for name, _ in self.parts - self.ended})
            raise PongbenchError(
                f"The load agent on {', '.join(silent)} did not {what} the point within "
                f"{within_s:.0f} s."
            ) from None
        if self.refused is not None:
            raise self.refused


def longest_s(load: dict[str, Any]) -> float:
    """What a point may take when every call is answered at the last moment. `load`: see
    `agent.protocol.Load`."""
    seconds: float = load["seconds"]
    connection_s: float = load["calls_per_connection"] * (load["timeout_s"] + load["think_time_s"])
    if load["mode"] == "closed" and not seconds:
        rounds: int = math.ceil(load["connections"] / load["concurrency"])
        return rounds * connection_s
    return seconds + connection_s


def _command(client: Client) -> Command:
    """The agent from this program's own files. It needs gevent, so not an isolated Python."""
    if getattr(sys, "frozen", False):
        argv = [sys.executable, "--agent"]
    else:
        argv = [sys.executable, "-m", "workbench.agent"]
    argv += ["--workers", str(client.workers), "--lease", f"{LEASE_S:g}"]
    if client.cpus:
        argv += ["--cpus", ",".join(map(str, client.cpus))]
    return Command(
        argv=argv,
        env={"PYTHONPATH": str(paths.CODE)},
        nofile=client.nofile,
        cpus=client.cpus,
    )

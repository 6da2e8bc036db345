"""Locust: agents whose workers are users of a locustfile; or its own master and workers, for users
beyond a few machines, or where Locust runs already.

The master is an agent of ours on this computer whose only worker is Locust's master as a library;
workers are Locust's own program, started by us on the clients or joined by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.analysis import histogram
from workbench.closing import ended, to_the_end
from workbench.documents import ClientPart
from workbench.errors import BadInput, PongbenchError
from workbench.load import events
from workbench.load.base import Client, LoadReport, LoadTool, OnStart, OnWindow, PointSpec
from workbench.load.fleet import FILES, Agent, AgentFleet, put_files, until
from workbench.load.fleet import TOOL as AGENT
from workbench.machines.base import Machine, ran
from workbench.machines.bundle import LAUNCH, agent_place, own_platform
from workbench.machines.local import open_local
from workbench.machines.runner_client import Command, Process
from workbench.machines.wire import InvalidMessage, Text, decode, quoted
from workbench.messages.base import Said
from workbench.messages.reasons import reason

OLDEST = (3, 11)
"""The first Python of the version of Locust in resources/agent."""
LOADS_WITHIN_S = 60.0
_CHECK = (
    "import sys; sys.path[:0] = [sys.argv.pop(1)];"
    " from workbench.remote.generators.locust.locustfile import check; check(*sys.argv[1:])"
)


class _Answer(msgspec.Struct):
    problem: Text


_ANSWER = msgspec.json.Decoder(_Answer)


class LocustFleet(AgentFleet):
    arms_within_s = LOADS_WITHIN_S
    untold = ("established",)  # Users open connections whenever they like.


async def start(clients: Sequence[Client]) -> LocustFleet:
    """Load the locustfile on every client, then start. Raises BadInput, PongbenchError."""
    for client in clients:
        await checked(client)
    return await LocustFleet.start(clients, worker="locust")


async def checked(client: Client) -> str:
    """Load the locustfile on a client. Returns the path of Locust there. Raises as `start`."""
    machine, brought = client.machine, client.brought
    if brought is None:
        raise PongbenchError("Locust runs locustfiles only; choose another load tool.")
    platform = machine.platform or own_platform()
    if tuple(map(int, platform.python.split(".")[:2])) < OLDEST:
        raise PongbenchError(
            f"Locust needs Python {'.'.join(map(str, OLDEST))} or later on '{machine.name}', which"
            f" has {platform.python}; install a later one there, and name it in its profile"
            " (python)."
        )
    place = await agent_place(machine, "locust", brought)
    await put_files(machine, brought)
    argv = [*machine.python, "-c", _CHECK, place, *brought.arguments]
    status, lines = await ran(machine, Command(argv, cwd=FILES), LOADS_WITHIN_S)
    if status is None:
        raise BadInput(
            f"{Path(brought.arguments[0]).name} did not finish loading on {machine.name} within"
            f" {LOADS_WITHIN_S:.0f} s; a locustfile must not start its work when it is imported."
        )
    try:
        answer = decode(_ANSWER, lines[-1].encode() if lines else b"")
    except InvalidMessage:
        if lines:
            where = f"on '{machine.name}'"
            raise PongbenchError(f"Locust does not start {where}: {lines[-1]}.") from None
        raise BadInput(
            f"{Path(brought.arguments[0]).name} ended Python (status {status}) on {machine.name}"
            " while it was loaded; a locustfile must only define its users then."
        ) from None
    if answer.problem:
        raise BadInput(answer.problem)
    return place


TOOL = LoadTool(
    name="locust",
    label="Locust",
    capabilities=msgspec.structs.replace(
        AGENT.capabilities,
        workloads=("locust",),
        reports=AGENT.capabilities.reports - {"connect"},
        only={"engine": "agent"},
    ),
    start=start,
)


STARTS_WITHIN_S = 60.0
"""The master, with its locustfile, and the workers that are started here."""
JOIN_WITHIN_S = 600.0
"""Workers that join by themselves."""
QUITS_WITHIN_S = 4.0
SETTINGS = "PONGBENCH_LOCUST"
_MODULE = "workbench.remote.generators.locust.master"
_WORKER = (
    "import os, sys; sys.path[:0] = [sys.argv.pop(1), os.getcwd()];"
    " from locust.main import main; main()"
)


class MasterAgent(Agent):
    """The agent that is Locust's master: also knows the workers, and what became of others."""

    port = 0
    """Where workers reach it; 0: it does not listen yet."""

    def __init__(self, client: Client, process: Process) -> None:
        self.news = asyncio.Event()
        self.workers: list[str] = []
        self.problems: list[str] = []
        """Why it does not start, or workers are of no use; without a full stop."""
        self.parts: list[events.Part] = []
        super().__init__(client, process)

    def _take(self, event: events.AgentEvent) -> None:
        match event:
            case events.Workers():
                self.port, self.workers = event.port, event.workers
                self.problems += map(quoted, event.said)
            case events.Part():
                self.parts.append(event)
                return
            case events.Error() if not self.port:
                self.problems.append(quoted(event.text))
        self.news.set()
        super()._take(event)

    def _fail(self, sentence: str) -> None:
        super()._fail(sentence)
        self.news.set()

    async def until(self, reached: Callable[[], bool], within_s: float) -> bool:
        """Wait for this. Returns whether it came. Raises PongbenchError if the master ended."""
        await until(lambda: bool(self.failure) or reached(), self.news, within_s)
        if self.failure and not reached():
            if self.problems:
                raise BadInput(f"{self.problems[0]}.")
            raise PongbenchError(self.failure)
        return reached()


class Started:
    """Locust's workers on one client: one process of ours there, and theirs below it."""

    def __init__(self, client: Client, place: str) -> None:
        self.client, self.place = client, place
        self.failure = ""
        self._route = AsyncExitStack()
        self._process: Process | None = None
        self._waiting: asyncio.Task[None] | None = None

    async def begin(self, host: str, port: int) -> None:
        """Start them, for a master that listens there on this computer. Raises PongbenchError."""
        machine = self.client.machine
        host, port = await self._route.enter_async_context(machine.leading_here(host, port))
        options = ["--worker", "--master-host", host, "--master-port", str(port)]
        options += ["-f", "-", "--processes", str(self.client.workers), "--loglevel", "WARNING"]
        self._process = await machine.start(
            Command(
                [*machine.python, "-c", _WORKER, self.place, *options],
                env={"PONGBENCH_CLIENT": machine.name},
                cwd=FILES,
                nofile=self.client.nofile,
                cpus=self.client.cpus,
            )
        )
        self._waiting = asyncio.create_task(self._wait(self._process))

    async def _wait(self, process: Process) -> None:
        name = self.client.machine.name
        try:
            async for _ in process.lines():
                pass
            status = await process.wait()
            last = "".join(f": {line}" for line in process.tail()[-1:])
            self.failure = f"Locust's workers on {name} ended with status {status}{last}."
        except PongbenchError as error:
            self.failure = str(error)

    async def close(self) -> None:
        if self._waiting is not None:
            await ended(self._waiting)
        with contextlib.suppress(PongbenchError):
            if self._process is not None:
                await self._process.stop()
        await self._route.aclose()


class LocustMaster(AgentFleet):
    """A `LoadGenerator` whose points are tests of Locust."""

    arms_within_s = STARTS_WITHIN_S
    untold = ("established", "late")  # Locust counts requests that have ended only.

    def __init__(self, machine: Machine, agent: MasterAgent, workload: dict[str, Any]) -> None:
        super().__init__([agent])
        self._machine, self._master, self._workload = machine, agent, workload
        self._started: list[Started] = []
        self._expected = 0

    @property
    def workers(self) -> int:
        return len(self._master.workers)

    @property
    def lost(self) -> list[str]:
        return [each.client.machine.name for each in self._started if each.failure]

    async def add(self, started: Started) -> None:
        self._started.append(started)
        await started.begin(self._workload["host"], self._master.port)

    async def gather(self) -> None:
        """Wait for all workers. Raises PongbenchError when some do not come."""
        by_themselves = self._workload["expect_workers"]
        ours = sum(each.client.workers for each in self._started)
        self._expected = ours + by_themselves
        there = self._master
        within_s = JOIN_WITHIN_S if by_themselves else STARTS_WITHIN_S

        def complete() -> bool:
            ended_early = any(each.failure for each in self._started)
            return ended_early or len(there.workers) >= self._expected

        await there.until(complete, within_s)
        if len(there.workers) >= self._expected:
            return
        why = [each.failure for each in self._started if each.failure]
        why = [f"{text}." for text in dict.fromkeys(there.problems)] or why
        raise PongbenchError(
            " ".join(
                [f"{len(there.workers)} of {self._expected} workers of Locust are there.", *why[:3]]
            )
        )

    async def rejoin(self, machine: Machine) -> None:
        (lost,) = [each for each in self._started if each.client.machine.name == machine.name]
        await lost.close()
        self._started.remove(lost)
        client = replace(lost.client, machine=machine)
        await self.add(Started(client, await checked(client)))
        await self.gather()

    async def run(self, spec: PointSpec, *, started: OnStart, on_window: OnWindow) -> LoadReport:
        self._master.parts.clear()
        report = await super().run(spec, started=started, on_window=on_window)
        parts, figures = self._master.parts, report.figures
        counted = not figures.get("uncounted")
        return replace(
            report,
            conserved=None,
            client_cpu_pct=max((each.cpu_pct for each in parts), default=None) if counted else None,
            client_cpu_s=sum(each.cpu_us for each in parts) / 1e6 if counted else None,
            clients=[
                ClientPart(
                    machine=each.client,
                    scheduled=each.sent,
                    sent=each.sent,
                    cpu_pct=each.cpu_pct,
                    cpu_s=each.cpu_us / 1e6,
                    service_us=histogram.percentiles(each.service),
                )
                for each in parts
            ],
            remarks=[*report.remarks, *self._remarks(spec, figures)],
        )

    def _remarks(self, spec: PointSpec, figures: dict[str, int]) -> list[Said]:
        found: list[Said] = []
        there, joined = figures.get("workers", 0), figures.get("joined", 0)
        found += [reason("worker-of-no-use", said=said) for said in self._master.problems]
        self._master.problems.clear()
        if there != self._expected:
            found.append(reason("other-workers", workers=there, expected=self._expected))
        if joined:
            found.append(reason("workers-joined", workers=joined))
        users = figures.get("users", 0)
        if self._workload["shape"] and users != spec.concurrency:
            found.append(reason("shape-decided", users=users, planned=spec.concurrency))
        return found

    async def _close(self) -> None:
        with contextlib.suppress(PongbenchError, TimeoutError):
            await self._master.send(op="quit")
            async with asyncio.timeout(QUITS_WITHIN_S):
                await self._master.process.wait()
        await asyncio.gather(*(each.close() for each in self._started))
        await super()._close()
        await self._machine.close()


async def start_master(clients: Sequence[Client]) -> LocustMaster:
    """Start the master here, and workers on all clients; wait for those that join by themselves.
    Raises BadInput for an error of the locustfile or a taken port, else PongbenchError."""
    places = [await checked(client) for client in clients]
    brought = clients[0].brought
    assert brought is not None
    settings = json.loads(brought.arguments[-1])
    machine = await open_local()
    fleet: LocustMaster | None = None
    try:
        place = await agent_place(machine, "locust", brought)
        await put_files(machine, brought)
        argv = [*machine.python, "-c", LAUNCH, place, "--worker", _MODULE, "--workers", "1"]
        env = {SETTINGS: brought.arguments[-1]}
        process = await machine.start(Command(argv, env=env, cwd=FILES))
        agent = MasterAgent(Client(machine, brought=brought), process)
        fleet = LocustMaster(machine, agent, settings)
        await agent.ready()
        if not await agent.until(lambda: bool(agent.port), STARTS_WITHIN_S):
            raise BadInput(f"{Path(settings['file']).name} did not finish loading here.")
        for client, there in zip(clients, places, strict=True):
            await fleet.add(Started(client, there))
        await fleet.gather()
    except BaseException:
        await to_the_end((fleet or machine).close())
        raise
    return fleet


MASTER = LoadTool(
    name="locust-master",
    label="Locust's own engine",
    capabilities=msgspec.structs.replace(
        AGENT.capabilities,
        workloads=("locust",),
        reports=frozenset({"windows", "percentiles", "replies"}),
        axes=("concurrency",),
        ends=("seconds",),
        only={"engine": "locust"},
    ),
    start=start_master,
)

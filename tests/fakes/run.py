"""A run on fakes: the parts of the real engine between a scripted load tool and fake machines."""

from __future__ import annotations

import asyncio
import contextlib
import time
import types
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

from fakes.load import ALL, FakeLoad, Script, fake_tool
from fakes.machine import FakeMachine, FakeMachines
from workbench.control import Control
from workbench.documents import AnyDocument, Note, PointStart, PointStop, ServerRecord, Window
from workbench.load import registry
from workbench.load.base import Capabilities
from workbench.machines.profiles import make_profile, save_profile
from workbench.plan.budget import assess
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.run.environment import HERE, Fleet, open_stage
from workbench.run.scheduler import Scheduler
from workbench.run.state import Rehearsal, RunState
from workbench.servers.entry import ServerEntry
from workbench.servers.gate import GateResult
from workbench.workloads.registry import workload

T = TypeVar("T")


def a_plan(**fields: Any) -> Plan:
    """A plan for the fake load tool: two servers, two rates, and nothing around its points."""
    usual: dict[str, Any] = {
        "servers": ["one", "two"],
        "rates": [1_000.0, 2_000.0],
        "seconds": 1.0,
        "warm_up": None,
        "cool_down_s": 0,
        "looks": 1,
        "calibrate": False,
        "load_tool": "fake",
        "workload": workload(timeout_s=1.0),
    }
    return Plan(**usual | fields)


def an_entry(id_: str, folder: Path, **more: Any) -> ServerEntry:
    """A server that a `FakeMachine` can run. A function gives a field by the id."""
    place = folder / id_
    place.mkdir(parents=True, exist_ok=True)
    fields: dict[str, Any] = {"family": "socket", "protocols": ["pong"], "runtime": "none"}
    fields |= {key: value(id_) if callable(value) else value for key, value in more.items()}
    return ServerEntry(
        id=id_, name=id_.title(), folder=place, command=["serve", "{port}"], **fields
    )


@dataclass
class Run:
    """A run in progress, or one that has ended."""

    scheduler: Scheduler
    control: Control
    load: FakeLoad
    machines: dict[str, FakeMachine]
    documents: list[AnyDocument]
    said: list[str] = field(default_factory=list)

    @property
    def stops(self) -> list[PointStop]:
        """Of points that are judged."""
        return [d for d in self.documents if isinstance(d, PointStop) and d.purpose == "sweep"]

    def notes(self, topic: str) -> list[Note]:
        return [d for d in self.documents if isinstance(d, Note) and d.topic == topic]

    async def until_told(self, topic: str) -> None:
        """Let the run continue until it has emitted such a note."""
        while not self.notes(topic):  # noqa: ASYNC110  what is waited for is a document
            await asyncio.sleep(0)

    @property
    def here(self) -> FakeMachine:
        return self.machines[HERE]

    def assert_whole(self) -> None:
        """Every point that began has ended, but for one that was aborted; no windows outside; and
        every server that was started has been stopped."""
        begun: int | None = None
        for document in self.documents:
            if isinstance(document, PointStart):
                begun = document.point
            elif isinstance(document, Window | PointStop):
                assert document.point == begun
        ends = [d.point for d in self.documents if isinstance(d, PointStop)]
        begins = [d.point for d in self.documents if isinstance(d, PointStart)]
        assert len(begins) - len(ends) in (0, 1) and ends == begins[: len(ends)]
        assert all(server.ended for server in self.here.servers)
        assert self.load.running == 0


@contextlib.asynccontextmanager
async def a_run(
    plan: Plan,
    folder: Path,
    script: Script | None = None,
    *,
    can: Capabilities = ALL,
    clients: tuple[str, ...] = (HERE,),
    then: Callable[[AnyDocument], object] = lambda document: None,
    **entries: Any,
) -> AsyncIterator[Run]:
    """Fakes and a scheduler that uses them. `then` is called with each document; `entries`: fields
    of all servers of the plan. Needs `PONGBENCH_HOME`."""
    _save_profiles(clients)
    tool, started = fake_tool(script or Script(), can)
    machines = FakeMachines()
    fleet = Fleet(HERE, clients, machines.open)
    documents: list[AnyDocument] = []
    texts: list[str] = []

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        then(document)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.TOOLS, "fake", tool)
        async with open_stage(plan, fleet, documents.append) as stage:
            contestants = [an_entry(id_, folder, **entries) for id_ in plan.servers]
            null = an_entry("null", folder, family="tool")
            control = Control()
            state = RunState(
                plan=plan,
                stage=stage,
                budget=assess(plan, contestants, stage.facts[HERE], loopback=True),
                rehearsed={entry.id: _rehearsed(entry) for entry in [*contestants, null]},
                control=control,
                emit=emit,
                assess=lambda plan: assess(plan, contestants, stage.facts[HERE], loopback=True),
                notify=texts.append,
                seed=1,
                zero_us=time.monotonic_ns() // 1000,
            )
            yield Run(Scheduler(state), control, started[0], machines.opened, documents, texts)


async def a_session(
    plan: Plan,
    folder: Path,
    script: Script | None = None,
    *,
    can: Capabilities = ALL,
    clients: tuple[str, ...] = (HERE,),
    on_machine: Callable[[FakeMachine], None] = lambda machine: None,
    **entries: Any,
) -> list[AnyDocument]:
    """All documents of a run of the engine on fakes. `on_machine` is called when one is opened;
    `entries`: fields of all servers. Needs `PONGBENCH_HOME`."""
    _save_profiles(clients)
    documents: list[AnyDocument] = []
    tool, _ = fake_tool(script or Script(), can)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(registry.TOOLS, "fake", tool)
        fleet = Fleet(HERE, clients, FakeMachines(on_machine).open)
        servers = [an_entry(id_, folder, **entries) for id_ in plan.servers]
        null = an_entry("null", folder, family="tool")
        engine = Engine(plan, servers, documents.append, null=null, fleet=fleet)
        await engine.run()
    return documents


def _save_profiles(clients: tuple[str, ...]) -> None:
    for name in clients:
        if name != HERE:
            values = {"connector": "ssh", "address": name, "roles": ["client"]}
            save_profile(make_profile({"name": name, **values}))


def _rehearsed(entry: ServerEntry) -> Rehearsal:
    record = ServerRecord(id=entry.id, name=entry.name, family=entry.family)
    return Rehearsal(entry, record, GateResult(server=entry.id, passed=True, sentences=["Fine."]))


async def cancelled_at(work: Coroutine[Any, Any, T], number: int) -> bool:
    """Cancel it where it awaits for the `number`-th time; False: it was over before that."""
    task = asyncio.create_task(_counted(work, number))
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


async def _counted(work: Coroutine[Any, Any, T], number: int) -> T:
    return await _steps(work, number)


@types.coroutine
def _steps(work: Coroutine[Any, Any, T], number: int) -> Generator[Any, Any, T]:
    sent: Any = None
    thrown: BaseException | None = None
    count = 0
    while True:
        try:
            waits_for = work.throw(thrown) if thrown else work.send(sent)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        thrown = None
        count += 1
        if count == number:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        try:
            sent = yield waits_for
        except BaseException as error:
            thrown = error

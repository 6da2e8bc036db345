"""Profiles of real servers in every language: the function that burns the CPU time is on top."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sshd import answer

from tests.elsewhere import let_read, open_folder
from workbench.closing import ended
from workbench.documents import AnyDocument, Note, PointStop
from workbench.machines.base import Machine
from workbench.machines.local import LocalMachine, open_local
from workbench.machines.profiles import Profile as MachineProfile
from workbench.machines.ssh import open_ssh
from workbench.messages.base import Said
from workbench.messages.outcomes import Profile
from workbench.messages.topics import read_note
from workbench.plan.model import Plan, WarmUp
from workbench.plan.model import Profile as Wanted
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.servers.deploy import deploy
from workbench.servers.deployment import Deployment
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.profiling import (
    NODE,
    PY_SPY,
    Failed,
    Profiled,
    Profiler,
    Profiling,
    bring_profiler,
    profiler_of,
)
from workbench.servers.runtimes.builders import BUILDERS
from workbench.workloads.registry import workload as a_workload

SERVERS = Path(__file__).parent / "servers"
RUNTIMES = Path("~/.cache/pongbench/runtimes").expanduser()
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


@pytest.fixture
async def machine() -> AsyncIterator[LocalMachine]:
    machine = await open_local()
    yield machine
    await machine.close()


def server(id: str, *needed: str) -> ServerEntry:
    """A server that burns the CPU. `needed`: programs that this machine must have."""
    for program in needed:
        if not shutil.which(program):
            pytest.skip(f"{program} is not here")
    return load_entry(SERVERS / id)


async def profiled(
    machine: Machine, entry: ServerEntry, profiler: Profiler | None = None
) -> Profiled:
    """A second of it under load."""
    profiler = profiler or profiler_of(entry)
    deployment = await deploy(machine, profiler.prepared(entry))
    calling = asyncio.create_task(calls(deployment))
    try:
        profiling = Profiling(profiler, deployment, await bring_profiler(machine, profiler))
        await profiling.sample(1.0, 0.2)
        return await profiling.finish()
    finally:
        await ended(calling)
        await deployment.stop()


async def calls(deployment: Deployment) -> None:
    """One after another, for as long as it takes."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(deployment.host, deployment.port)
            try:
                await reader.read()
            finally:
                writer.transport.abort()
        await asyncio.sleep(0)


def assert_burns(found: Profiled, function: str) -> None:
    own = {name: 0 for stack in found.stacks for name in stack}
    for stack, count in found.stacks.items():
        own[stack[-1]] += count
    top = max(own, key=lambda name: own[name])
    assert top.startswith(function) and own[top] > 0.5 * found.stacks.total(), found


async def test_python(machine: LocalMachine) -> None:
    found = await profiled(machine, server("hot-python"))
    assert_burns(found, "burn (server.py)")
    assert found.tool.startswith("py-spy 0.")


@pytest.mark.skipif(not any(RUNTIMES.glob("python2.7-*")), reason="Python 2.7 is not here")
async def test_python_2_as_in_2009(machine: LocalMachine) -> None:
    assert_burns(await profiled(machine, server("hot-python2")), "burn (server.py)")


@pytest.mark.parametrize(
    ("id", "needed", "function", "tool"),
    [
        ("hot-node", ["node"], "burn (server.js)", "V8's profiler"),
        ("hot-java", ["javac", "jfr"], "Hot.burn", "Java Flight Recorder"),
    ],
)
async def test_a_runtime_with_a_profiler_of_its_own(
    machine: LocalMachine, id: str, needed: list[str], function: str, tool: str
) -> None:
    found = await profiled(machine, server(id, *needed))
    assert_burns(found, function)
    assert found.tool.startswith(tool)


@pytest.mark.skipif(
    os.geteuid() != 0 and int(PARANOID.read_text()) > 2, reason="perf is not permitted here"
)
@pytest.mark.parametrize(
    ("id", "compiler", "function"), [("hot-c", "gcc", "burn (hot)"), ("hot-go", "go", "main.burn")]
)
async def test_perf_profiles_any_program(
    machine: LocalMachine, id: str, compiler: str, function: str
) -> None:
    assert_burns(await profiled(machine, server(id, compiler, "perf")), function)


async def test_profiling_a_program_that_is_not_python_is_no_success(machine: LocalMachine) -> None:
    with pytest.raises(Failed, match=r"failed: .*[Pp]ython"):
        await profiled(machine, server("hot-node", "node"), PY_SPY)


async def test_a_process_that_the_signal_would_kill_is_left_alone(machine: LocalMachine) -> None:
    with pytest.raises(Failed, match="none of its processes takes SIGUSR2"):
        await profiled(machine, server("hot-python"), replace(NODE, env={}, shared=()))


async def test_a_machine_over_ssh_gets_the_profiler(box: MachineProfile) -> None:
    there = await open_ssh(box, ask=answer)
    try:
        found = await profiled(there, server("hot-python"))
    finally:
        await there.close()
    assert_burns(found, "burn (server.py)")


@pytest.fixture
async def py_spy(machine: LocalMachine) -> str:
    return await bring_profiler(machine, PY_SPY)


def test_a_user_who_may_not_trace_a_process_gets_a_reason(py_spy: str) -> None:
    folder = open_folder("pongbench-py-spy-")
    with asleep_untraced() as process:
        root = os.geteuid() == 0
        task = {
            "method": "py-spy",
            "pid": process.pid,
            "delay_s": 0,
            "seconds": 1,
            "rate": 100,
            "program": shutil.copy(py_spy, folder),
            "work": "/tmp",
        }
        helper = shutil.copytree(BUILDERS, f"{folder}/builders")
        let_read(folder)
        done = subprocess.run(
            # Not that of this clone, which others may be unable to enter.
            [Path(sys.executable).resolve(), "-I", helper, "profiling", json.dumps(task)],
            capture_output=True,
            text=True,
            check=True,
            **({"user": 65_534, "group": 65_534} if root else {}),
        )
    shutil.rmtree(folder)
    assert json.loads(done.stdout)["why"] == "denied", done.stdout


@contextlib.contextmanager
def asleep_untraced() -> Iterator[subprocess.Popen[bytes]]:
    """A process that nobody but root may trace (PR_SET_DUMPABLE), not even its own user."""
    code = "import ctypes, time; print(ctypes.CDLL(None).prctl(4, 0), flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"0\n"
        yield process
        process.kill()


PLAN = Plan(
    servers=["asyncio-streams"],
    rates=[200.0, 400.0],
    seconds=1.0,
    warm_up=WarmUp(rate_per_s=100, seconds=0.2),
    cool_down_s=0.1,
    looks=1,
    calibrate=False,
    workload=a_workload(timeout_s=60.0),
    profile=Wanted(at=300, seconds=1.0),
)


async def ran() -> list[AnyDocument]:
    catalogue = Catalogue.load(extra_dirs=[])
    documents: list[AnyDocument] = []
    entries = [catalogue[server] for server in PLAN.servers]
    assert (await Engine(PLAN, entries, documents.append).run()).status == "done"
    return documents


def profiles(documents: list[AnyDocument]) -> list[Said]:
    topics = ("profile", "not-profiled")
    return [read_note(d) for d in documents if isinstance(d, Note) and d.topic in topics]


async def test_profiled_points_are_excluded_from_the_results() -> None:
    documents = await ran()
    stops = [d for d in documents if isinstance(d, PointStop)]
    assert [stop.purpose for stop in stops] == ["warm_up", "sweep", "sweep", "warm_up", "profile"]
    assert (stops[-1].x, stops[-1].judged) == (300.0, False)
    (profile,) = profiles(documents)
    assert isinstance(profile, Profile), profile.text()
    assert any("run_forever" in name for name in profile.frames)
    assert profile.samples == sum(count for count, _ in profile.each())


async def test_a_profiler_out_of_reach_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("UV_OFFLINE", "1")
    documents = await ran()
    (missing,) = profiles(documents)
    assert missing.code == "not-profiled" and missing.data()["why"] == "missing"
    told = next(n for n, d in enumerate(documents) if isinstance(d, Note) and "profiled" in d.topic)
    stops = [n for n, d in enumerate(documents) if isinstance(d, PointStop)]
    assert told < stops[0] and len(stops) == 3

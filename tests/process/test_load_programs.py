"""wrk and ab against a real server, and programs that fail in the middle of a point."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from agents import reported, target
from oracle import PATIENCE_S

from workbench.analysis import histogram
from workbench.load import registry
from workbench.load.base import Capabilities, Client, LoadGenerator, LoadReport, PointSpec
from workbench.load.program import Invocation, Output, Program, Unreadable, last_line
from workbench.machines.base import Machine


@pytest.fixture
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """A server of `targets.py`, by its mode and argument."""
    with target(*request.param) as server:
        yield server.port


async def a_point(load: LoadGenerator, port: int, *, stop: bool = False, **more: Any) -> LoadReport:
    fields: dict[str, Any] = {"seconds": 1.0, "concurrency": 4}
    where: dict[str, Any] = {"host": "127.0.0.1", "port": port, "workload": "http"}
    spec = PointSpec(**where, options={"path": "/"}, mode="closed", **fields | more)
    return await reported(load, spec, stop=stop)


@pytest.mark.parametrize(
    ("name", "calls", "port"),
    [("wrk", 100, ("http", "1000000")), ("ab", 1, ("http", "1"))],
    indirect=["port"],
)
async def test_a_tool_measures_a_server_through_the_seam(
    machine: Machine, port: int, name: str, calls: int
) -> None:
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    tool = registry.load_tool(name)
    clients = await registry.equipped(tool, [Client(machine, machine.cpus[-1:], nofile=1024)])
    assert clients[0].programs.versions[name]
    load = await tool.start(clients)
    report = await a_point(load, port, calls_per_connection=calls)
    counts, times = report.counts, histogram.percentiles(report.histograms.service)
    assert counts.scheduled == counts.succeeded == report.replies_in_schedule > 100
    assert (counts.errors, report.complaints) == ({}, [])
    assert times is not None and times.count == counts.succeeded
    assert 0.9 < report.schedule_s < PATIENCE_S
    assert 0 < times.p50 <= times.p99 <= times.max < 1e6 * report.schedule_s + 500_000
    assert report.client_cpu_s is not None and report.client_cpu_s > 0
    assert report.command.startswith(f"{name} ") and str(port) in report.command
    # One that is stopped early ends early, with or without a result.
    stopped = await a_point(load, port, stop=True, calls_per_connection=calls, seconds=60.0)
    assert stopped.schedule_s < 30 and not stopped.complaints
    if name == "wrk":
        (complaint,) = (await a_point(load, 1, calls_per_connection=calls)).complaints
        assert "unable to connect to 127.0.0.1:1" in complaint.text()
    await load.close()


async def test_a_program_that_hangs_dies_or_is_missing_ends_in_one_sentence(
    machine: Machine,
) -> None:
    async def said(*argv: str) -> str:
        load = await _program(*argv).start([Client(machine)])
        report = await a_point(load, 1, timeout_s=0.1, seconds=0.1, calls_per_connection=1000)
        assert report.counts.scheduled == 0
        (complaint,) = report.complaints
        return complaint.text()

    hung = await said("sleep", "60")
    assert hung == "tool on localhost did not finish within 1 s and was stopped."
    assert "was killed by SIGKILL (it printed nothing)" in await said("sh", "-c", "kill -9 $$")
    assert "No such file or directory: pongbench-none" in await said("pongbench-none")


def _program(*argv: str) -> Program:
    def parse(output: Output, spec: PointSpec) -> LoadReport:
        raise Unreadable(last_line(output.output))

    return Program(
        name="tool",
        capabilities=Capabilities(),
        invocation=lambda spec, threads: Invocation(argv=list(argv)),
        parse=parse,
        grace_s=0.5,
    )

"""Clients that are slow to read replies are named, and healthy ones are not."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from agents import AGENT, HTTP, Agent, Outcome, agent, target

from tests.bench.witness import Witness
from workbench.analysis import histogram
from workbench.analysis.clients import client_limited

LOAD = {**HTTP, "rate_per_s": 100, "connections": 200}
SLOW = (*AGENT, "--worker", "tests.process.slow_worker")
BURNER = "import os\nos.nice(-5) if os.geteuid() == 0 else None\nwhile True: pass"


def limited(outcome: Outcome) -> Mapping[str, int]:
    (report,) = outcome.reports
    times = histogram.percentiles(report["histograms"]["latency"])
    found = client_limited(report["waits"], times)
    return found.data() if found else {}


def test_a_worker_that_takes_5_ms_to_read_is_named_as_the_kernel_saw_it() -> None:
    root = os.geteuid() == 0  # Who alone sees packets.
    with (
        target("http", "1") as server,
        agent(command=SLOW) as slow,
        Witness(server.port) if root else contextlib.nullcontext() as kernel,
    ):
        outcome = slow.run(server.port, **LOAD)
        calls = kernel.calls() if kernel else []
    found = limited(outcome)
    assert found and found["p50_us"] >= 5_000
    if root:
        assert len(calls) == LOAD["connections"]
        on_the_wire_us = statistics.median(call.answered_s - call.begun_s for call in calls) * 1e6
        stated = histogram.percentiles(outcome.reports[0]["histograms"]["latency"])
        assert stated and 4_000 < stated.p50 - on_the_wire_us <= found["p50_us"] + 200


@pytest.fixture
def burner() -> Iterator[int]:
    """A core that another process wants all the time."""
    core = max(os.sched_getaffinity(0))
    with subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", BURNER]) as process:
        yield core
        process.kill()


@pytest.mark.alone
def test_a_worker_that_shares_its_core_is_named(burner: int) -> None:
    command = (*AGENT, "--cpus", str(burner))
    with target("http", "1000000") as server, agent(command=command) as it:
        kept = {"rate_per_s": 20, "connections": 40, "calls_per_connection": 100}
        found = limited(it.run(server.port, **{**HTTP, **kept}))
    assert found and found["p99_us"]


@pytest.mark.alone
def test_a_worker_with_long_replies_at_once_is_named() -> None:
    with target("long", "10485760/0") as server, agent() as it:
        load = {"mode": "closed", "concurrency": 8, "connections": 64}
        found = limited(it.run(server.port, **{**HTTP, **load}))
    assert found and found["p50_us"] and found["p99_us"]


@pytest.mark.alone
def test_a_healthy_worker_is_not_named() -> None:
    with target("http", "1") as server, agent() as it:
        queued_us = -queued(it)
        outcome = it.run(server.port, **LOAD)
        queued_us += queued(it)
    found = limited(outcome)
    # Half of the replies cannot have waited for a core for longer than twice the mean.
    assert not found or found["p50_us"] < 200 + 2 * queued_us / outcome.total("replies")


def queued(it: Agent) -> float:
    """How long the worker has waited for a core, in µs."""
    (worker,) = (
        int(pid)
        for pid in Path(f"/proc/{it.process.pid}/task/{it.process.pid}/children")
        .read_text()
        .split()
    )
    return int(Path(f"/proc/{worker}/schedstat").read_text().split()[1]) / 1000

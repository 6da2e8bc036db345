"""Clients that are slow to read replies are named, and healthy ones are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from agents import AGENT, HTTP, Outcome, agent, target

from workbench.analysis import histogram
from workbench.analysis.client_time import client_limited
from workbench.messages.reasons import ClientLimitedTimes

LOAD = {**HTTP, "rate_per_s": 100, "connections": 200}
SLOW = (*AGENT, "--worker", "tests.process.slow_worker")
BURNER = "import os\nos.nice(-5) if os.geteuid() == 0 else None\nwhile True: pass"


def limited(outcome: Outcome) -> ClientLimitedTimes | None:
    (report,) = outcome.reports
    return client_limited(report["waits"], histogram.percentiles(report["histograms"]["latency"]))


def test_a_worker_that_takes_5_ms_to_read_is_named() -> None:
    with target("http", "1") as server, agent(command=SLOW) as slow:
        found = limited(slow.run(server.port, **LOAD))
    assert found and found.p50_us >= 5_000


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
    assert found and found.p99_us


@pytest.mark.alone
def test_the_median_of_a_healthy_worker_is_not_named() -> None:
    with target("http", "1") as server, agent() as it:
        found = limited(it.run(server.port, **LOAD))
    assert found is None or not found.p50_us  # Its p99 may be, on a busy machine.

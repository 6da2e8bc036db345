"""A workbench that ends, waits or is refused in the middle of a run: the session is readable, and
the hosts are restored. Faults of machines and links are in test_fault_matrix.py."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.conftest import CLEAN_WITHIN_S, PATIENCE_S, ready, until
from lab.hosts import Host, Lab
from workbench.cli import main
from workbench.documents import AnyDocument, PointStop, RunStart, RunStop, Window
from workbench.plan.reading import load_plan
from workbench.run.factory import Fleet, engine_for
from workbench.sessions import read_session

PLAN = """\
name: broken
servers: [gevent-pywsgi]
rates: [20, 40]
seconds: {seconds}
workload: {{protocol: http/1.1, calls_per_connection: 10, think_time_s: {think}, timeout_s: 30}}
rate_of: connections
calibrate: false
warm_up: null
looks: 1
"""
FLEET = Fleet("h1", ("h2", "h3"))
ARGUMENTS = ("--target", "h1", "--client", "h2", "--client", "h3")


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    """Target and two clients, and each is as it was when the test is over."""
    yield from ready(lab.hosts[:3])


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.format(seconds=6, think=0))
    return path


def stop_of(documents: list[AnyDocument]) -> RunStop:
    (stop,) = [document for document in documents if isinstance(document, RunStop)]
    return stop


def points_of(documents: list[AnyDocument]) -> list[PointStop]:
    return [document for document in documents if isinstance(document, PointStop)]


@pytest.fixture
def workbench(hosts: list[Host], plan: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A program in the middle of its run, and the session it writes."""
    session = plan.with_name("session.pong.yaml")
    plan.write_text(PLAN.format(seconds=10, think=0))
    code = "import sys; from workbench.cli import main; sys.exit(main(sys.argv[1:]))"
    program = subprocess.Popen(
        [sys.executable, "-c", code, "run", plan, *ARGUMENTS, "-o", session],
        stderr=subprocess.DEVNULL,
    )
    try:
        assert until(lambda: session.exists() and b"window" in session.read_bytes(), 300.0)
        yield program, session
    finally:
        program.kill()
        program.wait()


def test_a_workbench_killed_in_a_run_leaves_clean_hosts_and_a_session(
    workbench: tuple[subprocess.Popen[bytes], Path],
) -> None:
    program, path = workbench
    program.kill()
    program.wait()
    session = read_session(path)
    assert isinstance(session.documents[0], RunStart)
    assert session.interrupted


def test_a_workbench_asked_to_end_ends_cleanly(
    workbench: tuple[subprocess.Popen[bytes], Path], hosts: list[Host]
) -> None:
    program, path = workbench
    program.send_signal(signal.SIGINT)
    assert program.wait(PATIENCE_S) == 130
    # The guardian of a runner ends after it.
    assert until(lambda: not any(host.processes() for host in hosts), CLEAN_WITHIN_S)
    assert stop_of(read_session(path).documents).status == "stopped"


def test_a_second_workbench_is_refused_and_the_first_is_not_disturbed(
    workbench: tuple[subprocess.Popen[bytes], Path],
    plan: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As of a run without a user; that the test has a terminal is chance.
    monkeypatch.setattr("workbench.commands.asking.is_interactive", lambda: False)
    program, path = workbench
    assert main(["run", str(plan), "--target", "h1", "-o", str(plan.with_name("2.yaml"))]) == 1
    assert " has been running on h1 (target)" in capsys.readouterr().err
    assert program.wait(300) == 0
    documents = read_session(path).documents
    assert stop_of(documents).status == "done"
    assert all(point.complete for point in points_of(documents))


def test_a_slow_consumer_does_not_slow_the_load(hosts: list[Host], plan: Path) -> None:
    """A second behind for each second that is measured."""
    documents: list[AnyDocument] = []
    plan.write_text(PLAN.format(seconds=2, think=0))

    def take(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, Window):
            time.sleep(0.4)  # the fault itself

    asyncio.run(engine_for(load_plan(str(plan)), take, fleet=FLEET).run())
    assert stop_of(documents).status == "done"
    for point in points_of(documents):
        assert point.complete and point.conserved
        assert point.counts.succeeded == point.counts.scheduled
        windows = [d for d in documents if isinstance(d, Window) and d.point == point.point]
        assert sum(window.due for window in windows) == point.counts.scheduled

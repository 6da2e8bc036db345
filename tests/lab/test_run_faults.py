"""Faults during a whole run: the session is readable, and the hosts are restored."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.conftest import (
    CLEAN_WITHIN_S,
    PATIENCE_S,
    in_the_middle,
    ready,
    until,
)
from lab.hosts import Host, Lab
from workbench.analysis.summary import summarise
from workbench.cli import main
from workbench.documents import AnyDocument, Note, PointStart, PointStop, RunStart, RunStop, Window
from workbench.messages.reasons import ClientGone, TargetLost, reasons_of
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


def run(plan: Path, act: Callable[[], None]) -> list[AnyDocument]:
    """Run it here, and do something in the middle of the first point."""

    def middle(document: AnyDocument) -> bool:
        return isinstance(document, Window) and document.index == 3

    return in_the_middle(plan, FLEET, middle, act)


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


def test_a_workbench_suspended_beyond_the_lease_says_why_it_ended(
    workbench: tuple[subprocess.Popen[bytes], Path], hosts: list[Host]
) -> None:
    program, path = workbench
    program.send_signal(signal.SIGSTOP)
    assert until(lambda: not any(host.processes() for host in hosts), CLEAN_WITHIN_S)
    program.send_signal(signal.SIGCONT)
    assert program.wait(PATIENCE_S) == 1
    stop = stop_of(read_session(path).documents)
    assert stop.status == "failed"
    assert stop.code == "lease-expired"


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


def test_connections_that_are_reset_are_counted_and_the_run_continues(
    hosts: list[Host], plan: Path
) -> None:
    client = hosts[1]
    plan.write_text(PLAN.format(seconds=6, think=0.05))  # so that many are open at a time

    def reset() -> None:
        client.reset("dport", "!=", ":22", "and", "sport", "!=", ":22")

    documents = run(plan, reset)
    assert stop_of(documents).status == "done"
    first, second = points_of(documents)
    assert first.complete and first.conserved
    assert first.counts.errors.keys() == {"connreset"}
    assert second.complete and not second.counts.errors


def test_a_frozen_client_marks_its_point_and_the_other_continues(
    hosts: list[Host], plan: Path
) -> None:
    frozen = hosts[2]
    try:
        documents = run(plan, frozen.freeze)
    finally:
        frozen.thaw()
    first, second = points_of(documents)
    assert not first.complete
    assert [finding["client"] for finding in first.findings if "client" in finding] == ["h3"]
    assert second.complete
    assert [part.machine for part in second.clients] == ["h2"]
    assert stop_of(documents).status == "done"


def test_a_client_whose_ssh_connection_is_reset_marks_its_point(
    hosts: list[Host], plan: Path
) -> None:
    documents = run(plan, lambda: hosts[2].reset("sport", "=", ":22"))
    first, second = points_of(documents)
    assert not first.complete
    assert [each.client for each in reasons_of(first) if isinstance(each, ClientGone)] == ["h3"]
    assert [part.machine for part in second.clients] == ["h2"]
    assert second.complete and second.conserved
    assert stop_of(documents).status == "done"


def test_a_slow_consumer_does_not_slow_the_load(hosts: list[Host], plan: Path) -> None:
    """A second behind for each second that is measured."""
    documents: list[AnyDocument] = []

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


def test_a_reboot_of_the_target_ends_the_run_with_one_sentence(
    hosts: list[Host], plan: Path
) -> None:
    documents = run(plan, hosts[0].reboot)
    assert stop_of(documents).status == "failed"
    assert stop_of(documents).code == "machine-gone"


def test_a_target_that_vanishes_ends_its_point_and_blames_no_server(
    hosts: list[Host], plan: Path
) -> None:
    seconds = 60
    plan.write_text(PLAN.format(seconds=seconds, think=0))
    try:
        documents = run(plan, hosts[0].black_hole)
    finally:
        hosts[0].end_black_hole()
    (point,) = points_of(documents)
    assert not point.complete and point.verdict == "inconclusive"
    assert any(isinstance(each, TargetLost) for each in reasons_of(point))
    assert point.counts.scheduled < seconds / 2 * 20 * 10, "it ended long before its time"
    (note,) = [d for d in documents if isinstance(d, Note) and d.topic == "target-lost"]
    assert note.machine == "h1"
    assert summarise(documents).servers["gevent-pywsgi"].knee is None
    assert stop_of(documents).status == "failed"


def test_a_disk_that_fills_up_during_a_run_does_not_end_it(hosts: list[Host], plan: Path) -> None:
    try:
        documents = run(plan, lambda: hosts[0].fill("/var/tmp"))
    finally:
        hosts[0].end_fill("/var/tmp")
    assert stop_of(documents).status == "done"
    assert all(point.complete for point in points_of(documents))


def test_a_host_key_that_changes_in_mid_run_affects_only_the_next_run(
    hosts: list[Host], plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = hosts[0]

    def change() -> None:
        target.new_host_key()
        target.restart_sshd()

    documents = run(plan, change)
    assert stop_of(documents).status == "done"
    assert main(["run", str(plan), *ARGUMENTS, "-o", str(plan.with_name("2.yaml"))]) == 1
    output = capsys.readouterr().err
    assert "The host key of 'h1' at " in output and "has changed" in output
    # A key that has changed is not trusted by pasting a command.
    assert "--fingerprint SHA256:" not in output


def test_a_server_that_exits_ends_its_sweep(hosts: list[Host], plan: Path) -> None:
    def kill() -> None:
        for pid, command in hosts[0].processes().items():
            if "server.py" in command:
                os.kill(pid, signal.SIGKILL)

    documents = run(plan, kill)
    assert len([d for d in documents if isinstance(d, PointStart)]) == 1
    assert any("ended by signal 9" in str(getattr(d, "text", "")) for d in documents)

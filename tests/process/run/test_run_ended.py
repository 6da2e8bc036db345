"""How `pongbench run` ends: by hand, killed at any moment, without a reader, on a full disk."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from a_run import PONGBENCH, ROOT, STREAMS, Home, Running, of
from chosen import chosen
from oracle import eventually, processes_with

from workbench.documents import AnyDocument, PointStart, PointStop, RunStart, RunStop
from workbench.sessions import read_session

# What a run is doing when it is ended.


def builds_a_runtime(running: Running) -> bool:
    return "Building the runtime" in running.told()


def rehearses(running: Running) -> bool:
    return "Starting asyncio streams" in running.told()


def calibrates(running: Running) -> bool:
    return '"purpose":"ceiling"' in running.recorded()


def measures(running: Running) -> bool:
    """In the middle of a point of the sweep."""
    return f'"server":"{STREAMS}","rate_per_s":100.0' in running.recorded() and running.under_load()


def rests(running: Running) -> bool:
    """Between two points of the sweep."""
    return '"kind":"point_stop"' in running.recorded().rpartition('"kind":"point_start"')[2]


def left_open(documents: list[AnyDocument]) -> bool:
    """Is there a point that started and never ended?"""
    return len(of(PointStart, documents)) > len(of(PointStop, documents))


def check_completed(running: Running) -> None:
    session = running.read()
    assert not session.damage
    begun = of(PointStart, session.documents)
    completed = of(PointStop, session.completed())
    assert [stop.point for stop in completed] == [start.point for start in begun]
    if left_open(session.documents):
        assert not completed[-1].complete


class TestEndedByHand:
    def test_ctrl_c_stops_cleanly(self, home: Home, launch: Callable[[Path], Running]) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(measures)
        running.ctrl_c()
        assert running.end() == 130
        home.wait_until_clean()
        documents = running.read().documents
        assert isinstance(documents[-1], RunStop)
        assert documents[-1].status == "stopped"
        last = of(PointStop, documents)[-1]
        assert not last.complete
        assert last.conserved

    def test_a_second_ctrl_c_aborts(self, home: Home, launch: Callable[[Path], Running]) -> None:
        # A server that has to be killed makes stopping slow.
        running = launch(home.plan(["ignores-sigterm"], seconds=30.0))
        running.wait_until(Running.under_load)
        running.ctrl_c()
        assert eventually(lambda: "Ctrl-C again aborts" in running.told())
        running.ctrl_c()
        assert running.end() == 130
        home.wait_until_clean()
        documents = running.read().documents
        assert isinstance(documents[-1], RunStop)
        assert documents[-1].status == "aborted"
        assert "Traceback" not in running.told()

    @pytest.mark.parametrize("number", chosen([signal.SIGTERM, signal.SIGHUP], 1))
    def test_a_termination_signal_aborts(
        self, home: Home, launch: Callable[[Path], Running], number: signal.Signals
    ) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(measures)
        running.process.send_signal(number)
        assert running.end() == 130
        home.wait_until_clean()
        end = running.read().documents[-1]
        assert isinstance(end, RunStop)
        assert end.status == "aborted"
        assert "Traceback" not in running.told()
        check_completed(running)

    def test_ctrl_c_before_the_session_starts_leaves_no_session(
        self, home: Home, launch: Callable[[Path], Running]
    ) -> None:
        running = launch(home.plan([STREAMS], seconds=30.0))
        running.wait_until(rehearses)
        running.ctrl_c()
        code = running.end()
        home.wait_until_clean()
        assert code == 130
        assert "Traceback" not in running.told()
        assert not running.session.exists() or of(RunStop, running.read().documents)


def test_a_program_that_was_suspended_says_that_and_not_that_a_machine_is_gone(
    home: Home, launch: Callable[[Path], Running]
) -> None:
    running = launch(home.plan([STREAMS], seconds=30.0))
    running.wait_until(measures)
    running.process.send_signal(signal.SIGSTOP)
    # Its runner, and what that has started, end by themselves.
    assert eventually(lambda: len(processes_with(str(home.folder))) == 1)
    running.process.send_signal(signal.SIGCONT)
    assert running.end() == 1
    end = running.read().documents[-1]
    assert isinstance(end, RunStop)
    assert (end.status, end.code) == ("failed", "lease-expired")
    assert re.match(r"Pongbench itself was suspended for \d+ s\. ", end.reason)
    assert "is gone" not in running.told() and "Traceback" not in running.told()


class TestKilled:
    @pytest.mark.parametrize("moment", chosen([rehearses, calibrates, measures, rests], 2))
    def test_at_any_moment_leaves_only_a_session_that_opens(
        self, home: Home, launch: Callable[[Path], Running], moment: Callable[[Running], bool]
    ) -> None:
        seconds = 1.0 if moment is rests else 30.0
        plan = home.plan(
            [STREAMS], seconds=seconds, calibrate=moment is calibrates, cool_down_s=30.0
        )
        running = launch(plan)
        running.wait_until(moment)
        running.process.kill()
        running.end()
        home.wait_until_clean()
        if not running.recorded():
            assert moment is rehearses
            assert home.call("summary", running.session).code == 2
            return
        check_completed(running)
        assert home.call("summary", running.session).code == 0

    def test_while_a_runtime_is_built_leaves_nothing(
        self, tmp_path: Path, launch: Callable[..., Running]
    ) -> None:
        fresh = Home(tmp_path / "fresh")
        running = launch(fresh.plan(["uses-a-package"], seconds=30.0), home=fresh)
        running.wait_until(builds_a_runtime)
        running.process.kill()
        running.end()
        fresh.wait_until_clean()


def test_a_run_continues_when_nobody_reads_its_output(home: Home, session: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*PONGBENCH, "run", home.plan([STREAMS]), "-o", session]
    try:
        done = subprocess.run(
            command, stdout=writing, stderr=writing, cwd=ROOT, env=home.env, check=False
        )
    finally:
        os.close(writing)
    home.wait_until_clean()
    assert done.returncode == 0
    documents = read_session(session).documents
    assert isinstance(documents[-1], RunStop)
    assert documents[-1].status == "done"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_run_and_keeps_the_session(home: Home, small_disk: Path) -> None:
    session = small_disk / "run.pong.yaml"
    answer = home.call("run", home.plan([STREAMS], seconds=20.0), "-o", session)
    assert answer.code == 1
    (reported,) = [line for line in answer.stderr.splitlines() if "Failed:" in line]
    assert "Failed: The disk is full. The session " in reported
    assert reported.endswith(f"({session}).")
    read = read_session(session)
    assert isinstance(read.documents[0], RunStart)
    assert not read.damage

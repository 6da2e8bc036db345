"""Whatever is killed, soon neither a process nor a file is left."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chosen import chosen
from oracle import CLEAN_WITHIN_S, eventually, files_below, processes_with, wait_until_clean
from pids import kill_at_once, parent

from workbench.machines.local import ERRANDS, open_local
from workbench.machines.runner_client import RUNNER

PROGRAM = Path(__file__).with_name("a_workbench.py")
LONG_LEASE_S = 600.0
"""Where it is not the lease that is tried."""


@dataclass
class Workbench:
    """A program with a machine open, observed from outside."""

    program: subprocess.Popen[bytes]
    mark: str
    cache: Path

    def runners(self) -> list[int]:
        """[guardian, runner]"""
        found = [
            pid for pid, command in processes_with(self.mark).items() if str(RUNNER) in command
        ]
        return sorted(found, key=lambda pid: parent(pid) in found)

    def wait_until_settled(self) -> None:
        assert self.program.stdout
        line = self.program.stdout.readline()
        assert json.loads(line)["run_dir"].startswith(str(self.cache))
        assert len(self.runners()) == 2
        # The sleeper, the deaf one, eight of a family, a daemon and its parent, a builder.
        assert eventually(lambda: len(processes_with(self.mark)) == 16)

    def wait_until_alone(self, *, after_s: float = 0.0) -> None:
        """The workbench itself is there, but nothing of its run."""
        eventually(
            lambda: (
                set(processes_with(self.mark)) == {self.program.pid} and not files_below(self.cache)
            ),
            within_s=after_s + CLEAN_WITHIN_S,
        )
        assert set(processes_with(self.mark)) == {self.program.pid}
        assert files_below(self.cache) == []

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        os.kill(self.program.pid, number)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def launch(cache: Path, what: str = "settled", *, lease_s: float = LONG_LEASE_S) -> Workbench:
    mark = secrets.token_hex(12)
    program = subprocess.Popen(
        [sys.executable, PROGRAM, cache, mark, str(lease_s), what],
        stdout=subprocess.PIPE,
        env={**os.environ, "MARK": mark},
    )
    return Workbench(program, mark, cache)


@pytest.fixture
def workbench(cache: Path) -> Iterator[Workbench]:
    launched = launch(cache)
    launched.wait_until_settled()
    yield launched
    end(launched)


def end(launched: Workbench) -> None:
    launched.program.kill()
    launched.program.communicate()
    for pid in processes_with(launched.mark):
        with contextlib.suppress(ProcessLookupError):  # they are ending by themselves meanwhile
            os.kill(pid, signal.SIGKILL)


def test_killing_the_workbench_leaves_nothing(workbench: Workbench) -> None:
    workbench.kill()
    wait_until_clean(workbench.mark, workbench.cache)


def test_ending_the_workbench_without_closing_leaves_nothing(workbench: Workbench) -> None:
    workbench.kill(signal.SIGTERM)
    wait_until_clean(workbench.mark, workbench.cache)


def test_a_workbench_suspended_briefly_keeps_its_run(workbench: Workbench) -> None:
    before = set(processes_with(workbench.mark))
    workbench.kill(signal.SIGSTOP)
    lost = eventually(lambda: set(processes_with(workbench.mark)) != before, within_s=2)
    workbench.kill(signal.SIGCONT)
    lost |= eventually(lambda: set(processes_with(workbench.mark)) != before, within_s=2)
    assert not lost


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("which", [0, 1], ids=["guardian", "runner"])
def test_the_death_of_either_half_of_the_dead_mans_switch_ends_everything(
    workbench: Workbench, which: int, number: signal.Signals
) -> None:
    os.kill(workbench.runners()[which], number)
    workbench.wait_until_alone()


def test_the_next_janitor_removes_what_is_left_when_both_halves_die_at_once(
    workbench: Workbench,
) -> None:
    kill_at_once(workbench.runners())
    workbench.kill()
    assert eventually(lambda: not workbench.runners())
    assert files_below(workbench.cache)
    report = janitor(workbench.cache)
    assert report["removed"] == 1
    wait_until_clean(workbench.mark, workbench.cache)


def janitor(cache: Path) -> dict[str, object]:
    result = subprocess.run(
        [sys.executable, "-I", "-S", ERRANDS, "", "clean", cache], capture_output=True, check=True
    )
    report: dict[str, object] = json.loads(result.stdout)
    return report


@pytest.mark.parametrize("moment", chosen(range(12), 4))
def test_killing_the_workbench_at_any_moment_leaves_nothing(cache: Path, moment: int) -> None:
    launched = launch(cache, "starting")
    try:
        # First moments while the machine opens, then while programs start on it.
        assert eventually(lambda: len(processes_with(launched.mark)) > 2 * moment)
        launched.kill()
        launched.program.wait()
        wait_until_clean(launched.mark, cache)
    finally:
        end(launched)


async def test_several_workbenches_on_one_machine_leave_each_other_alone(cache: Path) -> None:
    first, second = launch(cache), launch(cache)
    try:
        first.wait_until_settled()
        second.wait_until_settled()
        undisturbed = set(processes_with(second.mark))
        first.kill()
        first.program.wait()
        machine = await open_local(cache_dir=cache)
        alive = janitor(cache)["alive"]
        assert isinstance(alive, list)
        assert f"process {second.program.pid}" in " ".join(run["holder"] for run in alive)
        assert eventually(lambda: not processes_with(first.mark), within_s=CLEAN_WITHIN_S)
        assert set(processes_with(second.mark)) == undisturbed
        await machine.close()
        assert set(processes_with(second.mark)) == undisturbed
        second.kill()
        second.program.wait()
        wait_until_clean(second.mark, cache)
    finally:
        end(first)
        end(second)


def test_a_janitor_leaves_files_of_no_run_alone(cache: Path, tmp_path: Path) -> None:
    bystander = subprocess.Popen(
        ["sleep", "600"], env={"PONGBENCH_RUN": str(tmp_path / "elsewhere" / "runs" / "1.lock")}
    )
    (cache / "runtimes" / "abc").mkdir(parents=True)
    try:
        assert janitor(cache) == {"killed": 0, "removed": 0, "found": [], "alive": []}
        assert bystander.poll() is None
        assert (cache / "runtimes" / "abc").is_dir()
    finally:
        bystander.kill()
        bystander.wait()

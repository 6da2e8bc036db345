"""A machine is silent only in the time in which this program could hear it."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes.machine import FakeMachine
from workbench.documents import Counts, Histograms
from workbench.load.base import LoadReport
from workbench.machines import pulse
from workbench.machines.pulse import Instant, Pulse
from workbench.messages.reasons import reason
from workbench.run.point import gone


class Clocks:
    """Both clocks, moved by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running_s, self.slept_s = 1_000.0, 0.0
        monkeypatch.setattr(pulse.time, "monotonic", lambda: self.running_s)
        monkeypatch.setattr(pulse.time, "clock_gettime", lambda _: self.running_s + self.slept_s)
        monkeypatch.setattr(pulse, "BOOTTIME", 7)
        monkeypatch.setattr(pulse.asyncio, "sleep", self.sleep)
        self.turns = 0
        self.meanwhile = {2: (0.0, 0.0)}
        """In which second which clock makes which leap: running, asleep."""

    async def sleep(self, seconds: float) -> None:
        self.turns += 1
        running_s, slept_s = self.meanwhile.get(self.turns, (0.0, 0.0))
        self.running_s += seconds + running_s
        self.slept_s += slept_s


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


async def test_a_program_that_ran_all_the_time_was_not_absent(clocks: Clocks) -> None:
    beats = Pulse()
    await beats.stops(4.0)
    assert clocks.turns == 4
    assert beats.absence(3.0, 10.0) is None


@pytest.mark.parametrize("asleep", [False, True])
async def test_a_program_that_did_not_run_knows_for_how_long_and_why(
    clocks: Clocks, asleep: bool
) -> None:
    clocks.meanwhile = {2: (0.0, 30.0) if asleep else (30.0, 0.0)}
    beats = Pulse()
    await beats.stops(2.0)
    found = beats.absence(3.0, 10.0)
    assert found
    assert (found.data()["seconds"], found.data().get("asleep", False)) == (31.0, asleep)
    clocks.running_s += 11.0
    # Nor does the time since then count as one.
    later = beats.absence(20.0, 10.0)
    assert later is None


async def test_an_absence_is_known_before_the_next_second_is_counted(clocks: Clocks) -> None:
    beats = Pulse()
    await beats.stops(1.0)
    clocks.slept_s += 30.0
    found = beats.absence(3.0, 10.0)
    assert found and found.data()["asleep"]


@pytest.mark.parametrize("slept_s", [0.0, 30.0])
async def test_a_point_in_which_this_computer_slept_does_not_count(
    clocks: Clocks, slept_s: float
) -> None:
    counts = Counts(scheduled=9, unsent=0, sent=9, late=0, established=9, succeeded=9)
    report = LoadReport(counts, Histograms(), replies_in_schedule=9, schedule_s=1.0)
    began = Instant.now()
    clocks.running_s += 5.0
    clocks.slept_s += slept_s
    cause = await gone(FakeMachine("localhost"), [], began, report, complete=True)
    assert cause == (reason("computer-slept", seconds=30.0) if slept_s else None)


def test_before_it_counts_nothing_is_an_absence(clocks: Clocks) -> None:
    beats = Pulse()
    clocks.running_s += 100.0
    assert beats.absence(3.0, 10.0) is None


def test_the_clocks_of_this_system_agree_while_it_runs() -> None:
    before = Instant.now()
    asyncio.run(asyncio.sleep(0.02))
    assert abs(Instant.now().slept_since(before)) < 0.01
    assert Instant.now().elapsed_since(before) >= 0.02

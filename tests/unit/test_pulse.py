"""A point in which this computer slept is found by its two clocks."""

from __future__ import annotations

import pytest

from tests.fakes.machine import FakeMachine
from workbench.documents import Counts, Histograms
from workbench.load.base import LoadReport
from workbench.machines import pulse
from workbench.machines.pulse import Instant
from workbench.messages.reasons import reason
from workbench.run.point import gone


class Clocks:
    """Both clocks, moved by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.running_s, self.slept_s = 1_000.0, 0.0
        monkeypatch.setattr(pulse.time, "monotonic", lambda: self.running_s)
        monkeypatch.setattr(pulse.time, "clock_gettime", lambda _: self.running_s + self.slept_s)
        monkeypatch.setattr(pulse, "BOOTTIME", 7)


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


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

"""The interval of a cost within one point covers the truth as often as it says."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest

from workbench.analysis.usage import Reading, Usage
from workbench.documents import WINDOW_US, Window
from workbench.load.base import LoadReport
from workbench.metrics import Measured, cpu_per_call, cpu_per_call_margin

TRUE_US = 50.0


SLICES = 10
"""Of a window, each with calls and costs of its own; samples lie between two of them."""


def point(chance: random.Random, windows: int, calls: int, noise: float) -> Measured:
    """Calls that cost `TRUE_US` on average; the sampler's clock is not that of the windows."""
    counts = [round(chance.gauss(calls, calls**0.5)) for _ in range(windows * SLICES)]
    costs = [chance.gauss(TRUE_US, noise * TRUE_US) * count for count in counts]
    made = [
        Window(
            t_us=index * WINDOW_US, point=1, index=index,
            due=replies, sent=replies, late=0, established=replies, replies=replies,
        )
        for index in range(windows)
        if (replies := sum(counts[index * SLICES : (index + 1) * SLICES]))
    ]  # fmt: skip
    readings = tuple(
        Reading(at * WINDOW_US // SLICES, round(sum(costs[:at])), None, 0)
        for at in range(3, windows * SLICES, SLICES)
    )
    report: LoadReport = SimpleNamespace(counts=SimpleNamespace(succeeded=sum(counts)))  # type: ignore[assignment]
    return Measured(report, made, Usage(cpu_us=round(sum(costs)), readings=readings))


@pytest.mark.parametrize(("windows", "noise"), [(6, 0.2), (25, 0.3), (100, 0.5)])
def test_an_interval_covers_the_truth(windows: int, noise: float) -> None:
    chance, covered, tested = random.Random(5), 0, 400
    for _ in range(tested):
        measured = point(chance, windows, 40, noise)
        cost, half = cpu_per_call(measured), cpu_per_call_margin(measured)
        assert cost and half
        covered += abs(cost - TRUE_US) <= half
    assert covered >= 0.92 * tested, covered


def test_a_point_with_few_windows_has_no_phases() -> None:
    assert cpu_per_call_margin(point(random.Random(5), 4, 40, 0.1)) is None

"""Growth of memory within points, in simulation with known truth."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from workbench.analysis.audits.within import growth

Rng = np.random.Generator
Values = NDArray[np.float64]
SECONDS = 60
N = 5 * SECONDS
BASE = 50e6
TRIES = 200

STEADY: dict[str, Callable[[Rng], Values]] = {
    "constant": lambda rng: np.zeros(N),
    "noise": lambda rng: rng.normal(0, 1e6, N),
    "a collector": lambda rng: 5e6 * ((np.arange(N) / 37 + rng.random()) % 1),
    "a walk": lambda rng: np.cumsum(rng.normal(0, 2e5, N)),
    "a cache that fills": lambda rng: 2e7 * (1 - np.exp(-np.arange(N) / (0.05 * N))),
    "freed half-way": lambda rng: -2e7 * (np.arange(N) > N / 2),
    "steps of pages": lambda rng: 4096.0 * np.cumsum(rng.random(N) < 0.1),
}


def samples(memory: Values) -> list[tuple[float, int]]:
    return [(n / 5, int(BASE + each)) for n, each in enumerate(memory)]


@pytest.mark.parametrize("kind", list(STEADY))
def test_memory_that_does_not_leak_is_rarely_reported(kind: str) -> None:
    rng = np.random.default_rng(1)
    found = [growth(samples(STEADY[kind](rng)), alarms=0.01) for _ in range(TRIES)]
    alarms = sum(each is None or each.leaks for each in found)
    # 2 are expected of a walk, whose increments are exactly those of the model.
    assert alarms <= 7


@pytest.mark.parametrize("noise", [0.0, 3e5])
def test_a_leak_is_found_with_its_rate(noise: float) -> None:
    per_hour = 360e6  # 6 MB within the minute
    leak = np.arange(N) / N * per_hour * SECONDS / 3_600
    rng = np.random.default_rng(2)
    found = [growth(samples(leak + rng.normal(0, noise, N)), alarms=0.01) for _ in range(TRIES)]
    assert all(each is not None and each.leaks for each in found)
    covered = sum(each.low <= per_hour * 1.02 and each.high >= per_hour * 0.98 for each in found)
    assert covered >= 0.95 * TRIES


def test_a_leak_over_a_collectors_saw_is_found() -> None:
    rng = np.random.default_rng(3)
    leak = np.arange(N) / N * 2e7
    each = growth(samples(leak + STEADY["a collector"](rng)), alarms=0.01)
    assert each is not None and each.leaks and each.low < 1.2e9 < each.high


def test_too_short_a_point_is_not_judged() -> None:
    assert growth([(n / 5, n * 10**6) for n in range(40)]) is None
    assert growth([]) is None


def test_growth_that_does_not_matter_is_no_leak() -> None:
    found = growth(samples(np.arange(N) * 1_000.0))
    assert found is not None and found.low > 0 and not found.leaks

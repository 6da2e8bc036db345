"""Intervals of differences and ratios: against known values, and in simulation with known truth."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest
from chosen import chosen
from numpy.typing import NDArray

from workbench.analysis.knee import PassKnee
from workbench.analysis.knee import difference as knee_difference
from workbench.analysis.significance import Change, difference, finding, quantile, ratio

Noise = Callable[[np.random.Generator, int], NDArray[np.float64]]

NOISES: dict[str, Noise] = {
    "normal": lambda rng, n: rng.normal(0, 0.03, n),
    "heavy tails": lambda rng, n: 0.02 * rng.standard_t(3, n),
    "skewed": lambda rng, n: 0.03 * rng.exponential(1, n),
    "now and then slow": lambda rng, n: rng.normal(0, 0.01, n) + 0.2 * (rng.random(n) < 0.1),
}
TRIES = 2_000


def by_pass(values: list[float] | NDArray[np.float64]) -> dict[int, float]:
    return dict(enumerate(map(float, values), start=1))


@pytest.mark.parametrize(
    ("freedom", "share", "t"),
    [
        # SciPy 1.17.1, scipy.special.stdtrit(freedom, share).
        (1, 0.975, 12.706204736174694),
        (2, 0.975, 4.302652729749462),
        (5, 0.975, 2.5705818356363146),
        (30, 0.975, 2.0422724563012378),
        (7, 0.9, 1.4149239276505086),
        (8, 0.995, 3.355387331333395),
    ],
)
def test_quantiles_are_those_of_the_tables(freedom: int, share: float, t: float) -> None:
    assert quantile(share, freedom) == pytest.approx(t, rel=1e-10)


def test_paired_passes_give_the_interval_of_the_textbook() -> None:
    """Student's own example: hours of sleep gained with two drugs by ten patients."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = difference(by_pass(first), by_pass(second), paired=True)
    assert found is not None
    assert (found.figure, found.low, found.high) == pytest.approx(
        (-1.58, -2.4598858, -0.7001142), abs=1e-6
    )
    apart = difference(by_pass(first), by_pass(second), paired=False)
    assert apart is not None
    # Welch, with 17.78 degrees of freedom rounded down to 17: a little wider than the (-3.37, 0.21)
    # of R's t.test(extra ~ group).
    assert (apart.low, apart.high) == pytest.approx((-3.365, 0.205), abs=0.02)
    assert apart.low < -3.3654832
    assert apart.high > 0.2054832


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (-0.04, 0.05, "equal"),
        (0.01, 0.04, "equal"),
        (0.0, 0.0, "equal"),
        (0.01, 0.06, "more"),
        (-0.12, -0.08, "less"),
        (-0.06, 0.01, "indistinguishable"),
        (-inf, inf, "indistinguishable"),
    ],
)
def test_equal_means_shown_to_be_equivalent(low: float, high: float, found: str) -> None:
    assert finding(low, high, 0.05) == found


def test_too_few_passes_and_figures_without_a_ratio_give_no_interval() -> None:
    assert ratio({1: 5.0}, {1: 4.0}, paired=True) is None
    assert ratio({1: 5.0, 2: 5.0}, {1: 4.0}, paired=False) is None
    assert ratio({}, {}, paired=True) is None
    assert ratio({1: 5.0, 2: 0.0}, {1: 4.0, 2: 4.0}, paired=True) is None
    assert difference({1: 5.0, 2: 0.0}, {1: 4.0, 2: 4.0}, paired=True) is not None


def test_passes_without_a_counterpart_are_not_paired() -> None:
    found = ratio({1: 10.0, 2: 11.0, 3: 99.0}, {1: 10.0, 2: 11.0}, paired=True)
    assert found is not None
    assert (found.passes, found.paired) == (2, True)
    apart = ratio({1: 10.0, 2: 11.0}, {3: 10.0, 4: 11.0}, paired=True)
    assert apart is not None
    assert not apart.paired


def test_half_a_percent_is_no_difference_even_on_the_steadiest_machine() -> None:
    same = ratio(dict.fromkeys(range(9), 100.4), dict.fromkeys(range(9), 100.0), paired=True)
    assert same is not None
    assert same.low < 0 < same.high


def simulated(
    noise: Noise, passes: int, ratio_: float, *, paired: bool, seed: int, tries: int = TRIES
) -> list[Change]:
    """Comparisons of a server with one whose calls cost `ratio_` times as much, on a machine that
    drifts where the passes take turns."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(tries):
        drift = rng.normal(0, 0.1, passes) if paired else 0.0
        first = 85 * ratio_ * np.exp(noise(rng, passes) + drift)
        second = 85 * np.exp(noise(rng, passes) + drift)
        change = ratio(by_pass(first), by_pass(second), paired=paired)
        assert change is not None
        found.append(change)
    return found


@pytest.mark.parametrize("paired", [True, False], ids=["in turns", "one after another"])
@pytest.mark.parametrize("passes", chosen([2, 3, 4, 5, 6, 8, 12, 20], 2))
@pytest.mark.parametrize("name", NOISES)
def test_equal_servers_are_called_different_in_one_of_twenty_at_most(
    name: str, passes: int, paired: bool
) -> None:
    found = simulated(NOISES[name], passes, 1.0, paired=paired, seed=passes)
    wrong = sum(each.found() in ("more", "less") for each in found)
    assert wrong <= 0.05 * TRIES


@pytest.mark.parametrize("passes", chosen([3, 5, 8, 12, 20], 2))
@pytest.mark.parametrize("name", NOISES)
def test_servers_beyond_the_margin_are_called_equal_in_one_of_forty_at_most(
    name: str, passes: int
) -> None:
    """Worst just beyond the margin: 5.1 % apart."""
    found = simulated(NOISES[name], passes, 1.051, paired=True, seed=passes)
    assert sum(each.found() == "equal" for each in found) <= 0.025 * TRIES


@pytest.mark.parametrize("passes", chosen([4, 8, 16], 2))
@pytest.mark.parametrize("ratio_", [0.8, 1.1, 2.0])
def test_the_interval_covers_the_true_ratio(ratio_: float, passes: int) -> None:
    found = simulated(NOISES["normal"], passes, ratio_, paired=True, seed=passes)
    covered = sum(each.low <= ratio_ - 1 <= each.high for each in found)
    assert covered >= 0.95 * TRIES


@pytest.mark.parametrize(("step", "spread"), [(100, 20), (100, 100), (100, 300), (10, 200)])
@pytest.mark.parametrize("passes", chosen([2, 3, 5, 8, 12], 2))
@pytest.mark.parametrize("paired", [True, False], ids=["in turns", "one after another"])
def test_sustained_rates_of_equal_servers_are_called_different_in_one_of_twenty_at_most(
    step: int, spread: int, passes: int, paired: bool
) -> None:
    """True limits scatter around 6,000/s; the sweep sees the steps on both sides of each."""
    rng = np.random.default_rng(passes)

    def swept(true: float) -> list[PassKnee]:
        limits = rng.normal(true, spread, passes)
        sustained = [step * (limit // step) for limit in limits]
        return [PassKnee(n, low, low + step) for n, low in enumerate(sustained, start=1)]

    wrong = 0
    for _ in range(TRIES):
        true = 6000 + rng.uniform(0, step)
        found = knee_difference(swept(true), swept(true), paired=paired)
        wrong += found is not None and found.outcome in ("more", "less")
    assert wrong <= 0.05 * TRIES

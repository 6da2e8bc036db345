"""The difference a plan can detect: against known values, and in simulation with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from chosen import chosen
from synthetic import session

from workbench.analysis.sensitivity import (
    FIGURES,
    TYPICAL,
    Spread,
    beyond,
    detectable,
    passes_for,
    power,
    spread,
)
from workbench.analysis.series import SeriesResult
from workbench.analysis.significance import quantile, ratio
from workbench.documents import PointStop, RunStart
from workbench.sessions import Recorder
from workbench.sessions.history import earlier

COST, P50, _ = FIGURES


def costing(servers: dict[str, list[float]]) -> list[SeriesResult]:
    """Of servers at one rate, the cost of a call in each pass."""
    stop = next(d for d in session(1, rates=[1000.0]) if isinstance(d, PointStop))
    return [
        SeriesResult(
            key,
            key,
            stops=[
                msgspec.structs.replace(
                    stop,
                    server=key,
                    purpose="sweep",
                    verdict="ok",
                    pass_number=number,
                    values={"cpu_us_per_call": cost},
                )
                for number, cost in enumerate(costs, start=1)
            ],
        )
        for key, costs in servers.items()
    ]


@pytest.mark.parametrize(
    ("freedom", "shift", "share"),
    [
        # SciPy 1.17.1, 1 - scipy.special.nctdtr(freedom, shift, stdtrit(freedom, 0.975)).
        (1, 6.0, 0.36218399295520787),
        (3, 3.5, 0.6516488981988371),
        (7, 2.5, 0.5762139713407832),
        (29, 3.3, 0.8904545931680787),
    ],
)
def test_power_is_that_of_noncentral_t(freedom: int, shift: float, share: float) -> None:
    assert beyond(quantile(0.975, freedom), freedom, shift) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("deviation", [0.01, 0.03, 0.1])
def test_the_proposed_number_of_passes_shows_it_and_fewer_do_not(deviation: float) -> None:
    known = Spread(deviation)
    passes = passes_for(0.1, known)
    assert passes is not None
    least = detectable(known, passes)
    assert least is not None
    assert least <= 0.1
    assert power(0.1, known, passes) >= 0.9
    fewer = detectable(known, passes - 1)
    assert fewer is None or fewer > 0.1


def test_one_pass_shows_nothing_and_large_noise_needs_too_many() -> None:
    assert detectable(Spread(0.001), 1) is None
    assert passes_for(0.1, Spread(3.0)) is None
    assert passes_for(0.1, Spread(0.0)) == 2
    # What is not measured that finely is not shown by any number of passes.
    assert passes_for(0.004, Spread(0.01)) is None


def test_a_spread_estimated_from_few_passes_is_taken_at_its_upper_limit() -> None:
    assert Spread(0.03).limit == 0.03
    # Chi square's lower 20 % for 5 and for 50 degrees of freedom: 2.3425 and 41.449.
    assert Spread(0.03, 5).limit == pytest.approx(0.03 * (5 / 2.3425) ** 0.5, rel=0.01)
    assert Spread(0.03, 50).limit == pytest.approx(0.03 * (50 / 41.449) ** 0.5, rel=0.01)


def test_drift_adds_no_spread_in_interleaved_passes() -> None:
    drift = [1.0, 1.3, 0.8, 1.1]
    found = costing({"a": [80 * d for d in drift], "b": [95 * d for d in drift]})
    interleaved, apart = (spread(found, COST, interleaved=each) for each in (True, False))
    assert interleaved is not None
    assert apart is not None
    assert (interleaved.deviation, interleaved.freedom) == (pytest.approx(0, abs=1e-9), 3)
    assert apart.deviation > 0.1
    assert apart.freedom == 6


def test_a_spread_needs_two_passes() -> None:
    assert spread(costing({"a": [80.0]}), COST, interleaved=True) is None
    assert spread([], COST, interleaved=False) is None


def test_the_spread_of_passes_is_estimated_without_bias() -> None:
    rng = np.random.default_rng(3)
    squares = []
    for _ in range(300):
        drift = rng.normal(0, 0.2, 4)
        noisy = {key: list(80 * np.exp(rng.normal(0, 0.03, 4) + drift)) for key in ("a", "b", "c")}
        found = spread(costing(noisy), COST, interleaved=True)
        assert found is not None
        assert found.freedom == 6
        squares.append(found.deviation**2)
    assert np.sqrt(np.mean(squares)) == pytest.approx(0.03, rel=0.07)


TRIES = 2_000


@pytest.mark.parametrize("deviation", chosen([0.01, 0.02, 0.03, 0.05, 0.1], 2))
@pytest.mark.parametrize("paired", [True, False], ids=["in turns", "one after another"])
@pytest.mark.parametrize("pilot", chosen([0, 3, 5, 8], 2))
def test_the_proposed_plan_finds_ten_percent_and_no_difference_between_equals(
    deviation: float, paired: bool, pilot: int
) -> None:
    """Each try from the beginning: the spread is known (pilot 0), or estimated from `pilot` passes
    of two servers, then as many passes as are proposed for 10 % are compared."""
    rng = np.random.default_rng(pilot)
    found = alarms = 0
    for _ in range(TRIES):
        known = Spread(deviation)
        if pilot:
            freedom = pilot - 1 if paired else 2 * (pilot - 1)
            known = Spread(deviation * np.sqrt(rng.chisquare(freedom) / freedom), freedom)
        passes = passes_for(0.1, Spread(round(known.deviation, 4), known.freedom))
        assert passes is not None
        drift = rng.normal(0, 0.1, passes) if paired else 0.0
        first, twin, second = (
            dict(enumerate(85 * np.exp(rng.normal(0, deviation, passes) + drift))) for _ in range(3)
        )
        slowed = ratio({n: 1.1 * v for n, v in first.items()}, second, paired=paired)
        same = ratio(first, twin, paired=paired)
        found += slowed is not None and slowed.found() == "more"
        alarms += same is not None and same.found() in ("more", "less")
    assert found >= 0.9 * TRIES
    assert alarms <= 0.05 * TRIES


def record(folder: Path, name: str, *, repeats: int, **plan: Any) -> None:
    recorder = Recorder(folder / name)
    start, *others = session(2, rates=[1000.0], repeats=repeats)
    assert isinstance(start, RunStart)
    changed = start.plan | {"repeats": repeats, "name": name} | plan
    for document in (msgspec.structs.replace(start, plan=changed), *others):
        recorder(document)
    recorder.close()


def test_the_spread_is_that_of_the_latest_session_of_its_kind(tmp_path: Path) -> None:
    start = next(d for d in session(1) if isinstance(d, RunStart))
    (machine,) = start.machines
    assert earlier("pong", machine.name, interleaved=True, folder=tmp_path) == TYPICAL
    record(tmp_path, "one.pong.yaml", repeats=1)
    assert earlier("pong", machine.name, interleaved=True, folder=tmp_path) == TYPICAL
    record(tmp_path, "four.pong.yaml", repeats=4, order="interleaved")
    (tmp_path / "broken.yaml").write_text("# pongbench session\n---\nkind: run_st")
    found = earlier("pong", machine.name, interleaved=True, folder=tmp_path)
    assert found.session.startswith("four.pong.yaml, ")
    assert found.by_figure[P50.name].freedom == 3
    assert earlier("http", machine.name, interleaved=True, folder=tmp_path) == TYPICAL
    assert earlier("pong", "elsewhere", interleaved=True, folder=tmp_path) == TYPICAL

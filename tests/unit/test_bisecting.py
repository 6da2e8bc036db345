"""A commit is judged after few passes where these tell, and the looks together err as rarely as
one."""

from __future__ import annotations

from math import log1p

import numpy as np
import pytest

from workbench.analysis.significance import Change, at_each_look, ratio
from workbench.commands.bisecting import Judged, divide, judged_by, looks

TRIES = 400
STEP = 0.25


def sequentially(rng: np.random.Generator, slower: float, most: int) -> tuple[Judged, int]:
    """Judge a commit between a good one and one that is slower by `STEP`; its passes, too."""
    spread, confidence = 0.03, at_each_look(len(looks(most)))
    good, new = (np.exp(rng.normal(mean, spread, most)) for mean in (0.0, log1p(slower)))
    for passes in looks(most):
        values = (dict(enumerate(map(float, each[:passes]))) for each in (new, good))
        judged = judged_by(ratio(*values, paired=True, confidence=confidence), log1p(STEP) / 2)
        if judged != "undecided":
            return judged, passes
    return "undecided", most


def test_a_comparison_is_looked_at_after_twice_as_many_passes_each_time() -> None:
    assert looks(40) == [5, 10, 20, 40]
    assert looks(16) == [4, 8, 16]
    assert looks(6) == [6] and looks(2) == [2]


@pytest.mark.parametrize(("slower", "judged"), [(0.0, "fast"), (STEP, "slow")])
def test_a_step_of_25_percent_is_judged_rightly_after_few_passes(
    slower: float, judged: Judged
) -> None:
    rng = np.random.default_rng(17)
    found = [sequentially(rng, slower, 40) for _ in range(TRIES)]
    assert {each for each, _ in found} == {judged}
    assert np.mean([passes for _, passes in found]) < 8


def test_all_looks_together_misjudge_one_in_twenty_at_most() -> None:
    """Between fast and slow nothing is right, so every decision is chance."""
    rng = np.random.default_rng(17)
    middle = np.expm1(log1p(STEP) / 2)
    found = [sequentially(rng, middle, 40)[0] for _ in range(TRIES)]
    assert np.mean([each != "undecided" for each in found]) <= 0.05


@pytest.mark.parametrize(("low", "high"), [(0.05, 0.6), (0.2, 0.3)])
def test_no_commit_as_slow_as_the_bad_one_can_be_is_called_fast(low: float, high: float) -> None:
    step = Change((low + high) / 2, low, high, 5, True)
    assert 0 < divide(step) <= log1p(low)


@pytest.mark.parametrize(
    ("low", "high", "judged"), [(0.2, 0.3, "slow"), (-0.02, 0.03, "fast"), (0.05, 0.2, "undecided")]
)
def test_a_commit_is_judged_only_if_its_whole_interval_is_on_one_side(
    low: float, high: float, judged: str
) -> None:
    assert judged_by(Change((low + high) / 2, low, high, 8, True), 0.11) == judged

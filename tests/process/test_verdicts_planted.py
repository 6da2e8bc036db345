"""The verdict names the planted cause: a sample of tests/verify/test_verdicts.py."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from planted.conditions import LOCAL
from planted.ground import Ground, ground
from planted.trials import Score, carry_out

pytestmark = pytest.mark.alone

__all__ = ["ground"]


def test_the_verdict_names_the_planted_cause(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    score = Score()
    for number, trial in enumerate(random.Random(10).sample(LOCAL, 3)):
        score.found += carry_out(trial, ground, tmp_path / f"server-{number}")
    assert not score.false_accusations, score
    assert score.right >= 0.85 * len(score.found), score

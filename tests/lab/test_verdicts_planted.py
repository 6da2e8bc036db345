"""The verdict names what was planted between hosts: a sample of tests/verify/test_verdicts.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from planted.conditions import IN_THE_LAB
from planted.ground import Ground, NoGround
from planted.trials import Score, carry_out

from lab.conftest import measuring
from lab.hosts import Host, Lab

pytestmark = pytest.mark.alone

MOST_WRONG = 0.15


@pytest.fixture
def hosts(lab: Lab) -> Iterator[list[Host]]:
    yield from measuring(lab)


def test_the_verdict_names_the_planted_cause(hosts: list[Host], tmp_path: Path) -> None:
    try:
        ground = Ground()
    except NoGround as reason:
        pytest.skip(str(reason))
    score = Score()
    try:
        for number, trial in enumerate(random.Random(3).sample(IN_THE_LAB, 4)):
            score.found += carry_out(trial, ground, tmp_path / f"server-{number}", hosts)
    finally:
        ground.close()
    assert not score.false_accusations, score
    assert score.right >= (1 - MOST_WRONG) * len(score.found), score

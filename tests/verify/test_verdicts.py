"""Points with planted truth: how often the verdict names it.

A condition that cannot be made on a machine is skipped with the reason; the counts are then of what
could be made.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.conftest import home, lab, measuring
from lab.hosts import Host, Lab
from planted.conditions import IN_THE_LAB, LOCAL
from planted.ground import Ground, ground
from planted.trials import Found, Score, Trial, carry_out

__all__ = ["ground", "home", "lab"]
LEAST_RIGHT = 0.95
LEAST_RIGHT_OF_A_KIND = 0.85
SCORE = Score()

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture
def hosts(ground: Ground, lab: Lab) -> Iterator[list[Host]]:
    if not isinstance(lab, Lab):
        pytest.skip(f"{lab.why} Links cannot be made slow, lossy or late without hosts.")
    yield from measuring(lab)


def ids(trial: Trial) -> str:
    return f"{trial.kind}: {trial.name}"


@pytest.mark.parametrize("trial", LOCAL, ids=ids)
def test_points_on_this_computer(trial: Trial, ground: Ground, tmp_path: Path, home: Path) -> None:
    measured(trial, carry_out(trial, ground, tmp_path / "planted"))


@pytest.mark.parametrize("trial", IN_THE_LAB, ids=ids)
def test_points_between_hosts(
    trial: Trial, ground: Ground, hosts: list[Host], tmp_path: Path
) -> None:
    measured(trial, carry_out(trial, ground, tmp_path / "planted", hosts))


def measured(trial: Trial, found: list[Found]) -> None:
    SCORE.found += found
    assert len(found) == trial.points, "points are missing"


def test_verdicts_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    if not SCORE.found:
        pytest.skip("Nothing could be planted.")
    with capsys.disabled():
        print(f"\n{SCORE}", flush=True)
    assert not SCORE.false_accusations
    assert SCORE.right >= LEAST_RIGHT * len(SCORE.found)
    poor = {kind: s for kind, s in SCORE.shares().items() if s < LEAST_RIGHT_OF_A_KIND}
    assert not poor

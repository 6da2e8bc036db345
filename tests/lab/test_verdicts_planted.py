"""The verdict names what was planted between hosts: a sample of tests/verify/test_verdicts.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from planted.conditions import IN_THE_LAB, OK, of_link
from planted.ground import Ground, NoGround
from planted.trials import Score, Trial, carry_out

from lab import links
from lab.conftest import measuring, ready
from lab.hosts import Host, Lab
from workbench.machines.profiles import Cpus
from workbench.messages.reasons import reasons_of

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
        for number, trial in enumerate(random.Random(3).sample(IN_THE_LAB, 2)):
            score.found += carry_out(trial, ground, tmp_path / f"server-{number}", hosts)
    finally:
        ground.close()
    assert not score.false_accusations, score
    assert score.right >= (1 - MOST_WRONG) * len(score.found), score


@pytest.fixture
def two_clients(lab: Lab) -> Iterator[list[Host]]:
    on_cores = (Cpus(server=[0]), Cpus(agent=[1]), Cpus(agent=[1]))
    yield from ready(lab.hosts[:3], *({"cpus": cpus} for cpus in on_cores))


def test_a_client_whose_link_is_late_since_the_calibration_is_named(
    two_clients: list[Host], tmp_path: Path
) -> None:
    trial = Trial(
        kind="late link",
        name="of one client",
        right=OK,
        apart=True,
        clients=("h2", "h3"),
        rates=(300,),
        seconds=5.0,
        timeout_s=5.0,
        plant=of_link(links.late, "h3", 40),
    )
    try:
        ground = Ground()
    except NoGround as reason:
        pytest.skip(str(reason))
    try:
        [found] = carry_out(trial, ground, tmp_path / "server", two_clients)
    finally:
        ground.close()
    assert found.right, found
    [slower] = [r for r in reasons_of(found.stop) if r.code == "client-slower"]
    about = slower.data()
    assert about["client"] == "h3" and about["p50_us"] > 40_000

"""Servers that keep up, with response times that scatter or rise, one that breaks off its
replies, and one that is out of descriptors: what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from chosen import chosen
from planted.conditions import FAULTY, NOBODY, OK, SERVER
from planted.ground import Ground, ground
from planted.trials import Found, Trial, carry_out

from workbench.analysis.faults import is_fault
from workbench.messages.reasons import reasons_of

pytestmark = pytest.mark.alone

__all__ = ["ground"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))


def judged(mode: str, right: frozenset[str], ground: Ground, folder: Path) -> Found:
    trial = Trial(
        kind="one point", name=mode, right=right, mode=mode, rates=(300,), seconds=2.0,
        timeout_s=4.0, calibrate=False, blames_server=True,
    )  # fmt: skip
    [found] = carry_out(trial, ground, folder / "server")
    return found


@pytest.mark.parametrize(
    ("mode", "said"),
    chosen([("rises:0.1", "response-times-rose"), ("scatters:1.6", "too-short-for-queue")], 1),
)
def test_a_server_that_keeps_up_is_ok_with_what_its_response_times_do(
    mode: str, said: str, ground: Ground, tmp_path: Path
) -> None:
    found = judged(mode, OK, ground, tmp_path)
    assert found.right, found
    [by] = [each.data() for each in reasons_of(found.stop) if each.code == said]
    if said == "too-short-for-queue":
        assert by["stay_s"] == pytest.approx(1.6, rel=0.1) and 6 <= by["needed_s"] <= 10
    else:
        assert by["last_us"] - by["first_us"] == pytest.approx(0.9 * 200_000, rel=0.2)


def test_a_server_that_resets_connections_within_replies_is_faulty(
    ground: Ground, tmp_path: Path
) -> None:
    """It is, even if a client takes some resets for timeouts, a sign of saturation."""
    found = judged("half-reset", FAULTY, ground, tmp_path)
    assert found.right, found
    assert any(map(is_fault, found.stop.counts.errors))


def test_a_server_out_of_the_descriptors_that_it_gave_itself_is_named(
    ground: Ground, tmp_path: Path
) -> None:
    """Whether other programs are busy or not: its own limit is far below the plan's."""
    found = judged("few:0.3", SERVER | NOBODY, ground, tmp_path)
    assert found.right, found
    by_code = {each.code: each.data() for each in reasons_of(found.stop)}
    assert by_code["descriptors-used-up"]["limit"] == 40

"""Servers limited by a planted cause: how often it is named first, and that nothing is
named for servers without a limit."""

from __future__ import annotations

import pytest
from planted.causes import HEALTHY, PLANTED, Named, Planted, carry_out, within_limits
from planted.ground import Ground, ground

__all__ = ["ground"]

TRIES = 3
"""Where other programs had the CPU, which is then what is named."""
FOUND: list[Named] = []


pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_a_cause(planted: Planted, ground: Ground) -> None:
    for _ in range(TRIES):
        low, high = carry_out(planted, ground)
        if not high.cause or high.cause.code != "cpu-contended":
            break
    FOUND.append(high)
    if planted.healthy:
        assert low.cause is None or low.cause.code == "cpu-contended", low


@pytest.mark.parametrize("mode", HEALTHY)
def test_a_healthy_server_has_no_cause(mode: str, ground: Ground) -> None:
    named = [each for each in within_limits(mode, ground) if each.cause]
    assert not [n for n in named if not n.cause or n.cause.code != "cpu-contended"], named


def test_causes_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    if not FOUND:
        pytest.skip("Nothing could be planted.")
    with capsys.disabled():
        print("", *FOUND, sep="\n", flush=True)
    assert sum(each.right for each in FOUND) >= 11 / 12 * len(FOUND)

"""Servers that keep up, with response times that scatter or rise: what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted.conditions import OK
from planted.ground import Ground, ground
from planted.trials import Trial, carry_out

from workbench.messages.reasons import Reason, ResponseTimesRose, TooShortForQueue, reasons_of

pytestmark = pytest.mark.alone

__all__ = ["ground"]


@pytest.mark.parametrize(
    ("mode", "said"), [("scatters:1.6", TooShortForQueue), ("rises:0.1", ResponseTimesRose)]
)
def test_a_server_that_keeps_up_is_ok_with_what_its_response_times_do(
    mode: str, said: type[Reason], ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    trial = Trial(
        kind="healthy",
        name=mode,
        right=OK,
        mode=mode,
        rates=(300,),
        seconds=2.0,
        timeout_s=4.0,
        calibrate=False,
    )
    [found] = carry_out(trial, ground, tmp_path / "server")
    assert found.right, found
    [reason] = [each for each in reasons_of(found.stop) if isinstance(each, said)]
    if isinstance(reason, TooShortForQueue):
        assert reason.stay_s == pytest.approx(1.6, rel=0.1) and 6 <= reason.needed_s <= 10
    if isinstance(reason, ResponseTimesRose):
        assert reason.last_us - reason.first_us == pytest.approx(0.9 * 200_000, rel=0.2)

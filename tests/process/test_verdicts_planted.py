"""The verdict names the planted cause, of which tests/verify/test_verdicts.py has many: clients
without CPU time. Limits of servers are in test_limit_causes.py, faults in test_faulty.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted.conditions import STARVED
from planted.ground import Ground, ground
from planted.trials import carry_out

pytestmark = pytest.mark.alone

__all__ = ["ground"]


def test_the_verdict_names_the_planted_cause(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    (starved,) = (trial for trial in STARVED if trial.name == "uncalibrated")
    found = carry_out(starved, ground, tmp_path / "server")
    assert not any(each.accuses for each in found), found
    assert sum(each.right for each in found) >= len(found) / 2, found

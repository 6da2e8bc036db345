"""Sessions recorded by earlier versions give the same results as then."""

from __future__ import annotations

import json
from pathlib import Path

import golden
import pytest


@pytest.mark.parametrize("path", golden.SESSIONS, ids=lambda path: path.name)
def test_a_recorded_session_reads_as_when_it_was_recorded(path: Path) -> None:
    before = json.loads(golden.kept(path).read_text())

    assert golden.lost(before, json.loads(json.dumps(golden.results(path)))) == []


def test_a_changed_figure_is_noticed() -> None:
    before = json.loads(golden.kept(golden.SESSIONS[0]).read_text())
    after = json.loads(golden.kept(golden.SESSIONS[0]).read_text())
    server = next(iter(after["summary"]["servers"].values()))
    server["points"][0]["replies_per_s"] += 1

    assert golden.lost(before, after)

"""Sessions recorded earlier give the same results as then, and renderers write the same."""

from __future__ import annotations

import json
from pathlib import Path

import golden
import pytest
import rendered


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


@pytest.mark.parametrize("name", rendered.written())
def test_what_a_renderer_writes_changes_only_with_it(name: str) -> None:
    found = rendered.written()[name]()

    kept = {ending: (rendered.HERE / f"{name}.{ending}").read_bytes().decode() for ending in found}
    assert found == kept, "if this is meant: python tests/rendered.py"

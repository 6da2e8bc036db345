"""No two runs on the same cores unnoticed: refused, beside each other, or one after the other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from a_run import STREAMS, Home, Running, of
from oracle import eventually

from workbench.documents import Note, RunStop
from workbench.messages.base import Said
from workbench.messages.notes import notice
from workbench.messages.topics import read_note


@pytest.fixture
def first(home: Home, launch: Callable[[Path], Running]) -> Running:
    """A run that takes a minute."""
    rates = list(range(100, 160))
    running = launch(home.plan([STREAMS], name="First", rates=rates))
    running.wait_until(lambda run: '"kind":"point_stop"' in run.recorded())
    return running


def another_run(running: Running) -> list[Said]:
    found = [read_note(note) for note in of(Note, running.read().documents)]
    return [note for note in found if note.code == "another-run"]


def test_a_second_run_is_refused_or_runs_beside_the_first_or_after_it(
    home: Home, first: Running, tmp_path: Path
) -> None:
    plan = home.plan([STREAMS], name="Second", rates=[100])
    refused = home.launch(plan, tmp_path / "refused.yaml")
    assert refused.end() == 1
    (reported,) = refused.told().splitlines()
    assert reported.startswith(
        "pongbench: 'First' has been running on localhost (target and client) since "
    )
    assert " left, and " in reported and "use --wait or --anyway" in reported
    assert not refused.session.exists()

    waiting = home.launch(plan, tmp_path / "waiting.yaml", "--wait")
    waiting.wait_until(lambda run: "Waiting: 'First' has been" in run.told())

    beside = home.launch(plan, tmp_path / "beside.yaml", "--anyway")
    assert beside.end() == 0
    assert another_run(beside) == [notice("another-run", title="First", machines=["localhost"])]
    assert eventually(lambda: another_run(first))
    assert another_run(first) == [notice("another-run", title="Second", machines=["localhost"])]

    # The claim of a program that was killed lapses.
    assert not waiting.session.exists()
    first.process.kill()
    assert waiting.end() == 0
    assert another_run(waiting) == []
    end = waiting.read().documents[-1]
    assert isinstance(end, RunStop) and end.status == "done"
    home.wait_until_clean()
    assert list((home.folder / "data" / "claims").iterdir()) == []

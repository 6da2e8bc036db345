"""Runs from a shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from a_run import Home, Running


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """One for all tests of a file, so that runtimes are made once."""
    return Home(tmp_path_factory.mktemp("home"))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return tmp_path / "run.pong.yaml"


@pytest.fixture
def launch(home: Home, session: Path) -> Iterator[Callable[[Path], Running]]:
    """Start a run that is ended with the test, however the test ends."""
    started: list[Running] = []

    def start(plan: Path, *, home: Home = home) -> Running:
        started.append(home.launch(plan, session))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()

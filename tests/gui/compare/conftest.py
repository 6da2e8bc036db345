"""Two sessions, and the page on which they are compared."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.compare import ComparePage
from tests.gui.compare.steps import RATES, built, elsewhere, slower
from tests.recording import record_session
from tests.synthetic import session
from workbench import paths


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    return paths.data_dir() / "sessions"


@pytest.fixture
def a(tmp_path: Path) -> Path:
    return record_session(tmp_path / "a.pong.yaml", session(3, rates=RATES))


@pytest.fixture
def b(tmp_path: Path) -> Path:
    """gevent and the streams sustain less, on another kernel."""
    return record_session(tmp_path / "b.pong.yaml", elsewhere(session(slower(3, 0.5), rates=RATES)))


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> ComparePage:
    return built(qtbot, desk)

"""The Sessions page, and where its sessions are."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app import theme
from app.bridge import Bridge
from app.context import Desk
from app.pages.sessions import SessionsPage
from app.settings import Settings
from tests.gui.sessions.steps import made
from workbench import paths
from workbench.sessions.library import shelf


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    folder = paths.data_dir() / "sessions"
    folder.mkdir(parents=True)
    (tmp_path / "xdg").mkdir()
    return folder


@pytest.fixture
def desk(bridge: Bridge) -> Iterator[Desk]:
    made = Desk(bridge, theme.LIGHT, Settings())

    def read() -> None:
        work = asyncio.to_thread(lambda known: shelf(known=known), made.shelf)
        bridge.submit(work, made.set_shelf)

    made.shelf_stale.connect(read)
    yield made
    made.deleteLater()


@pytest.fixture
def page(qtbot: QtBot, desk: Desk, home: Path) -> SessionsPage:
    return made(qtbot, desk)

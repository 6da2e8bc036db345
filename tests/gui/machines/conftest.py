"""The Machines page, and a machine that can be reached over SSH."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot
from sshd import at_home

from app import theme
from app.bridge import Bridge
from app.context import Desk
from app.log import LogBook
from app.pages.machines import MachinesPage
from app.settings import Settings
from tests.gui.machines.host import Host
from tests.gui.machines.steps import opened
from workbench.machines.profiles import make_profile, save_profile


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    at_home(tmp_path, monkeypatch, patience_s=40)
    return tmp_path


@pytest.fixture
def host() -> Iterator[Host]:
    made = Host()
    yield made
    made.close()


@pytest.fixture
def desk(bridge: Bridge) -> Iterator[Desk]:
    book = LogBook()
    logger = logging.getLogger("workbench")
    before = logger.level
    logger.addHandler(book)
    logger.setLevel(logging.INFO)
    made = Desk(bridge, theme.LIGHT, Settings(), book)
    yield made
    made.deleteLater()
    logger.removeHandler(book)
    logger.setLevel(before)


@pytest.fixture
def page(qtbot: QtBot, desk: Desk) -> MachinesPage:
    return opened(qtbot, desk)


@pytest.fixture
def box(host: Host, home: Path, desk: Desk) -> str:
    values = {"connector": "ssh", "address": "127.0.0.1", "port": host.port, "user": "bench"}
    values |= {"auth": "password", "work_dir": str(home / "work"), "python": sys.executable}
    save_profile(make_profile({"name": "box", **values}))
    desk.machines_changed.emit()
    return "box"

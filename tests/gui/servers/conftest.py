"""The Servers page with the catalogue and an empty folder for the user's own servers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.context import Desk
from app.pages.servers import ServersPage
from app.widgets import dress
from tests.gui.servers.steps import Open


@pytest.fixture
def own_servers(home: Path) -> Path:
    """The folder of the user's servers; it does not exist yet."""
    return home / "data" / "servers"


@pytest.fixture
def opened(qtbot: QtBot, desk: Desk) -> Open:
    """Makes a page and waits until it shows the catalogue."""

    def make() -> ServersPage:
        page = ServersPage(desk)
        dress(page, desk.theme)
        qtbot.addWidget(page)
        page.resize(1280, 800)
        page.show()
        page.activateWindow()
        qtbot.waitUntil(lambda: bool(page.table.model().servers()))
        return page

    return make


@pytest.fixture
def page(opened: Open) -> ServersPage:
    return opened()

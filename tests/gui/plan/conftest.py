"""A window that shows the Plan page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.pages.plan import PlanPage
from app.shell.main_window import MainWindow
from tests.gui.plan.steps import opened
from tests.gui.windows import shown


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with shown(qtbot) as made:
        made.resize(1280, 800)
        yield made


@pytest.fixture
def page(qtbot: QtBot, window: MainWindow) -> PlanPage:
    return opened(qtbot, window)

"""The start page where something is out of reach: the package index, or Linux itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.shell.main_window import MainWindow
from tests.gui.windows import control, press, says, shown
from workbench import uv

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[MainWindow]:
    request.getfixturevalue("away")
    with shown(qtbot) as window:
        qtbot.waitUntil(lambda: bool(window.start.compare.servers.count()))
        yield window


class TestWithoutNetwork:
    @pytest.fixture
    def away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
        # What the window of another test was told a moment ago does not count.
        monkeypatch.setattr(uv, "ASKED_AGAIN_AFTER_S", 0.001)

    def test_only_what_runs_is_offered_and_the_rest_is_explained(
        self, qtbot: QtBot, window: MainWindow
    ) -> None:
        qtbot.waitUntil(lambda: says(window, "left out: their packages are not on this computer"))
        offered = set(window.start.compare.servers.ids())
        assert "asyncio-streams" in offered and not {"twisted", "tornado"} & offered
        window.desk.run_requested.disconnect(window.run)
        with qtbot.waitSignal(window.desk.run_requested) as wanted:
            press(window, "Run Quick look")
        assert len(wanted.args[0].servers) > 1
        assert "twisted" not in wanted.args[0].servers


class TestWhereNoServersRun:
    @pytest.fixture
    def away(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "win32")

    def test_it_leads_to_a_machine_and_to_the_recorded_session(
        self, qtbot: QtBot, window: MainWindow
    ) -> None:
        told = "use a machine over SSH instead of this computer"
        qtbot.waitUntil(lambda: says(window.start.compare, told))
        assert not control(window, "Run the comparison").isEnabled()
        press(window, "Add a machine")
        assert window.page("Machines").isVisible()
        window.show_page("Start")
        press(window, "Replay the sample")
        qtbot.waitUntil(window.film.isVisible)

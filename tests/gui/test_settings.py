"""Settings: kept, shown and applied."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app import theme
from app.application import Keeper
from app.dialogs import Confirmation
from app.settings import Settings, SettingsFile
from app.shell.main_window import MainWindow
from app.widgets import Elided
from tests.gui.windows import control, press, says, shown, the
from workbench import paths

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[MainWindow]:
    with shown(qtbot) as made:
        yield made


def test_settings_are_restored_at_the_next_start() -> None:
    first = SettingsFile()
    kept = first.load()
    kept.colours, kept.page, kept.more["plan"] = "dark", "Sessions", {"name": "Mine"}
    first.write(first.changes(kept))
    again = SettingsFile().load()
    assert (again.colours, again.page, again.more) == (
        "dark",
        "Sessions",
        {"plan": {"name": "Mine"}},
    )


def test_two_windows_keep_their_own_changes_and_the_last_change_to_a_field() -> None:
    one, other = SettingsFile(), SettingsFile()
    first, second = one.load(), other.load()
    first.colours, first.more["plan"], first.page = "dark", 1, "Live"
    second.log_scale, second.more["film"], second.page = False, 2, "Sessions"
    one.write(one.changes(first))
    other.write(other.changes(second))
    kept = SettingsFile().load()
    assert (kept.colours, kept.log_scale, kept.page) == ("dark", False, "Sessions")
    assert kept.more == {"plan": 1, "film": 2}


def test_windows_that_write_at_the_same_time_never_leave_a_torn_file(home: Path) -> None:
    def write(name: str) -> None:
        file = SettingsFile()
        mine = file.load()
        for value in range(20):
            mine.more[name] = value
            file.write(file.changes(mine))

    writers = [threading.Thread(target=write, args=(f"page {n}",)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert SettingsFile().load().more == {f"page {n}": 19 for n in range(4)}
    assert [p.name for p in (home / "config").glob("[!.]*")] == ["settings.json"]
    assert list((home / "config").glob(".*.part")) == []


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1, 2]", b"\xff\xfe\x00", b"[" * 100_000, b"null"]
)
def test_damaged_settings_are_set_aside_and_reported(home: Path, content: bytes) -> None:
    path = home / "config" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(content)
    file = SettingsFile()
    assert file.load() == Settings()
    assert file.complaint.endswith(
        "defaults are used. The old file is kept as settings.json.damaged."
    )
    assert path.with_name("settings.json.damaged").read_bytes() == content


def test_an_invalid_field_gets_its_default(home: Path) -> None:
    path = home / "config" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"colours": 7, "log_scale": "yes", "page": "Sessions", "new": 1}))
    kept = SettingsFile().load()
    assert (kept.colours, kept.log_scale, kept.page) == ("system", True, "Sessions")


def test_settings_that_cannot_be_saved_are_reported_once_and_the_window_keeps_working(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    (home / "config").write_text("in the way")
    keeper = Keeper(window.desk, SettingsFile(), window)
    window.desk.settings.colours = "dark"
    keeper.keep()
    qtbot.waitUntil(lambda: "cannot be saved" in window.notice.text)
    assert "They are lost when this window closes" in window.notice.text
    assert not keeper.isActive()
    press(window, "Dismiss")
    assert not window.notice.isVisible()


def test_the_first_page_is_the_one_visited_last(qtbot: QtBot) -> None:
    with shown(qtbot, Settings(page="Sessions")) as window:
        assert window.sessions.isVisible()
    with shown(qtbot, Settings(page="A page of another version")) as window:
        assert window.start.isVisible()


def test_the_first_window_fills_a_small_screen_and_cuts_nothing_off(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.hide()
    window.appear()
    screen = window.screen().availableGeometry()
    assert screen.height() <= 800
    qtbot.waitUntil(window.isMaximized)
    qtbot.waitUntil(lambda: screen.contains(window.frameGeometry()))


def ground(window: MainWindow) -> str:
    image = window.grab().toImage()
    return image.pixelColor(window.width() - 4, window.height() - 4).name().upper()


def test_colours_are_chosen_in_the_settings_and_apply_at_once(
    qtbot: QtBot, window: MainWindow
) -> None:
    qtbot.keyClick(window, Qt.Key.Key_Comma, Qt.KeyboardModifier.ControlModifier)
    assert window.page("Settings").isVisible()
    press(window, "Colours: dark")
    assert ground(window) == theme.DARK.bg
    press(window, "Colours: light")
    assert ground(window) == theme.LIGHT.bg
    assert window.desk.settings.colours == "light"


def test_colours_follow_the_system_unless_others_were_chosen(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(theme, "system_theme", lambda: theme.DARK)
    window.desk.theme_changed.emit()
    assert ground(window) == theme.DARK.bg
    window.desk.settings.colours = "light"
    window.desk.theme_changed.emit()
    assert ground(window) == theme.LIGHT.bg


def test_folders_are_shown_with_their_size_and_the_cache_is_cleared_when_asked(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    runtime = home / "cache" / "runtimes" / "python-1"
    runtime.mkdir(parents=True)
    (runtime / "wheel").write_bytes(b"x" * 3_000_000)
    window.show_page("Settings")
    page = window.page("Settings")
    qtbot.waitUntil(lambda: says(page, "3 MB"))
    assert str(paths.data_dir()) in [each.whole for each in page.findChildren(Elided)]
    assert says(page, "Deleted items, for 30 days, at most 2 GB")
    press(page, "Clear cache…")
    question = the(page, Confirmation)
    assert says(question, "Remove 3 MB")
    assert control(question, "Cancel").isDefault()
    press(question, "Clear cache")
    qtbot.waitUntil(lambda: says(page, "3 MB freed."))
    assert not runtime.exists()
    clear = control(page, "Clear cache…")

    def states_why() -> bool:
        middle = clear.geometry().center().y()
        sizes = [each for each in page.findChildren(QLabel) if each.text() == "empty"]
        return any(abs(each.geometry().center().y() - middle) <= 1 for each in sizes)

    qtbot.waitUntil(lambda: states_why() and not clear.isEnabled())


def test_the_cache_is_not_cleared_during_a_run(window: MainWindow) -> None:
    window.show_page("Settings")
    window.desk.set_busy(True)
    try:
        assert says(window, "In use by the current run")
        assert not control(window, "Clear cache…").isEnabled()
    finally:
        window.desk.set_busy(False)

"""The whole window: settings, log, unexpected errors, help, shortcuts, accessibility."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox
from pytestqt.qtbot import QtBot

from app import page_registry, theme
from app.about.box import AboutBox
from app.charts.chart import Chart
from app.context import Desk
from app.log import LogBook
from app.settings import Settings, SettingsFile
from app.settings_autosave import Keeper
from app.shell.main_window import MainWindow
from app.theme import Theme
from app.widgets import Elided
from tests.gui.windows import PATIENCE_MS, control, offers, press, says, shown
from workbench import paths
from workbench.errors import PongbenchError
from workbench.servers import user_servers

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def book() -> Iterator[LogBook]:
    """The log of a started program, restored afterwards."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    hooks = sys.excepthook, sys.unraisablehook, threading.excepthook
    levels = {name: logging.getLogger(name).level for name in ("app", "workbench")}
    made = LogBook()
    made.install()
    yield made
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    logging.captureWarnings(False)
    sys.excepthook, sys.unraisablehook, threading.excepthook = hooks


@pytest.fixture
def window(qtbot: QtBot, book: LogBook) -> Iterator[MainWindow]:
    with shown(qtbot, book=book) as made:
        yield made


# Settings


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
    second.calm, second.more["film"], second.page = True, 2, "Sessions"
    one.write(one.changes(first))
    other.write(other.changes(second))
    kept = SettingsFile().load()
    assert (kept.colours, kept.calm, kept.page) == ("dark", True, "Sessions")
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
    path.write_text(json.dumps({"colours": 7, "calm": "yes", "page": "Sessions", "new": 1}))
    kept = SettingsFile().load()
    assert (kept.colours, kept.calm, kept.page) == ("system", False, "Sessions")


def test_settings_that_cannot_be_saved_are_reported_once_and_the_window_keeps_working(
    qtbot: QtBot, window: MainWindow, home: Path
) -> None:
    (home / "config").write_text("in the way")
    keeper = Keeper(window.desk, SettingsFile(), window)
    for colours in ("dark", "light", "dark"):
        window.desk.settings.colours = colours
        keeper.keep()
    qtbot.waitUntil(lambda: "cannot be saved" in window.notice.text)
    assert "They are lost when this window closes" in window.notice.text
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


# Preferences


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


def test_reduced_motion_stops_the_pulse_of_the_running_point(window: MainWindow) -> None:
    """On the pages there are and on those that are built later."""
    window.show_page("Settings")
    press(window, "Reduce motion (no animation of the running point)")
    assert window.desk.settings.calm
    for page in (window.live, window.film):
        assert not any(chart.breathes for chart in page.findChildren(Chart))


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
    (question,) = page.findChildren(QMessageBox)
    assert "Remove 3 MB" in question.text()
    assert question.defaultButton().text() == "Cancel"
    (yes,) = [b for b in question.buttons() if b.text() == "Clear cache"]
    yes.click()
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


# Help and versions


def test_f1_shows_shortcuts_and_glossary(qtbot: QtBot, window: MainWindow) -> None:
    qtbot.keyClick(window, Qt.Key.Key_F1)
    page = window.page("Help")
    assert page.isVisible()
    for text in ("Ctrl+Shift+C", "Copy the chart", "From the scheduled time of a call"):
        assert says(page, text)


def test_escape_returns_from_help_and_settings(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Sessions")
    qtbot.keyClick(window, Qt.Key.Key_F1)
    window.show_page("Settings")
    assert window.page("Settings").isVisible()
    qtbot.keyClick(window.page("Settings"), Qt.Key.Key_Escape)
    assert window.page("Sessions").isVisible()


def test_a_server_put_into_the_folder_appears_when_the_window_is_active_again(
    qtbot: QtBot, window: MainWindow
) -> None:
    received: list[None] = []
    window.desk.servers_changed.connect(lambda: received.append(None))
    names = (f"Dropped in {n}" for n in count())

    def come_back_to_another_server() -> bool:
        user_servers.new(next(names))
        QApplication.sendEvent(window, QEvent(QEvent.Type.WindowActivate))
        return bool(received)

    # The first times may come before the folder was read at all.
    qtbot.waitUntil(come_back_to_another_server)
    with qtbot.waitSignal(window.desk.servers_changed):
        qtbot.keyClick(window, Qt.Key.Key_F5)


def test_versions_and_licences_can_be_read_and_copied(qtbot: QtBot, window: MainWindow) -> None:
    window.show_page("Settings")
    press(window, "About Pongbench")
    box = window.findChild(AboutBox)
    assert box is not None
    qtbot.waitUntil(lambda: box.parts.count() > 0)
    press(box, "Copy versions")
    copied = QGuiApplication.clipboard().text()
    for name in ("Pongbench", "Python", "Qt", "PySide6", "pyqtgraph", "asyncssh", "gevent"):
        assert name in copied
    for place in range(box.parts.count()):
        box.parts.setCurrentRow(place)
        assert len(box.text.toPlainText()) > 40
    box.accept()


# Log and unexpected errors


def test_an_unexpected_error_is_one_sentence_and_the_rest_is_in_the_log(
    window: MainWindow, qtbot: QtBot
) -> None:
    def slot() -> None:
        raise ZeroDivisionError("a slot divided by zero")

    QTimer.singleShot(0, slot)
    qtbot.waitUntil(window.notice.isVisible)
    assert "ZeroDivisionError: a slot divided by zero" in window.notice.text
    assert "Traceback" not in window.notice.text
    assert not offers(window.notice, "Open Settings")
    press(window.notice, "Show log")
    assert "in slot" in window.drawer.body.toPlainText()


@pytest.mark.parametrize("chosen", theme.THEMES.values(), ids=theme.THEMES)
def test_the_sign_of_the_first_notice_has_the_colours_of_the_window(
    qtbot: QtBot, desk: Desk, chosen: Theme
) -> None:
    desk.theme = chosen
    window = MainWindow(desk)
    qtbot.addWidget(window)
    window.notice.show_text("The settings are damaged.", "warn")
    (sign,) = (s.pixmap() for s in window.notice.findChildren(QLabel) if not s.pixmap().isNull())
    image = sign.toImage()
    at = [(x, y) for x in range(image.width()) for y in range(image.height())]
    assert chosen.warn.lower() in {image.pixelColor(x, y).name() for x, y in at}


def test_an_error_in_a_thread_or_in_the_engine_is_not_lost(
    window: MainWindow, qtbot: QtBot
) -> None:
    def fails() -> None:
        raise OSError("the thread tripped")

    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: "the thread tripped" in window.notice.text)

    async def trips() -> None:
        raise KeyError("the engine tripped")

    window.desk.bridge.submit(trips())
    qtbot.waitUntil(
        lambda: any("the engine tripped" in str(line) for line in window.desk.log.lines())
    )
    qtbot.waitUntil(lambda: control(window.notice, "Next (1 more)").isEnabled())
    press(window.notice, "Next (1 more)")
    assert "Unexpected error" in window.notice.text


def test_a_warning_puts_a_dot_on_the_log_until_it_is_read(window: MainWindow, qtbot: QtBot) -> None:
    entry = window.rail.entries["Log"]
    assert entry.accessibleDescription() == ""
    logging.getLogger("app.test").warning("The clock jumped by 3 s.")
    qtbot.waitUntil(lambda: entry.accessibleDescription() != "")
    press(window, "Log")
    assert entry.accessibleDescription() == ""
    assert "The clock jumped by 3 s." in window.drawer.body.toPlainText()
    qtbot.keyClick(window.drawer, Qt.Key.Key_Escape)
    assert not window.drawer.isVisible()


def test_the_log_is_filtered_copied_saved_and_cleared(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    log = logging.getLogger("app.test")
    log.info("A run began.")
    log.warning("The clock jumped.\nBy 3 s.")
    window.show_log(shown=True)
    drawer = window.drawer
    assert says(drawer, "2 entries")
    drawer.level.setCurrentText("Warnings and errors")
    assert says(drawer, "1 entry")
    shown_text = drawer.body.toPlainText()
    assert "The clock jumped." in shown_text
    assert "A run began." not in shown_text
    press(drawer, "Copy the log")
    assert QGuiApplication.clipboard().text() == shown_text
    drawer.save(tmp_path / "my.log")
    qtbot.waitUntil(lambda: "Saved: " in drawer.message.text)
    assert (tmp_path / "my.log").read_text() == shown_text + "\n"
    press(drawer, "Clear the log")
    assert "No entries at this level" in drawer.body.toPlainText()


def test_the_log_opens_where_its_latest_entry_begins(window: MainWindow) -> None:
    log = logging.getLogger("app.test")
    for number in range(40):
        log.info("Point %d was kept.", number)
    log.warning("The clock jumped.\n%s", "\n".join(f"frame {n}" for n in range(40)))
    window.show_log(shown=True)
    assert "The clock jumped." in window.drawer.body.firstVisibleBlock().text()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_reported_when_the_log_is_saved(window: MainWindow, qtbot: QtBot) -> None:
    logging.getLogger("app.test").info("A run began.")
    window.show_log(shown=True)
    window.drawer.save(Path("/dev/full"))
    qtbot.waitUntil(lambda: "the disk is full" in window.drawer.message.text)


# Keys


def test_every_entry_of_the_side_bar_has_its_key(window: MainWindow, qtbot: QtBot) -> None:
    for place, name in enumerate(page_registry.RAIL, start=1):
        qtbot.keyClick(window, Qt.Key(Qt.Key.Key_0 + place), Qt.KeyboardModifier.ControlModifier)
        assert window.page(name).isVisible()
        assert window.rail.entries[name].isChecked()


# The program as a whole


def program(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python that starts the window, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", **env},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=PATIENCE_MS / 1000,
        check=False,
    )


AT_FIRST_PAINT = """
import sys
from app.__main__ import main
from app.shell import main_window
paint, painted = main_window.MainWindow.paintEvent, []
def first(window, event):
    paint(window, event)
    if not painted:
        painted.append(window)
        {do}
def page_painted(window):
    {then}
    window.close()
main_window.MainWindow.warm_up = page_painted
main_window.MainWindow.paintEvent = first
sys.exit(main([]))
"""


def at_first_paint(do: str, then: str = "pass") -> str:
    """The program, which does something at its first paint and when its first page is painted."""
    return AT_FIRST_PAINT.format(do=do, then=then)


def test_the_first_paint_and_the_first_page_wait_for_nothing_they_do_not_need(home: Path) -> None:
    heavy = ["numpy", "pyqtgraph", "asyncio", "yaml", "msgspec", "workbench.run.engine", "asyncssh"]
    heavy += ["rich", "workbench.cli"]
    late = [
        "app.shell.keys",
        "app.shell.notice",
        "app.shell.refreshing",
        "app.widgets",
        "workbench.trash",
    ]
    look = "print([n for n in {} if n in sys.modules])"
    ended = program(
        at_first_paint(look.format(heavy + late), look.format(heavy)), PONGBENCH_HOME=str(home)
    )
    assert (ended.returncode, ended.stdout) == (0, "[]\n[]\n"), ended.stderr


def test_no_garbage_is_collected_while_the_window_is_imported() -> None:
    ended = program(
        "import gc; from app import binding; binding.load(); before = gc.get_stats();"
        " import app.application; print(gc.get_stats() == before)"
    )
    assert (ended.returncode, ended.stdout) == (0, "True\n"), ended.stderr


def test_the_first_paint_does_not_wait_for_the_font_of_code(home: Path) -> None:
    ended = program(
        at_first_paint(
            "from PySide6.QtGui import QFontDatabase; of = QFontDatabase.applicationFontFamilies;"
            " print({family.split()[0] for added in range(9) for family in of(added)})"
        ),
        PONGBENCH_HOME=str(home),
    )
    assert (ended.returncode, ended.stdout) == (0, "{'Inter'}\n"), ended.stderr


def test_without_any_installed_font_text_is_still_readable(home: Path) -> None:
    empty = home / "fonts.conf"
    empty.write_text('<?xml version="1.0"?><fontconfig></fontconfig>')
    ended = program(
        at_first_paint(
            "from PySide6.QtGui import QFontInfo, QRawFont; f = window.font();"
            " print(QFontInfo(f).family(), 0 in QRawFont.fromFont(f)"
            ".glyphIndexesForString('Which server holds up?'))"
        ),
        PONGBENCH_HOME=str(home),
        FONTCONFIG_FILE=str(empty),
    )
    assert (ended.returncode, ended.stdout) == (0, "Inter False\n"), ended.stderr


def test_a_larger_size_is_suggested_once_on_a_large_screen_that_is_not_scaled(home: Path) -> None:
    screen = {"x": 0, "y": 0, "width": 3840, "height": 2160, "dpr": 1, "name": "large"}
    screen |= {"logicalDpi": 96, "logicalBaseDpi": 96}
    file = home / "screen.json"
    file.write_text(json.dumps({"screens": [screen]}))
    show = at_first_paint("print(window.notice.text)")
    env = {"PONGBENCH_HOME": str(home), "QT_QPA_PLATFORM": f"offscreen:configfile={file}"}
    first, again = program(show, **env), program(show, **env)
    assert "small on a screen of 3,840 × 2,160 pixels" in first.stdout, first.stderr
    assert (again.returncode, again.stdout) == (0, "\n"), again.stderr


def test_ctrl_c_while_the_window_is_painted_closes_it_without_complaint(home: Path) -> None:
    ended = program(
        at_first_paint("import signal; signal.raise_signal(signal.SIGINT); return"),
        PONGBENCH_HOME=str(home),
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_damaged_settings_do_not_keep_the_window_from_opening(home: Path) -> None:
    path = home / "config" / "settings.json"
    path.parent.mkdir()
    path.write_text("{ damaged")
    ended = program(at_first_paint("print(window.notice.text)"), PONGBENCH_HOME=str(home))
    assert ended.returncode == 0, ended.stderr
    assert "are damaged; defaults are used" in ended.stdout


def test_settings_that_cannot_be_saved_on_exit_are_reported_on_the_terminal(home: Path) -> None:
    (home / "config").write_text("in the way")
    ended = program(at_first_paint("pass"), PONGBENCH_HOME=str(home))
    assert ended.returncode == 1
    assert "Settings cannot be saved" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_settings_that_cannot_be_written_are_refused_with_a_message(home: Path) -> None:
    (home / "config").write_text("in the way")
    file = SettingsFile()
    file.load()
    with pytest.raises(PongbenchError, match=r"Settings cannot be saved in .*config: "):
        file.write({"colours": '"dark"'})

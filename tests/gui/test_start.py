"""The program from its start to its first page, and its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import SettingsFile
from tests.gui.windows import PATIENCE_MS
from workbench.errors import PongbenchError


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
main_window.MainWindow.warm_up = lambda window: window.close()
main_window.MainWindow.paintEvent = first
sys.exit(main([]))
"""


def at_first_paint(do: str) -> str:
    """The program, which does something at its first paint, and ends."""
    return AT_FIRST_PAINT.format(do=do)


def test_the_charts_are_built_after_the_first_paint(home: Path) -> None:
    charts = ["app.charts.chart", "pyqtgraph", "asyncssh"]
    look = f"import sys; print([name for name in {charts} if name in sys.modules])"
    ended = program(at_first_paint(look), PONGBENCH_HOME=str(home))
    assert (ended.returncode, ended.stdout) == (0, "[]\n"), ended.stderr


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

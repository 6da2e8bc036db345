"""The tour once more on a screen: an X server, a window manager, a real pointer and real keys."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.window.screens import MISSING, PATIENCE_S, ROOT, environment, program, until, xdotool
from tests.window.screens import screen as a_screen

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"this machine lacks {', '.join(MISSING)}; `make test` installs them"
)


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    with a_screen() as display:
        yield display


def test_the_tour_with_a_real_pointer_and_real_keys(screen: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/gui/test_tour.py"],
        env={
            **environment(screen, tmp_path),
            "QT_QPA_PLATFORM": "xcb",
            "PONGBENCH_HANDS": "xdotool",
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=550,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]


def test_the_program_opens_and_closes_without_complaint(screen: str, tmp_path: Path) -> None:
    with program(screen, tmp_path) as (started, window):
        xdotool(screen, "windowactivate", "--sync", window)
        xdotool(screen, "key", "--window", "0", "ctrl+comma")
        xdotool(screen, "key", "--window", "0", "ctrl+q")
        _, complaints = started.communicate(timeout=PATIENCE_S)
        assert (started.returncode, complaints) == (0, "")


def test_a_suspended_window_responds_again(screen: str, tmp_path: Path) -> None:
    with program(screen, tmp_path) as (started, window):
        started.send_signal(signal.SIGSTOP)
        xdotool(screen, "windowsize", window, "960", "620")
        started.send_signal(signal.SIGCONT)
        until(lambda: "960x620" in xdotool(screen, "getwindowgeometry", window))
        xdotool(screen, "windowactivate", "--sync", window)
        xdotool(screen, "key", "--window", "0", "ctrl+q")
        _, complaints = started.communicate(timeout=PATIENCE_S)
        assert (started.returncode, complaints) == (0, "")


def test_position_and_size_of_the_window_are_saved(screen: str, tmp_path: Path) -> None:
    def geometry(window: str) -> str:
        return xdotool(screen, "getwindowgeometry", window).partition("Geometry")[2]

    with program(screen, tmp_path) as (started, window):
        xdotool(screen, "windowsize", window, "1100", "700")
        until(lambda: "1100x700" in geometry(window))
        xdotool(screen, "windowactivate", "--sync", window)
        xdotool(screen, "key", "--window", "0", "ctrl+q")
        started.communicate(timeout=PATIENCE_S)
    with program(screen, tmp_path) as (_, window):
        until(lambda: "1100x700" in geometry(window))


def test_ctrl_c_in_the_terminal_closes_the_window(screen: str, tmp_path: Path) -> None:
    with program(screen, tmp_path) as (started, _):
        started.send_signal(signal.SIGINT)
        _, complaints = started.communicate(timeout=PATIENCE_S)
        assert (started.returncode, complaints) == (0, "")


def test_two_open_windows_are_independent(screen: str, tmp_path: Path) -> None:
    with program(screen, tmp_path) as (one, first), program(screen, tmp_path) as (other, second):
        assert first != second
        for started, window in ((one, first), (other, second)):
            xdotool(screen, "windowactivate", "--sync", window)
            xdotool(screen, "key", "--window", "0", "ctrl+q")
            _, complaints = started.communicate(timeout=PATIENCE_S)
            assert (started.returncode, complaints) == (0, "")


def test_a_missing_display_is_reported_in_one_sentence(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "app"],
        env=environment(":9999", tmp_path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "could not connect to display :9999" in ended.stderr

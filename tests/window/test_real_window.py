"""The tour once more on a screen: an X server, a window manager, a real pointer and real keys."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("Xvfb", "openbox", "xdotool")
LIBRARIES = ("libxcb-cursor.so.0", "libxkbcommon-x11.so.0", "libxcb-icccm.so.4")


def _there(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


MISSING = [name for name in NEEDED if shutil.which(name) is None]
MISSING += [name for name in LIBRARIES if not _there(name)]
PATIENCE_S = 120.0
"""For what a quiet machine does at once."""

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        bool(MISSING), reason=f"this machine lacks {', '.join(MISSING)}; `make test` installs them"
    ),
]


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    """The display of an X server with a window manager, which keyboard input needs."""
    reading, writing = os.pipe()
    size = ["-screen", "0", "1440x900x24", "-nolisten", "tcp", "-dpi", "96"]
    x = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), *size],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as stream:
        display = f":{stream.readline().strip()}"
    manager = subprocess.Popen(
        ["openbox"],
        env={**os.environ, "DISPLAY": display},
        stderr=subprocess.DEVNULL,
    )
    try:
        yield display
    finally:
        for program in (manager, x):
            program.terminate()
            program.wait(PATIENCE_S)


def environment(display: str, home: Path) -> dict[str, str]:
    env = {**os.environ, "DISPLAY": display, "PONGBENCH_HOME": str(home), "LANG": "C.UTF-8"}
    env.pop("QT_QPA_PLATFORM", None)
    return env


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


def xdotool(display: str, *words: str) -> str:
    """What it prints; nothing when it found nothing."""
    return subprocess.run(
        ["xdotool", *words],
        env={**os.environ, "DISPLAY": display},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    ).stdout.strip()


@contextmanager
def program(display: str, home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The program as a person starts it, and the id of its window."""
    started = subprocess.Popen(
        [sys.executable, "-m", "app"],
        env=environment(display, home),
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        search = (
            "search",
            "--all",
            "--onlyvisible",
            "--pid",
            str(started.pid),
            "--name",
            "Pongbench",
        )
        window = until(lambda: xdotool(display, *search).split("\n")[0])
        yield started, window
    finally:
        started.kill()
        started.communicate()


def until(found: Callable[[], object]) -> str:
    """Ask repeatedly until there is an answer."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if answer := found():
            return str(answer)
        time.sleep(0.05)
    raise AssertionError("it did not come")


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

"""A screen of its own: an X server, a window manager, and hands."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
NEEDED = ("Xvfb", "openbox", "xdotool")
LIBRARIES = ("libxcb-cursor.so.0", "libxkbcommon-x11.so.0", "libxcb-icccm.so.4")


def there(name: str) -> bool:
    """Is this program, file or library on this machine?"""
    if ".so." not in name:
        return shutil.which(name) is not None
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


MISSING = [name for name in (*NEEDED, *LIBRARIES) if not there(name)]
PATIENCE_S = 120.0
"""For what a quiet machine does at once."""


@contextmanager
def screen() -> Iterator[str]:
    """The display of an X server with a window manager, which keyboard input needs."""
    reading, writing = os.pipe()
    # Without repetition, or a key that a busy machine releases late would be pressed twice.
    options = ["-screen", "0", "1440x900x24", "-nolisten", "tcp", "-dpi", "96", "-r"]
    x = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), *options],
        pass_fds=(writing,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writing)
    with os.fdopen(reading) as stream:
        display = f":{stream.readline().strip()}"
    manager = subprocess.Popen(
        ["openbox"], env={**os.environ, "DISPLAY": display}, stderr=subprocess.DEVNULL
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

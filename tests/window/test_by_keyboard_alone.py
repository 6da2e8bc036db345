"""A session replayed, exported and compared with real keys and nothing else, by somebody who reads
the screen through the accessibility tree of the platform (AT-SPI)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.recording import record_session
from tests.synthetic import session
from tests.window.reader import LAUNCHER, LIBRARY, Reader, bus
from tests.window.screens import (
    MISSING,
    ROOT,
    environment,
    screen,
    there,
    until,
    xdotool,
)

MISSING = [*MISSING, *(each for each in ("dbus-daemon", LAUNCHER, LIBRARY) if not there(each))]
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        bool(MISSING), reason=f"this machine lacks {', '.join(MISSING)}; `make test` installs them"
    ),
]
MOST_STOPS = 120
"""Of the Tab key, to any control of a page."""


class Person:
    """Has a keyboard, and hears what a screen reader says."""

    def __init__(self, display: str, reader: Reader) -> None:
        self._display, self._reader = display, reader
        self.unnamed: set[str] = set()

    def presses(self, *keys: str) -> None:
        for key in keys:
            xdotool(self._display, "key", key)

    def types(self, text: str) -> None:
        xdotool(self._display, "type", "--delay", "5", text)

    def hears(self, found: Callable[[list[tuple[str, str]]], object]) -> list[tuple[str, str]]:
        """Read the screen until it is so."""
        heard: list[tuple[str, str]] = []

        def so() -> bool:
            heard[:] = self._reader.read()
            return bool(found(heard))

        try:
            until(so)
        except AssertionError:
            pytest.fail(f"it did not come; on the screen: {[name for _, name in heard if name]}")
        return heard

    def reads(self, text: str) -> list[tuple[str, str]]:
        return self.hears(lambda heard: any(text in name for _, name in heard))

    def tabs_to(self, wanted: str) -> None:
        self.moves_to(wanted, "Tab")

    def moves_to(self, wanted: str, key: str) -> None:
        """Every stop on the way has a name."""
        for _ in range(MOST_STOPS):
            before = len(self._reader.hear())
            self.presses(key)
            until(lambda before=before: len(self._reader.hear()) > before)
            role, name = self._reader.stops[-1]
            if not name:
                self.unnamed.add(role)
            # On a busy machine, what is heard may be the stop before.
            if name == wanted and self._reader.focused() == wanted:
                return
        pytest.fail(f"{key} does not come to {wanted}: {self._reader.stops[-MOST_STOPS:]}")


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """In front of a recorded session."""
    recorded = tmp_path / "recorded.pong.yaml"
    record_session(recorded, session(3, 6))
    with screen() as display, bus() as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.delenv("DISPLAY", raising=False)
        reader = Reader()
        program = subprocess.Popen(
            [sys.executable, "-m", "app", str(recorded)],
            env={**environment(display, tmp_path), "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"},
            cwd=ROOT,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Person(display, reader)
        finally:
            program.kill()
            program.wait()


def test_a_session_is_read_exported_and_compared_with_keys_alone(
    person: Person, tmp_path: Path
) -> None:
    heard = person.hears(lambda heard: "table cell" in dict(heard))
    names = {name for role, name in heard if role == "table cell"}
    assert {"asyncio streams", "asyncio Protocol", "gevent"} <= names
    person.presses("ctrl+e")
    person.tabs_to("File")
    person.presses("ctrl+a")
    person.types(str(tmp_path / "look.html"))
    person.tabs_to("Export")
    person.presses("Return")
    person.reads("Saved")
    assert "gevent" in (tmp_path / "look.html").read_text("utf-8")
    person.presses("Escape")
    person.tabs_to("Compare")
    person.presses("Return")
    person.reads("Sustained rate")
    assert not person.unnamed

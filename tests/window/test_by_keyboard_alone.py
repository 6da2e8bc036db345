"""A plan chosen, run and stopped, its session replayed, exported and compared, with real keys and
nothing else, by somebody who reads the screen through the accessibility tree of the platform
(AT-SPI)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.window.reader import LAUNCHER, LIBRARY, Reader, bus
from tests.window.screens import MISSING, ROOT, environment, screen, there, until, xdotool

MISSING = [*MISSING, *(each for each in ("dbus-daemon", LAUNCHER, LIBRARY) if not there(each))]
pytestmark = [
    pytest.mark.alone,  # libatspi would run the main loop of other tests' Qt
    pytest.mark.skipif(
        bool(MISSING), reason=f"this machine lacks {', '.join(MISSING)}; `make test` installs them"
    ),
]
PLAN = f"""\
name: By keys alone
servers: [asyncio-streams, gevent]
order: sequential
rates: {[200 + rate for rate in range(60)]}
seconds: 1
calibrate: false
warm_up: {{rate_per_s: 100, seconds: 0.2}}
"""
"""Nobody waits for its end."""
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

    def hears_focus(self, name: str) -> None:
        until(lambda: name in self._reader.focused())

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
            if name == wanted and wanted in self._reader.focused():
                return
        pytest.fail(f"{key} does not come to {wanted}: {self._reader.stops[-MOST_STOPS:]}")


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """In front of the first page, with a plan of their own."""
    plans = tmp_path / "data" / "plans"
    plans.mkdir(parents=True)
    (plans / "by-keys-alone.yaml").write_text(PLAN)
    with screen() as display, bus() as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        monkeypatch.delenv("DISPLAY", raising=False)
        reader = Reader()
        program = subprocess.Popen(
            [sys.executable, "-m", "app"],
            env={**environment(display, tmp_path), "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"},
            cwd=ROOT,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Person(display, reader)
        finally:
            program.kill()
            program.wait()


def test_the_whole_flow_with_keys_alone(person: Person, tmp_path: Path) -> None:
    person.reads("Quick look")
    runs_a_plan_and_stops_it(person)
    replays_it(person)
    exports_it(person, tmp_path / "look.html")
    compares_it(person)
    assert not person.unnamed


def runs_a_plan_and_stops_it(person: Person) -> None:
    person.presses("ctrl+3")
    person.reads("Ready to run")
    person.tabs_to("Presets")
    person.presses("End")  # their own plans come last
    person.hears_focus("By keys alone")
    person.presses("Return", "ctrl+r")
    # A point was measured.
    person.hears(lambda heard: ("table cell", "asyncio streams") in heard)
    names = {name for _, name in person.reads("Running")}
    assert "By keys alone" in names
    person.presses("ctrl+period")
    person.reads("Stopped early")


def replays_it(person: Person) -> None:
    person.tabs_to("Replay")
    person.presses("Return")
    person.reads("Replay")
    heard = person.hears(lambda heard: "table cell" in dict(heard))
    assert "asyncio streams" in {name for role, name in heard if role == "table cell"}


def exports_it(person: Person, file: Path) -> None:
    person.presses("ctrl+e")
    person.hears_focus("File name:")
    person.presses("ctrl+a")
    person.types(str(file))
    person.presses("Return")
    person.reads("Saved")
    assert "asyncio streams" in file.read_text("utf-8")


def compares_it(person: Person) -> None:
    person.tabs_to("Compare")
    person.presses("Return")
    person.reads("Sustained rate")

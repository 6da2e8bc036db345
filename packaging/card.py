"""The whole way through the window of an installed program, as its user takes it:

    pongbench --python card.py PORT USER KEY FOLDER

Adds a machine over SSH (PORT of this computer), trusts its key, deploys a server script there and
tests it, sweeps it beside a shipped one while the plot follows, finds the session's YAML and
replays it. Pictures of the screen go to FOLDER, and to stdout a line of JSON for each part: what,
seconds, clicks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QAccessible, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QWidget

from app import application
from app.fields import TickList
from app.machines.records import HERE
from app.shell.main_window import MainWindow
from workbench import paths

NAME = "box"
OWN, SHIPPED = "My echo", "asyncio-streams"
PATIENCE_S = 300.0
"""Of one step; a sweep of two servers takes less."""

Steps = Iterator[Callable[[], object]]


class Hands:
    """What a user does with a keyboard and a pointer, and sees."""

    def __init__(self, window: MainWindow, folder: Path) -> None:
        self.window, self.folder = window, folder
        self.clicks = 0

    def press(self, name: str) -> None:
        """Click the visible button of that name."""
        self.clicks += 1
        self._button(name).click()

    def can_press(self, name: str) -> bool:
        return any(each.isEnabled() for each in self._buttons(name))

    def choose(self, box: QComboBox, value: str) -> None:
        self.clicks += 2
        box.setCurrentIndex(box.findData(value))
        box.activated.emit(box.currentIndex())

    def tick(self, names: TickList, name: str) -> None:
        """Click a name of a list with ticks."""
        self.clicks += 1
        names.itemClicked.emit(names.item(names.ids().index(name)))

    def type(self, name: str, text: str) -> None:
        """Into the field of that name, in place of what is there."""
        (field,) = [f for f in _seen(QLineEdit) if f.accessibleName() == name and f.isVisible()]
        self.clicks += 1
        field.selectAll()
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(field, QKeyEvent(kind, 0, _NO_KEYS, text))

    def says(self, text: str) -> bool:
        return any(text in each.text() for each in _seen(QLabel))

    def drawn(self) -> Callable[[], bool]:
        """Whether a second has passed, for the picture's sake."""
        until = time.monotonic() + 1
        return lambda: time.monotonic() > until

    def picture(self, name: str) -> None:
        """Of the whole screen, with dialogs."""
        QApplication.processEvents()
        self.window.screen().grabWindow(0).save(str(self.folder / f"{name}.png"))

    def _buttons(self, name: str) -> list[QAbstractButton]:
        return [each for each in _seen(QAbstractButton) if _name_of(each) == name]

    def _button(self, name: str) -> QAbstractButton:
        found = [each for each in self._buttons(name) if each.isEnabled()]
        if len(found) != 1:
            raise LookupError(f"{len(found)} buttons are called {name}")
        return found[0]


_NO_KEYS = QApplication.keyboardModifiers().NoModifier


def _seen(kind: type[Any]) -> list[Any]:
    return [
        each for each in QApplication.allWidgets() if isinstance(each, kind) and each.isVisible()
    ]


def _name_of(widget: QWidget) -> str:
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found else ""


def add_a_machine(hands: Hands, port: str, user: str, key: str) -> Steps:
    """Add a machine over SSH."""
    yield hands.window.start.quick.isEnabled
    yield hands.drawn()
    hands.picture("0-start")
    hands.window.show_page("Machines")
    yield partial(hands.can_press, "Add machine")
    hands.press("Add machine")
    yield partial(hands.can_press, "More settings")
    hands.press("More settings")
    for name, text in (
        ("Name", NAME),
        ("Address", "127.0.0.1"),
        ("Port", port),
        ("User", user),
        ("Key file", key),
    ):
        hands.type(name, text)
    hands.picture("1-profile")
    hands.press("Save")
    page: Any = hands.window.page("Machines")
    yield lambda: page.listing.selected == NAME
    yield partial(hands.can_press, "Check this machine")


def trust_its_key(hands: Hands) -> Steps:
    """Trust its key, and check it."""
    hands.press("Check this machine")
    yield partial(hands.can_press, "Trust key")
    hands.picture("2-key")
    hands.press("Trust key")
    page: Any = hands.window.page("Machines")
    yield lambda: "ready" in page.listing.states[NAME].word
    yield hands.drawn()
    hands.picture("3-ready")


def deploy_a_script(hands: Hands) -> Steps:
    """Write a server script, and test it there."""
    window = hands.window
    window.show_page("Servers")
    page: Any = window.page("Servers")
    yield lambda: page.servers() and page.target.choice.findData(NAME) > 0
    hands.choose(page.target.choice, NAME)
    hands.press("New server")
    yield partial(hands.can_press, "Create")
    hands.type("Name of the server", OWN)
    hands.press("Create")
    yield lambda: page.pane.known and page.pane.known.name == OWN
    yield partial(hands.can_press, "Test (page)")
    hands.press("Test (page)")
    yield partial(hands.can_press, "Test")
    hands.press("Test")
    yield lambda: hands.says("Passed") or hands.says("Failed")
    yield hands.drawn()
    hands.picture("4-deployed")
    if not hands.says("Passed"):
        raise LookupError("the test did not pass")
    known = {each.id: each for each in page.servers()}
    for each in (page.pane.known, known[SHIPPED]):
        hands.clicks += 1
        page.table.rows.toggle(each)


def sweep(hands: Hands) -> Steps:
    """Sweep both there, with the live plot."""
    window = hands.window
    hands.press("Compare 2 in a plan")
    page: Any = window.page("Plan")
    target = page.form.machines.target
    yield lambda: target.findData(NAME) >= 0 and window.shown is page
    hands.choose(target, NAME)
    for name in (HERE, NAME):  # no longer the one, but the other
        hands.tick(page.form.machines.clients, name)
    yield lambda: page.draft and page.head.run.isEnabled()
    hands.picture("5-plan")
    hands.press("Run")
    live = window.live
    yield lambda: sum(len(series.stops) for series in live.board.model.series.values()) >= 4
    hands.picture("6-live")
    yield lambda: not window.desk.busy
    yield hands.drawn()
    hands.picture("7-done")
    if not hands.says("Done"):
        raise LookupError(live.error.text or "the run did not end well")


def replay(hands: Hands) -> Steps:
    """Find its YAML, and replay it."""
    window = hands.window
    (session,) = (paths.data_dir() / "sessions").glob("*.pong.yaml")
    head = session.read_text("utf-8").splitlines()[:4]
    print(json.dumps({"session": str(session), "bytes": session.stat().st_size, "head": head}))
    window.show_page("Sessions")
    yield partial(hands.can_press, "Replay")
    yield hands.drawn()
    hands.picture("8-sessions")
    hands.press("Replay")
    yield lambda: window.shown is window.film and window.film.reel is not None
    yield lambda: window.film.board.model.over
    yield hands.drawn()
    hands.picture("9-film")


def main(port: str, user: str, key: str, folder: str) -> int:
    made = MainWindow.__init__

    def make(window: MainWindow, *words: Any, **named: Any) -> None:
        made(window, *words, **named)
        window.built.connect(lambda: Card(Hands(window, Path(folder)), (port, user, key)))

    MainWindow.__init__ = make  # type: ignore[method-assign,assignment]
    application.run(None)
    return 0 if _ENDED else 1


_ENDED: list[str] = []


class Card(QTimer):
    """Carries the parts out, one after another."""

    def __init__(self, hands: Hands, machine: tuple[str, str, str]) -> None:
        super().__init__(hands.window, interval=100)
        self.hands = hands
        self.parts = iter(
            (
                (add_a_machine.__doc__, add_a_machine(hands, *machine)),
                *(
                    (part.__doc__, part(hands))
                    for part in (trust_its_key, deploy_a_script, sweep, replay)
                ),
            )
        )
        self.what, self.steps = next(self.parts)
        self.reached: Callable[[], object] = lambda: True
        self.begun = self.since = time.monotonic()
        self.timeout.connect(self.step)
        self.start()

    def step(self) -> None:
        try:
            if self.reached():
                self.reached, self.since = next(self.steps), time.monotonic()
            elif time.monotonic() > self.since + PATIENCE_S:
                raise LookupError("waited too long")
        except StopIteration:
            self.tell()
        except Exception as problem:
            self.stop()
            self.hands.picture("failed")
            print(json.dumps({"failed": self.what, "why": f"{type(problem).__name__}: {problem}"}))
            self.hands.window.leave()

    def tell(self) -> None:
        """One part is over."""
        seconds = time.monotonic() - self.begun
        told = {"what": self.what, "seconds": round(seconds, 1), "clicks": self.hands.clicks}
        print(json.dumps(told), flush=True)
        self.hands.clicks, self.begun = 0, time.monotonic()
        self.since, self.reached = self.begun, lambda: True
        self.what, self.steps = next(self.parts, ("", iter(())))
        if not self.what:
            self.stop()
            _ENDED.append("")
            self.hands.window.leave()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

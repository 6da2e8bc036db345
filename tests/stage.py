"""A window with made-up data in it: sessions, a film and a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.bridge import Bridge
from app.context import Desk
from app.live.run import Outcome
from app.log import LogBook
from app.pages.live import State
from app.scrolling import LEAST
from app.settings import Settings
from app.shell.main_window import MainWindow
from app.theme import Theme
from tests.camera import Camera
from tests.recording import record_session
from tests.synthetic import searches, session
from workbench import paths
from workbench.documents import PointStop, RunStart, RunStop, Window
from workbench.messages.notes import notice
from workbench.plan.reading import plan_from_data

UNTRUSTED_FROM = 8200.0
"""Calls per second from which the clients of the session and the run are late."""


class Stage:
    """A window in one theme, and how data comes into it."""

    def __init__(
        self, app: QApplication, theme: Theme, book: LogBook, size: tuple[int, int]
    ) -> None:
        self.app, self.camera = app, Camera(app)
        self.bridge = Bridge()
        # A window that has no room for its contents scrolls, as at a larger size of text.
        enlarged = QSize(*size).expandedTo(LEAST) != QSize(*size)
        self.desk = Desk(self.bridge, theme, Settings(size=200 if enlarged else 100), book)
        self.window = MainWindow(self.desk)
        self.window.resize(*size)
        self.window.show()
        self.window.activateWindow()

    def close(self) -> None:
        self.desk.set_busy(False)
        self.window.close()
        self.bridge.close()
        self.window.deleteLater()

    def show(self, name: str) -> Any:
        """The page of this name."""
        self.window.show_page(name)
        return self.window.page(name)

    def sessions(self) -> None:
        folder = paths.data_dir() / "sessions"
        folder.mkdir(parents=True, exist_ok=True)
        made = {
            "nine.pong.yaml": session(9, 30, untrusted_from=UNTRUSTED_FROM),
            "nine-again.pong.yaml": session(9, 30, seed=2, repeats=2),
            "twelve.pong.yaml": session(12, 20, seed=3),
            "many.pong.yaml": session(24, 20, seed=4),
            "three.pong.yaml": session(3, 12, end="interrupted"),
            "torn.pong.yaml": session(2, 12, end="crashed"),
            "one.pong.yaml": session(1, rates=[2000.0]),
            "peak.pong.yaml": searches(7),
        }
        self.recorded = []
        for name, documents in made.items():
            path = folder / name
            self.recorded.append(path)
            record_session(path, documents)
        (folder / "notes.pong.yaml").write_text("my: notes\n")
        self.desk.shelf_stale.emit()

    def film(self) -> None:
        self.reel(self.recorded[0], 9)

    def reel(self, path: Path, servers: int) -> Any:
        """The page of a session with this number of servers, at its end."""
        self.window.open(path)
        film = self.window.film
        self.camera.until(lambda: film.isVisible() and len(film.board.model.series) == servers)
        self.camera.until(lambda: film.board.model.over)
        self.camera.rest(0.5)
        return film

    def run(self) -> None:
        """As far as the middle of the sixth of nine servers."""
        documents = session(9, 30, untrusted_from=UNTRUSTED_FROM)
        cut = int(len(documents) * 0.62)
        while not isinstance(documents[cut], Window):
            cut += 1
        self._to_come = documents[cut + 1 :]
        live = self._begin()
        for document in documents[: cut + 1]:
            live.consume(document)
        live.refresh()

    def _begin(self) -> Any:
        live = self.show("Live")
        start = session(9, 30)[0]
        assert isinstance(start, RunStart)
        live.begin(plan_from_data(start.plan | {"name": "Ping-pong, nine servers"}, name="a plan"))
        return live

    def pause(self) -> None:
        """After the running point, of which the clients do not deliver a window."""
        live = self.window.live
        live._enter(State.PAUSING)
        stops = next(n for n, each in enumerate(self._to_come) if isinstance(each, PointStop))
        point, self._to_come = self._to_come[: stops + 1], self._to_come[stops + 1 :]
        missing = next(each for each in point if isinstance(each, Window))
        for document in point:
            if document is not missing:
                live.consume(document)
        stop = point[-1]
        assert isinstance(stop, PointStop)
        live.consume(notice("paused", x=stop.x).note(stop.t_us))
        live.refresh()

    def end(self) -> None:
        live = self.window.live
        for document in self._to_come:
            live.consume(document)
        stop = self._to_come[-1]
        assert isinstance(stop, RunStop)
        live.end(Outcome(self.recorded[0], stop))

    def press(self, parent: QWidget, name: str) -> None:
        """The visible button of this accessible name."""
        named = [b for b in parent.findChildren(QAbstractButton) if b.accessibleName() == name]
        next(each for each in named if each.isVisible()).click()

    def found(self, kind: type[QWidget]) -> Any:
        """The dialog of this kind, once it is there."""
        shown: list[QWidget] = []

        def there() -> bool:
            shown[:] = [each for each in self.window.findChildren(kind) if each.isVisible()]
            return bool(shown)

        self.camera.until(there)
        return shown[-1]

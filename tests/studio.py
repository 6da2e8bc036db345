"""A window with made-up data in it, brought into every state there is a picture of."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QMessageBox, QWidget

from app import page_registry
from app.about.box import AboutBox
from app.bridge import Bridge
from app.comparing.chooser import Chooser
from app.context import Desk
from app.export.dialog import ExportDialog
from app.live.controls import State
from app.live.run import Outcome, Trial
from app.live.session_view import Board
from app.log import LogBook
from app.machines.editor import Editor
from app.machines.prompts import QuestionDialog
from app.scale import LEAST
from app.settings import Settings
from app.shell.main_window import MainWindow
from app.theme import Theme
from tests import furniture
from tests.recording import record_session
from tests.synthetic import NULL, contestants, searches, session
from workbench import paths
from workbench.documents import PointStop, RunStart, RunStop, Window
from workbench.machines.secrets import Question
from workbench.messages.notes import Paused
from workbench.plan.reading import plan_from_data

PATIENCE_S = 120.0
UNTRUSTED_FROM = 8200.0
"""Calls per second from which the clients of the session and the run are late."""
SEARCH = {"from": 500, "to": 24000, "step": 500, "errors_pct": 1, "p99_ms": 50, "points": 30}
_SETTLES_IN = 20
"""Looks, at the most: what breathes never does."""


class Camera:
    """Takes what is wanted: all, or what begins with one of some words."""

    def __init__(self, app: QApplication) -> None:
        self._app = app

    def aim(self, folder: Path, ending: str, wanted: list[str]) -> None:
        self._folder, self._ending, self._wanted = folder, ending, tuple(wanted)

    def wants(self, name: str) -> bool:
        return not self._wanted or name.startswith(self._wanted)

    def comes_to(self, part: str) -> bool:
        """Whether anything is wanted whose name begins so."""
        return self.wants(part) or any(word.startswith(part) for word in self._wanted)

    def rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._app.processEvents()
            # Outside of `exec` nothing is deleted later.
            self._app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
            time.sleep(0.01)

    def until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise SystemExit(f"a picture of {self._ending} did not come")
            self.rest(0.05)

    def keep(self, widget: QWidget, name: str) -> None:
        if self.wants(name):
            self.take(widget, self._folder / f"{name}-{self._ending}.png")

    def take(self, widget: QWidget, path: Path) -> None:
        """Grab it once two pictures in a row are equal."""
        before, shot = None, widget.grab()
        for _ in range(_SETTLES_IN):
            if shot.toImage() == before:
                break
            self.rest(0.4)
            before, shot = shot.toImage(), widget.grab()
        shot.save(str(path))


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
        live.consume(Paused(x=stop.x).note(stop.t_us))
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


class Projector(Stage):
    """The presentation of a film, of a run, of sessions compared."""

    def shoot(self) -> None:
        self.camera.rest(1.5)
        self.sessions()
        self.film()
        self._present("Film")
        if self.camera.wants("Present-Much"):
            self.reel(self.recorded[3], 24)
            self._present("Film", "Much")
        self.desk.compare_requested.emit(self.recorded[:2])
        self.camera.until(lambda: len(self.window.page("Compare").selection.sides) == 2)
        self._present("Compare")
        self.run()
        self._present("Live")

    def _present(self, name: str, taken: str = "") -> None:
        self.show(name).present()
        self.camera.rest(1.0)
        shown = self.app.activeWindow()
        assert shown is not None
        self.camera.keep(shown, f"Present-{taken or name}")
        shown.close()
        self.camera.rest(0.2)


class Studio(Stage):
    """Every page and every dialog."""

    def shoot(self) -> None:
        self.camera.rest(1.5)
        self.camera.until(self.window.start.quick.isEnabled)
        for name in page_registry.ALL:
            if name not in ("Film", "Help", "Settings"):
                self.page(name, "empty")
        for part in (
            self.machines,
            self.servers,
            self.plan,
            self.settings,
            self.film_and_export,
            self.compare,
            self.live,
            self.much,
            self.log,
        ):
            part()

    def page(self, name: str, state: str) -> None:
        if self.camera.wants(f"{name}-{state}"):
            page = self.show(name)
            self.camera.rest(0.8)
            if name == "Plan":
                self.camera.until(lambda: page.draft)
            self.camera.keep(self.window, f"{name}-{state}")

    def views(self, board: Board, name: str) -> None:
        for view in ("time", "distribution", "sweep"):
            if view == "sweep" or self.camera.wants(f"{name}-{view}"):
                board.views.choose(view)
                self.camera.keep(self.window, f"{name}-{view}")

    def dialog(self, kind: type[QWidget], name: str) -> None:
        shown = self.found(kind)
        self.camera.keep(shown, name)
        shown.reject() if isinstance(shown, QDialog) else shown.close()
        self.camera.rest(0.2)

    # Pages

    def machines(self) -> None:
        furniture.machines(self.desk.settings.more)
        self.desk.machines_changed.emit()
        if not self.camera.comes_to("Machine"):
            return
        page = self.show("Machines")
        self.camera.until(lambda: "atlas" in page.listing.rows)
        for name in ("localhost", "atlas", "bolt", "elm", "fjord", "gale"):
            page.listing.rows[name].click()
            self.camera.keep(self.window, f"Machines-{name}")
        for name, error in (("dune", furniture.unknown_key()), ("cedar", furniture.changed_key())):
            page.listing.rows[name].click()
            page.detail.show_key(error)
            self.camera.keep(self.window, f"Machines-{name}")
            page.detail.show_key(None)
        page.listing.rows["bolt"].click()
        kept = page.records.get("bolt")
        record = page._checks["bolt"] = kept.again()
        page._under_way["bolt"] = ("check", Future())
        for step in furniture.passed(dead=True)[:6]:
            page._on_step("bolt", record, step)
        self.camera.keep(self.window, "Machines-checking")
        page.cancel("bolt")
        page.add()
        self.dialog(Editor, "Machine-new")
        page.listing.rows["atlas"].click()
        page.detail.edit.click()
        editor = self.found(Editor)
        editor._fields["address"].setText("10.0.4.20; reboot")
        editor.save()
        self.dialog(Editor, "Machine-edit")
        page.detail.commands.setChecked(True)
        self.camera.keep(self.window, "Machines-commands")
        page.detail.commands.setChecked(False)
        question = Question("atlas", "password", "mila@10.0.4.20", "Password of mila@10.0.4.20")
        asked = QuestionDialog(self.window, question, self.desk.theme)
        asked.open()
        self.dialog(QuestionDialog, "Machine-password")

    def servers(self) -> None:
        if not self.camera.comes_to("Servers"):
            return
        page = self.show("Servers")
        self.camera.until(page.servers)
        known = {each.id: each for each in page.servers()}
        page.set_beside(known["twisted"])
        page.table.choose(known["gevent"].key)
        for name in ("gevent", "twisted", "tornado"):
            page._rows.toggle(known[name])
        self.camera.keep(self.window, "Servers-beside")
        trial = page.trial
        self.press(page, "Test (page)")
        trial._trying, trial._under_way = known["gevent"], Future()
        trial._on_progress("Building the runtime of gevent")
        trial._show()
        self.camera.keep(self.window, "Servers-trying")
        furniture.installed(known["gevent"].entry)
        trial._on_result(known["gevent"], furniture.trial_result())
        self.camera.until(lambda: page.table.current().state.word == "Ready")
        self.press(trial, "Show request and response")
        self.camera.keep(self.window, "Servers-tried")
        page.finding.field.setText("gevnet")
        self.camera.rest(0.5)
        self.camera.keep(self.window, "Servers-nothing")
        page.finding.field.clear()
        page.set_beside(None)

    def plan(self) -> None:
        page = self.show("Plan")
        self.camera.until(lambda: page.draft)
        self.page("Plan", "machines")
        if not self.camera.comes_to("Plan"):
            return
        data = page.form.data()
        page._show({**data, "servers": ["gevent", "tornado", "twisted"], "name": "My own"}, "")
        self.camera.until(lambda: page.draft)
        page.gallery.save(page.draft.plan, "My own")
        self.camera.until(lambda: page.gallery.own)
        self.camera.keep(self.window, "Plan-own")
        page.outlook.show_file()
        self.camera.keep(self.window, "Plan-file")
        page.outlook.show_file(False)
        page._show({**data, "rates": [], "search": SEARCH, "seconds": 2}, "")
        self.camera.until(lambda: page.draft and page.draft.plan and page.draft.plan.search)
        self.camera.keep(self.window, "Plan-search")
        page.form.fill({**data, "rates": {"first": 9000, "last": 400, "step": -5}, "repeats": 0})
        page._on_edited()
        self.camera.until(lambda: page.draft)
        self.camera.keep(self.window, "Plan-faults")
        page.search()
        self.camera.keep(self.window, "Plan-picker")

    def settings(self) -> None:
        self.page("Settings", "full")
        self.page("Help", "full")
        if self.camera.wants("About"):
            self.show("Settings").show_about()
            box = self.found(AboutBox)
            self.camera.until(box.parts.count)
            self.camera.keep(box, "About")
            box.accept()

    def film_and_export(self) -> None:
        self.sessions()
        self.film()
        self.page("Film", "full")
        film = self.window.film
        film.board.trio.setFocus()
        film.transport.seek_requested.emit(film.reel.duration_us * 0.6)
        self.camera.rest(0.8)
        self.camera.keep(self.window, "Film-middle")
        self.views(film.board, "Film")
        if self.camera.comes_to("Little"):
            self.reel(self.recorded[-2], 1)
            self.camera.keep(self.window, "Little-Film")
            self.film()
        if self.camera.comes_to("Film-search"):
            self.window.open(self.recorded[-1])
            self.camera.until(lambda: film.isVisible() and film.board.model.axis.bounds)
            self.camera.until(lambda: film.board.model.over)
            self.camera.rest(0.5)
            self.camera.keep(self.window, "Film-search")
            film.transport.seek_requested.emit(film.reel.duration_us * 0.6)
            self.camera.rest(0.8)
            self.camera.keep(self.window, "Film-search-middle")
            self.film()
        for name in ("Start", "Sessions"):
            self.page(name, "full")
        film.export()
        self.dialog(ExportDialog, "Export-session")

    def compare(self) -> None:
        self.desk.compare_requested.emit(self.recorded[:2])
        page = self.show("Compare")
        self.camera.until(lambda: len(page.selection.sides) == 2)
        self.page("Compare", "full")
        self.views(page.board, "Compare")
        self.press(page, "Figures")
        self.camera.keep(self.window, "Compare-table")
        page.search()
        self.dialog(Chooser, "Compare-chooser")

    def live(self) -> None:
        live = self._begin()
        servers = [(each.id, each.name) for each in [*contestants(9), NULL]]
        live.prepare(Trial(tuple(servers), 3))
        live.show_status("Installing Tornado: 1 package")
        self.camera.keep(self.window, "Live-preparing")
        self.run()
        self.page("Live", "running")
        self.pause()
        self.camera.keep(self.window, "Live-paused")
        live.alert.show_text("")
        self.window.close()
        self.dialog(QMessageBox, "Live-leaving")
        self.end()
        self.page("Live", "full")

    def much(self) -> None:
        """What 24 servers and twelve machines look like."""
        if not self.camera.comes_to("Much"):
            return
        film = self.reel(self.recorded[3], 24)
        self.camera.keep(self.window, "Much-Film")
        self.views(film.board, "Much-Film")
        film.transport.seek_requested.emit(film.reel.duration_us * 0.7)
        self.camera.rest(0.8)
        self.camera.keep(self.window, "Much-Film-middle")
        self.desk.compare_requested.emit([self.recorded[3]])
        page = self.show("Compare")
        self.camera.until(lambda: len(page.selection.sides) == 1)
        self.camera.keep(self.window, "Much-Compare")
        furniture.many_machines(self.desk.settings.more)
        self.desk.machines_changed.emit()
        machines = self.show("Machines")
        self.camera.until(lambda: len(machines.listing.rows) >= 12)
        machines.choose("")
        self.camera.keep(self.window, "Much-Machines")

    def log(self) -> None:
        self.desk.log.clear()
        log = logging.getLogger("workbench.machines.secrets")
        log.info("The keyring cannot be read: no keyring is running")
        log.warning("The password was not stored; the keyring cannot be written: it is locked")
        try:
            raise ValueError("an example")
        except ValueError:
            sys.excepthook(*sys.exc_info())
        self.desk.notice.emit(
            "Settings cannot be saved in /home/mila/.config/pongbench: the disk is full. They are "
            "lost when this window closes.",
            "warn",
        )
        self.camera.rest(0.3)
        self.camera.keep(self.window, "Notice")
        self.window.show_log(shown=True)
        self.camera.keep(self.window, "Log")
        self.window.show_log(shown=False)

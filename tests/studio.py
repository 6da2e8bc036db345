"""A window brought into every state there is a picture of."""

from __future__ import annotations

import logging
import sys
from concurrent.futures import Future

from PySide6.QtWidgets import QDialog, QWidget

from app import page_registry
from app.comparing.chooser import Chooser
from app.dialogs import Confirmation
from app.live.run import Trial
from app.live.view_bar import ViewBar
from app.machines.editor import Editor
from app.machines.prompts import KeyDialog, QuestionDialog
from app.pages.machines import Work
from app.pages.preferences import AboutBox
from tests import furniture
from tests.stage import Stage
from tests.synthetic import NULL, contestants
from workbench.machines.secrets import Question

SEARCH = {"from": 500, "to": 24000, "step": 500, "errors_pct": 1, "p99_ms": 50, "points": 30}


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

    def views(self, bar: ViewBar, name: str) -> None:
        for view in ("time", "distribution", "sweep"):
            if view == "sweep" or self.camera.wants(f"{name}-{view}"):
                bar.choose(view)
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
        self.camera.until(lambda: "atlas" in page.listing.names)
        for name in ("localhost", "atlas", "bolt", "elm", "fjord", "gale"):
            page.listing.choose(name)
            self.camera.keep(self.window, f"Machines-{name}")
        for name, error in (("dune", furniture.unknown_key()), ("cedar", furniture.changed_key())):
            page.listing.choose(name)
            KeyDialog(self.window, error).open()
            self.camera.keep(self.window, f"Machines-{name}")
            self.dialog(KeyDialog, f"Machine-key-{name}")
        page.listing.choose("bolt")
        kept = page.records.get("bolt")
        record = kept.again()
        page._under_way["bolt"] = Work(record)
        for step in furniture.passed(dead=True)[:6]:
            record.add(step)
        page.refresh()
        self.camera.keep(self.window, "Machines-checking")
        page.cancel("bolt")
        page.add()
        self.dialog(Editor, "Machine-new")
        page.listing.choose("atlas")
        page.detail.edit.click()
        editor = self.found(Editor)
        editor._fields["address"].setText("10.0.4.20; reboot")
        editor.save()
        self.dialog(Editor, "Machine-edit")
        question = Question("atlas", "password", "mila@10.0.4.20", "Password of mila@10.0.4.20")
        asked = QuestionDialog(self.window, question)
        asked.open()
        self.dialog(QuestionDialog, "Machine-password")

    def servers(self) -> None:
        if not self.camera.comes_to("Servers"):
            return
        page = self.show("Servers")
        self.camera.until(page.table.model().servers)
        known = {each.id: each for each in page.table.model().servers()}
        page.table.choose(known["gevent"].key)
        for name in ("gevent", "twisted", "tornado"):
            page._rows.toggle(known[name])
        self.camera.keep(self.window, "Servers-chosen")
        trial = page.trial
        self.press(page, "Test (page)")
        trial._trying, trial.under_way = known["gevent"], Future()
        trial._on_progress("Building the runtime of gevent")
        trial._show()
        self.camera.keep(self.window, "Servers-trying")
        furniture.installed(known["gevent"].entry)
        trial._on_result(known["gevent"], furniture.trial_result())
        self.camera.until(lambda: page.table.current().state.word == "Ready")
        self.camera.keep(self.window, "Servers-tried")
        page.finding.field.setText("gevnet")
        self.camera.rest(0.5)
        self.camera.keep(self.window, "Servers-nothing")
        page.finding.field.clear()

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
        self.views(film.board.views, "Film")
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

    def compare(self) -> None:
        self.desk.compare_requested.emit(self.recorded[:2])
        page = self.show("Compare")
        self.camera.until(lambda: len(page.selection.sides) == 2)
        self.page("Compare", "full")
        self.views(page.views, "Compare")
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
        self.dialog(Confirmation, "Live-leaving")
        self.end()
        self.page("Live", "full")

    def much(self) -> None:
        """What 24 servers and twelve machines look like."""
        if not self.camera.comes_to("Much"):
            return
        film = self.reel(self.recorded[3], 24)
        self.camera.keep(self.window, "Much-Film")
        self.views(film.board.views, "Much-Film")
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
        self.camera.until(lambda: len(machines.listing.names) >= 12)
        self.camera.keep(self.window, "Much-Machines")

    def log(self) -> None:
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

"""The main window: the rail, the pages, and navigation between them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QApplication, QFrame, QMainWindow, QSplitter, QStackedWidget, QWidget

from app import actions, page_registry
from app.actions import Action
from app.context import Desk
from app.dialogs import SESSION_FILES, Confirmation, ask, ask_file
from app.history import History
from app.log import Line
from app.scrolling import LEAST, NARROWEST, Whole
from app.shell.log_drawer import LogDrawer
from app.shell.palette import Palette
from app.shell.rail import Rail
from app.start.recent import opened
from app.stylesheet import apply
from app.theme import Theme, theme_for
from app.widgets import Sign, button, column, dress, label, rename, retone, row
from workbench import paths, trash
from workbench.sessions.library import shelf

if TYPE_CHECKING:
    from app.live.run import Where
    from app.pages.film import FilmPage
    from app.pages.live import LivePage
    from app.pages.plan import PlanPage
    from app.pages.sessions import SessionsPage
    from app.pages.start import StartPage
    from workbench.plan.model import Plan

_SIZE = QSize(1280, 800)
_NARROW = QSize(960, 590)
"""In a narrower or lower window the rail has no names."""
_FRAME = QSize(16, 48)
"""More than a window manager puts around it."""
_PAGE_LEAST = QSize(NARROWEST, 460)
"""Below this size every page scrolls; one whose parts stand one below another needs more height."""
_ASIDE = ("Help", "Settings")
"""Pages that Esc leaves for the one before."""


def _page(name: str) -> Any:
    """Return a property: the page of this name."""
    return property(lambda window: window.page(name))


class MainWindow(QMainWindow):
    """Shows the page that the user or another part of the program asks for. Builds the charts after
    the first paint.
    """

    start: StartPage = _page("Start")
    live: LivePage = _page("Live")
    plan: PlanPage = _page("Plan")
    film: FilmPage = _page("Film")
    sessions: SessionsPage = _page("Sessions")
    built = Signal()
    """The chart pages are built."""
    left = Signal()
    """Closed, and no work is running any more."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(windowTitle="Pongbench", acceptDrops=True)
        self.desk = desk
        self._left = "Start"
        """The page shown before help or settings."""
        self._pages: dict[str, QWidget] = {}
        self._painted = self._warm = self._leaving = False
        self._seen: dict[str, _Changes] = {}
        """What the folders contained when they were read last."""
        self._refused = ""
        """Why the file that was opened last is not shown."""
        self._question: Confirmation | None = None
        room = self.screen().availableSize() - _FRAME
        # A chosen size may leave less room than the contents need; then they scroll.
        self.setMinimumSize(LEAST if desk.settings.size == 100 else LEAST.boundedTo(room))
        self.resize(_SIZE)
        if desk.settings.geometry:
            self.restoreGeometry(b64decode(desk.settings.geometry))
        self._lay_out()
        self._connect()
        self.show_page(self._first())

    def _lay_out(self) -> None:
        self.rail = Rail(lambda: self.show_page("Start"))
        for name, place in page_registry.RAIL.items():
            self.rail.add(name, place.icon, lambda name=name: self.show_page(name))
        self.rail.add("Log", "terminal", self.show_log, foot=True, page=False)
        self.rail.add("Settings", "settings", lambda: self.show_page("Settings"), foot=True)
        self._stack, filled = _Pages(), QWidget()
        column(filled, self._stack)
        self._area = Whole(filled)
        self._split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._split.addWidget(self._area)
        self.notice = NoticeBar()
        root, body = QWidget(), QWidget()
        row(root, self.rail, (body, 1), gap=0)
        column(body, self.notice, (self._split, 1))
        self.setCentralWidget(root)

    def _connect(self) -> None:
        desk = self.desk
        desk.page_requested.connect(self.show_page)
        desk.run_requested.connect(self.run)
        desk.plan_requested.connect(partial(self.lead, "Plan", "edit"))
        desk.preset_requested.connect(partial(self.lead, "Plan", "take"))
        desk.compare_requested.connect(partial(self.lead, "Compare", "compare"))
        desk.notice.connect(self.notice.show_text)
        desk.open_requested.connect(self.open)
        desk.refused.connect(self._on_refused)
        desk.shelf_stale.connect(self._read_shelf)
        desk.busy_changed.connect(self._on_busy)
        desk.paused_changed.connect(self._show_run)
        desk.theme_changed.connect(self._on_theme_changed)
        desk.log.listener = desk.bridge.post(self._on_line)
        self.notice.log_requested.connect(lambda: self.show_log(shown=True))
        for name, place in page_registry.ALL.items():
            if place.key:
                QShortcut(QKeySequence(place.key), self, partial(self.show_page, name))
        for action in (*actions.WINDOW, *actions.PAGES):
            for key in action.keys:
                QShortcut(QKeySequence(key), self, partial(self.act, action))

    def appear(self) -> None:
        """Restore the last size; the first time, fill a screen that is too small."""
        room = self.screen().availableSize() - _FRAME
        if not self.desk.settings.geometry and _SIZE.boundedTo(room) != _SIZE:
            self.resize(_SIZE.boundedTo(room))
            self.showMaximized()
        else:
            self.show()

    # Pages

    def act(self, action: Action) -> None:
        """Do it in the window; an action of pages has the page do it that keys are for; if it
        cannot, the page that can is shown.
        """
        if action in actions.WINDOW:
            getattr(self, action.method)()
            return
        # Keys are for the visible page, or for the Plan page while that reads a file that was
        # dropped on another.
        reading = "Plan" in self._pages and self.plan.reading
        page = self.plan if reading else self.shown
        if not hasattr(page, action.method):
            if not action.page:
                return
            self.show_page(action.page)
            page = self.shown
        getattr(page, action.method)()

    def page(self, name: str) -> QWidget:
        """Return the page with this name (`page_registry.ALL`); it is built on first use."""
        found = self._pages.get(name)
        if found is None:
            place = page_registry.ALL[name]
            found = self._pages[name] = place.make(self.desk)
            found.setAccessibleName(place.title or name)  # it takes the focus
            self._stack.addWidget(found)
        return found

    def show_page(self, name: str) -> None:
        page = self.page(name)
        if self.desk.settings.page not in _ASIDE:
            self._left = self.desk.settings.page
        self._stack.setCurrentWidget(page)
        # Meanwhile Qt gave the focus to whatever is next, and that was brought into view.
        for bar in (self._area.horizontalScrollBar(), self._area.verticalScrollBar()):
            bar.setValue(0)
        page.setFocus()
        self.rail.check(page_registry.ALL[name].rail)
        self.desk.settings.page = name
        if self._warm and name in ("Start", "Sessions", "Compare"):
            self._read_shelf()

    @property
    def shown(self) -> QWidget | None:
        return self._stack.currentWidget()

    def run(self, plan: Plan, where: Where | None = None) -> None:
        """Start a comparison, on this computer or elsewhere, and show it."""
        if not self.desk.busy:
            self.live.start(plan, where)
        self.show_page("Live")

    def lead(self, name: str, method: str, given: object) -> None:
        """Have a page do something with what is given, and show it."""
        getattr(self.page(name), method)(given)
        self.show_page(name)

    # Actions

    def open(self, path: Path | None = None) -> None:
        """Open a session; None: ask which one."""
        if path is not None:
            self.notice.withdraw(self._refused)
            self.film.open(path)
            return
        sessions = paths.data_dir() / "sessions"
        ask_file(self, "Open a session", self.open, start=sessions, kind=SESSION_FILES)

    def show_file(self, path: Path) -> None:
        """Open a session, or show a plan in its form."""
        self.plan.read(path)

    def find(self) -> None:
        Palette(self)

    def undo(self) -> None:
        if self.history is not None:
            self.history.undo()

    def redo(self) -> None:
        if self.history is not None:
            self.history.redo()

    @property
    def history(self) -> History | None:
        """Return what was done on the shown page; None: nothing there can be undone."""
        return getattr(self.shown, "history", None)

    def reload(self) -> None:
        self.desk.servers_changed.emit()
        self.desk.machines_changed.emit()
        self.desk.shelf_stale.emit()

    def set_theme(self, theme: Theme) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.desk.theme = theme
        apply(app, theme)
        dress(self, theme)

    def show_log(self, shown: bool | None = None) -> None:
        """Show or hide the log; None: toggle it."""
        drawer = self.drawer
        if shown is None:
            shown = drawer.isHidden()
        drawer.setVisible(shown)
        self.notice.log.setVisible(not shown)
        self.rail.entries["Log"].setChecked(shown)
        if shown:
            high = self._split.height()
            below = min(drawer.HEIGHT, high // 2)
            self._split.setSizes([high - below, below])
            drawer.body.ensureCursorVisible()
            self.rail.entries["Log"].set_badge("")
            drawer.body.setFocus()
        elif self.shown is not None:
            self.shown.setFocus()

    @cached_property
    def drawer(self) -> LogDrawer:
        made = LogDrawer(self.desk.log)
        made.closed.connect(lambda: self.show_log(shown=False))
        self._split.addWidget(made)
        self._split.setStretchFactor(0, 1)
        return made

    def leave(self) -> None:
        """Close without asking; a run is stopped cleanly first."""
        self._leaving = True
        if self.desk.busy:
            self.live.stop()
        else:
            self.close()

    # Events

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.warm_up)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rail.set_narrow(self.size().expandedTo(_NARROW) != self.size())

    def event(self, event: QEvent) -> bool:
        # The folders are first read after the first paint.
        if event.type() == QEvent.Type.WindowActivate and self._seen:
            self._look()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave help and settings by Esc, where nothing else takes it."""
        if event.key() == Qt.Key.Key_Escape and self.desk.settings.page in _ASIDE:
            self.show_page(self._left)
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.desk.busy:
            event.ignore()
            if not self._leaving:
                self._ask_before_leaving()
            return
        event.accept()
        self.desk.settings.geometry = b64encode(self.saveGeometry().data()).decode()
        self.left.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        urls = event.mimeData().urls()
        if urls and all(url.isLocalFile() for url in urls):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show a dropped file; several are compared. Where sessions are compared, all are added."""
        dropped = [Path(url.toLocalFile()) for url in event.mimeData().urls()]
        comparing = self.desk.settings.page == "Compare"
        if len(dropped) == 1 and not comparing:
            self.show_file(dropped[0])
        else:
            self.lead("Compare", "add" if comparing else "compare", dropped)

    def warm_up(self) -> None:
        """Fill the first page, and build the charts before they are needed."""
        self.start.load()
        self.page("Live")
        self._warm = True
        self.built.emit()
        self.desk.bridge.do(trash.tidy)
        self._look()
        self._read_shelf()

    def _first(self) -> str:
        """Return the page shown last, if it can be shown again; a run that was shown is over."""
        kept = self.desk.settings.page
        kept = {"Live": "Start", "Film": "Sessions"}.get(kept, kept)
        return kept if kept in page_registry.ALL else "Start"

    def _ask_before_leaving(self) -> None:
        if self._question is not None:
            self._question.raise_()
            return
        self._question = ask(
            self,
            "A run is in progress. Stop it and close?",
            "All points measured so far are kept in the session.",
            cancel="Keep running",
            go="Stop and close",
            do=self.leave,
        )
        self._question.finished.connect(lambda: setattr(self, "_question", None))

    def _show_run(self, paused: bool = False) -> None:
        shown = ("warn", "Run paused") if paused else ("ok", "Run in progress")
        self.rail.entries["Live"].set_badge(*(shown if self.desk.busy else ("", "")))

    def _on_busy(self, busy: bool) -> None:
        self._show_run()
        if not busy:
            self._read_shelf()
            if self._question is not None:
                # No question is left.
                self._question.close()
            if self._leaving:
                self.close()

    def _on_refused(self, sentence: str) -> None:
        """Report a file that cannot be opened; a film that is shown stays."""
        if self.shown is self.film and self.film.reel is not None:
            self._refused = sentence
            self.notice.show_text(sentence)
        else:
            self.show_page("Sessions")
            self.sessions.error.show_text(sentence)

    def _on_line(self, line: Line) -> None:
        if line.tone == "bad":
            self.notice.show_text(f"{line.text} See the log for details. Recorded data is kept.")
        if self.rail.entries["Log"].isChecked():
            self.drawer.add(line)
        elif line.tone in ("warn", "bad"):
            self.rail.entries["Log"].set_badge(line.tone, "The log has new entries.")

    def _on_theme_changed(self) -> None:
        theme = theme_for(self.desk.settings.colours)
        if theme is not self.desk.theme:
            self.set_theme(theme)

    def _read_shelf(self) -> None:
        desk = self.desk
        known, elsewhere = desk.shelf, list(opened(desk.settings))
        read = partial(shelf, known=known, elsewhere=elsewhere)
        desk.bridge.do(read, desk.set_shelf, self._on_no_shelf)

    def _on_no_shelf(self, sentence: str) -> None:
        self.sessions.error.show_text(sentence)

    def _look(self) -> None:
        """Have the pages read again what has changed in the folders since the last time."""
        self.desk.bridge.do(_states, self._on_states)

    def _on_states(self, states: dict[str, _Changes]) -> None:
        known, self._seen = self._seen or states, states
        if known["servers"] != states["servers"]:
            self.desk.servers_changed.emit()
        if known["machines"] != states["machines"]:
            self.desk.machines_changed.emit()


class NoticeBar(QFrame):
    """The bar above the page, for messages that belong to no page: shows one sentence at a time
    until it is dismissed; others wait in a queue.
    """

    log_requested = Signal()

    def __init__(self) -> None:
        super().__init__(objectName="notice")
        self._queue: list[tuple[str, str]] = []
        """What is shown, and what waits: each with its tone."""
        self._sign, self._text = Sign(), label("", wrap=True, selectable=True)
        self.log = button("Show log", "terminal", on_click=self.log_requested.emit)
        """For the time when it is not shown."""
        self._away = button("Dismiss", "x", kind="ghost", on_click=self.put_away)
        parts = self._sign, (self._text, 1), self.log, self._away
        row(self, *parts, margin=(20, 8, 12, 8))
        self.hide()

    def show_text(self, text: str, tone: str = "bad") -> None:
        """Show a sentence, unless it equals the one before."""
        if text and (not self._queue or self._queue[-1][0] != text):
            self._queue.append((text, tone))
            self._show()

    def withdraw(self, text: str) -> None:
        """Take a sentence back that no longer holds."""
        self._queue = [each for each in self._queue if each[0] != text]
        self._show()

    def put_away(self) -> None:
        del self._queue[:1]
        self._show()

    @property
    def text(self) -> str:
        return self._text.text()

    def _show(self) -> None:
        text, tone = self._queue[0] if self._queue else ("", "")
        self._text.setText(text)
        self.setAccessibleName(text)
        retone(self, tone)
        self._sign.show_tone(tone)
        more = len(self._queue) - 1
        step = (f"Next ({more} more)", "chevron-right") if more > 0 else ("Dismiss", "x")
        rename(self._away, *step)
        self.setVisible(bool(text))


class _Pages(QStackedWidget):
    """Takes the height that there is. Because pages wrap texts, Qt would otherwise give them the
    height they like best, and they would scroll.
    """

    def __init__(self) -> None:
        super().__init__()
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def hasHeightForWidth(self) -> bool:
        return False

    def minimumSizeHint(self) -> QSize:
        """Return what the shown page needs; Qt would return what all of them need."""
        page = self.currentWidget()
        if page is None:
            return _PAGE_LEAST
        needed = page.minimumSizeHint().height()  # little where all of it scrolls already
        high = needed if needed < _PAGE_LEAST.height() // 2 else _PAGE_LEAST.height()
        return QSize(_PAGE_LEAST.width(), max(high, page.minimumHeight()))


_Changes = frozenset[tuple[Path, int]]
"""Files and folders, each with the time of its last change."""


def _states() -> dict[str, _Changes]:
    servers, machines = paths.data_dir() / "servers", paths.config_dir() / "profiles"
    found = {"servers": servers.glob("*/**/*"), "machines": machines.glob("*.yaml")}
    return {name: frozenset(_changes(files)) for name, files in found.items()}


def _changes(files: Iterator[Path]) -> Iterator[tuple[Path, int]]:
    for path in files:
        try:
            yield path, path.stat().st_mtime_ns
        except OSError:
            continue  # removed in the meantime

"""The main window: the rail, the pages, and navigation between them."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QMessageBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import page_registry
from app.context import Desk
from app.dialogs import SESSION_FILES, ask, ask_file
from app.history import History
from app.log import Line
from app.scale import LEAST
from app.shell.log_drawer import LogDrawer
from app.shell.notice import NoticeBar
from app.shell.paged_window import PagedWindow
from app.shell.palette import Palette
from app.start.recent import opened
from app.stylesheet import apply
from app.theme import Theme, theme_for
from workbench import paths, trash
from workbench.sessions.library import shelf

_SIZE = QSize(1280, 800)
_NARROW = QSize(960, 590)
"""In a narrower or lower window the rail has no names."""
_FRAME = QSize(16, 48)
"""More than a window manager puts around it."""


class MainWindow(PagedWindow):
    """Builds the charts after the first paint."""

    built = Signal()
    """The chart pages are built."""
    left = Signal()
    """Closed, and no work is running any more."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._painted = self._warm = self._leaving = False
        self._refused = ""
        """Why the file that was opened last is not shown."""
        self._question: QMessageBox | None = None
        self.setWindowTitle("Pongbench")
        room = self.screen().availableSize() - _FRAME
        # A chosen size may leave less room than the contents need; then they scroll.
        self.setMinimumSize(LEAST if desk.settings.size == 100 else LEAST.boundedTo(room))
        self.resize(_SIZE)
        if desk.settings.geometry:
            self.restoreGeometry(b64decode(desk.settings.geometry))
        self.setAcceptDrops(True)
        self.rail.add("Log", "terminal", self.show_log, foot=True, page=False)
        self.rail.add("Settings", "settings", lambda: self.show_page("Settings"), foot=True)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._area)
        root, body = QWidget(), QWidget()
        across, self._column = QHBoxLayout(root), QVBoxLayout(body)
        for layout in (across, self._column):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        across.addWidget(self.rail)
        across.addWidget(body, 1)
        self._column.addWidget(self._split, 1)
        self.setCentralWidget(root)
        self.notice = NoticeBar()
        self.notice.log_requested.connect(lambda: self.show_log(shown=True))
        self._column.insertWidget(0, self.notice)
        self.refreshing = Refreshing(self, desk)
        desk.notice.connect(self.notice.show_text)
        desk.open_requested.connect(self.open)
        desk.refused.connect(self._on_refused)
        desk.shelf_stale.connect(self._read_shelf)
        desk.busy_changed.connect(self._on_busy)
        desk.paused_changed.connect(self._on_paused)
        desk.theme_changed.connect(self._on_theme_changed)
        desk.log.listener = desk.bridge.post(self._on_line)
        self.dress(self)
        self.show_page(self._first())

    def appear(self) -> None:
        """Restore the last size; the first time, fill a screen that is too small."""
        room = self.screen().availableSize() - _FRAME
        if not self.desk.settings.geometry and _SIZE.boundedTo(room) != _SIZE:
            self.resize(_SIZE.boundedTo(room))
            self.showMaximized()
        else:
            self.show()

    def show_page(self, name: str) -> None:
        super().show_page(name)
        if self._warm and name in ("Start", "Sessions", "Compare"):
            self._read_shelf()

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
        """Show the command palette."""
        self.dress(Palette(self))

    def undo(self) -> None:
        """Undo what was done last on the shown page."""
        if (history := self.history) is not None:
            history.undo()

    def redo(self) -> None:
        """Do again what was undone last on the shown page."""
        if (history := self.history) is not None:
            history.redo()

    @property
    def history(self) -> History | None:
        """Return what was done on the shown page; None: nothing there can be undone."""
        return getattr(self.shown, "history", None)

    def reload(self) -> None:
        """Have the pages read servers, machines and sessions again."""
        self.refreshing.everything()

    def set_theme(self, theme: Theme) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self.desk.theme = theme
        apply(app, theme)
        self.dress(self)

    def show_log(self, shown: bool | None = None) -> None:
        """Show or hide the log; None: toggle it."""
        drawer = self.drawer
        if shown is None:
            shown = drawer.isHidden()
        drawer.setVisible(shown)
        self.notice.offer_log(not shown)
        self.rail.entries["Log"].setChecked(shown)
        if shown:
            high = self._split.height()
            below = min(drawer.HEIGHT, high // 2)
            self._split.setSizes([high - below, below])
            drawer.show_latest()
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
        self.dress(made)
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
        """Show a dropped file; several are compared."""
        dropped = [Path(url.toLocalFile()) for url in event.mimeData().urls()]
        if len(dropped) == 1:
            self.show_file(dropped[0])
        else:
            self._compare(dropped)

    def warm_up(self) -> None:
        """Fill the first page, and build the charts before they are needed."""
        self.start.load()
        self.page("Live")
        self._warm = True
        self.built.emit()
        self.desk.bridge.do(trash.tidy)
        self.refreshing.check()
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
        self._question.finished.connect(self._on_answered)

    def _on_answered(self) -> None:
        self._question = None

    def _on_paused(self, paused: bool) -> None:
        if self.desk.busy:
            shown = ("warn", "Run paused") if paused else ("ok", "Run in progress")
            self.rail.entries["Live"].set_badge(*shown)

    def _on_busy(self, busy: bool) -> None:
        live = self.rail.entries["Live"]
        live.set_badge("ok" if busy else "", "Run in progress" if busy else "")
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
        """Show a new line of the log."""
        if line.surprise:
            self.notice.show_text(f"{line.text} See the log for details. Recorded data is kept.")
        if self.rail.entries["Log"].isChecked():
            self.drawer.add(line)
        elif line.warns:
            tone = "bad" if line.surprise else "warn"
            self.rail.entries["Log"].set_badge(tone, "The log has new entries.")

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


State = frozenset[tuple[Path, int]]
"""Files and folders, each with the time of its last change."""


class Refreshing(QObject):
    """Compares the folders whenever the window becomes active."""

    def __init__(self, window: QWidget, desk: Desk) -> None:
        super().__init__(window)
        self._desk = desk
        self._seen: dict[str, State] = {}
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # The first check follows the first paint.
        if event.type() == QEvent.Type.WindowActivate and self._seen:
            self.check()
        return False

    def check(self) -> None:
        """Have the pages read again what has changed since the last time."""
        self._desk.bridge.do(_states, self._on_states)

    def everything(self) -> None:
        """Have the pages read everything again."""
        self._desk.servers_changed.emit()
        self._desk.machines_changed.emit()
        self._desk.shelf_stale.emit()

    def _on_states(self, states: dict[str, State]) -> None:
        known, self._seen = self._seen, states
        if not known:
            return
        if known["servers"] != states["servers"]:
            self._desk.servers_changed.emit()
        if known["machines"] != states["machines"]:
            self._desk.machines_changed.emit()


def _states() -> dict[str, State]:
    servers, machines = paths.data_dir() / "servers", paths.config_dir() / "profiles"
    return {
        "servers": frozenset(_changes(servers.glob("*/**/*"))),
        "machines": frozenset(_changes(machines.glob("*.yaml"))),
    }


def _changes(files: Iterator[Path]) -> Iterator[tuple[Path, int]]:
    for path in files:
        try:
            yield path, path.stat().st_mtime_ns
        except OSError:
            continue  # removed in the meantime

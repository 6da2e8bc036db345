"""The window: a rail, its pages, and the way between them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeySequence,
    QPaintEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QMainWindow,
    QMessageBox,
    QStackedWidget,
    QWidget,
)

from app import theme as look
from app.bridge import Bridge
from app.pages.start import StartPage
from app.rail import Rail
from app.theme import Theme
from app.widgets import dress, row
from workbench import paths

if TYPE_CHECKING:
    from app.pages.film import FilmPage
    from app.pages.live import LivePage
    from app.pages.sessions import SessionsPage
    from workbench.plans import Plan
    from workbench.shelf import Shelved


class MainWindow(QMainWindow):
    """Only the start page is there at once; what draws is built after the first paint."""

    built = Signal()
    """Every page is there."""
    left = Signal()
    """Closed, and nothing runs any more."""

    live: LivePage
    film: FilmPage
    sessions: SessionsPage

    def __init__(self, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._bridge, self._theme = bridge, theme
        self._built = self._painted = self._leaving = False
        self._question: QMessageBox | None = None
        self.setWindowTitle("Pongbench")
        self.setMinimumSize(960, 620)
        self.resize(1280, 800)
        self.setAcceptDrops(True)
        self.rail = Rail(theme)
        self.rail.add("Start", "gauge", lambda: self.show_page("Start"))
        self.rail.add("Live", "activity", lambda: self.show_page("Live"))
        self.rail.add("Sessions", "archive", lambda: self.show_page("Sessions"))
        self._switch = self.rail.add("Light", "sun", self._switch_theme, foot=True)
        self._stack = QStackedWidget()
        self.start = StartPage(bridge)
        self._stack.addWidget(self.start)
        root = QWidget()
        across = row(root, gap=0)
        across.addWidget(self.rail)
        across.addWidget(self._stack, 1)
        self.setCentralWidget(root)
        self.start.run_wanted.connect(self.run)
        self.start.open_wanted.connect(self.open)
        self.start.all_wanted.connect(lambda: self.show_page("Sessions"))
        self._add_keys()
        self._dress()
        self.show_page("Start")

    def show_page(self, name: str) -> None:
        """Start, Live, Sessions, or the film, which belongs to Sessions."""
        self.build()
        page = {
            "Start": self.start,
            "Live": getattr(self, "live", None),
            "Sessions": getattr(self, "sessions", None),
            "Film": getattr(self, "film", None),
        }[name]
        if page is not None:
            self._stack.setCurrentWidget(page)
            page.setFocus()
            self.rail.check("Sessions" if name == "Film" else name)
        if name != "Live":
            self._read_shelf()

    def build(self) -> None:
        """The pages with charts; does nothing before the first paint and when they are there."""
        if self._built or not self._painted:
            return
        self._built = True
        from app.pages.film import FilmPage  # noqa: PLC0415 - pyqtgraph would delay the first paint
        from app.pages.live import LivePage  # noqa: PLC0415
        from app.pages.sessions import SessionsPage  # noqa: PLC0415

        self.live = LivePage(self._bridge, self._theme)
        self.sessions = SessionsPage()
        self.film = FilmPage(self._bridge, self._theme)
        for page in (self.live, self.sessions, self.film):
            self._stack.addWidget(page)
        self.live.started.connect(lambda: self._on_busy(True))
        self.live.ended.connect(lambda: self._on_busy(False))
        self.live.choose_wanted.connect(lambda: self.show_page("Start"))
        self.live.open_wanted.connect(self.open)
        self.sessions.open_wanted.connect(self.open)
        self.film.back_wanted.connect(lambda: self.show_page("Sessions"))
        self.film.run_wanted.connect(self.run)
        self.film.opened.connect(lambda: self.show_page("Film"))
        self.film.refused.connect(self._on_refused)
        self.start.load()
        self._read_shelf()
        dress(self, self._theme)
        self.built.emit()

    def run(self, plan: Plan) -> None:
        """Start a comparison and show it."""
        self.build()
        if not self.live.state.active:
            self.live.start(plan)
        self.show_page("Live")

    def open(self, path: Path | None) -> None:
        """Open a session; None: ask which."""
        self.build()
        if path is not None:
            self.film.open(path)
            return
        dialog = QFileDialog(self, "Open a session", str(paths.data_dir() / "sessions"))
        dialog.setNameFilters(["Sessions (*.pong.yaml *.yaml)", "All files (*)"])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda chosen: self.open(Path(chosen)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def set_theme(self, theme: Theme) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        self._theme = theme
        look.apply(app, theme)
        self._dress()

    def leave(self) -> None:
        """Close without asking; a run is stopped in good order first."""
        self._leaving = True
        if self._built and self.live.state.active:
            self.live.stop()
        else:
            self.close()

    # What happens to it

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self, self.build)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._built and self.live.state.active:
            event.ignore()
            if not self._leaving:
                self._ask_before_leaving()
            return
        event.accept()
        self.left.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        urls = event.mimeData().urls()
        if len(urls) == 1 and urls[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.open(Path(event.mimeData().urls()[0].toLocalFile()))

    def _ask_before_leaving(self) -> None:
        if self._question is not None:
            self._question.raise_()
            return
        asked = self._question = QMessageBox(self)
        asked.setWindowTitle("Pongbench")
        asked.setText("A run is under way. Stop it and close?")
        asked.setInformativeText("Every point measured so far is kept in its session.")
        go_on = asked.addButton("Keep running", QMessageBox.ButtonRole.RejectRole)
        stop = asked.addButton("Stop and close", QMessageBox.ButtonRole.DestructiveRole)
        asked.setDefaultButton(go_on)
        asked.setEscapeButton(go_on)
        stop.clicked.connect(self.leave)
        asked.finished.connect(self._on_answered)
        asked.open()

    def _on_answered(self) -> None:
        if self._question is not None:
            self._question.deleteLater()
            self._question = None

    def _on_busy(self, busy: bool) -> None:
        self.start.set_busy(busy)
        self.film.set_busy(busy)
        self.rail.entries["Live"].set_alive(busy)
        if not busy:
            self._read_shelf()
            if self._question is not None:
                # Nothing is left to be asked.
                self._question.close()
            if self._leaving:
                self.close()

    def _on_refused(self, sentence: str) -> None:
        self.show_page("Sessions")
        self.sessions.error.say(sentence)

    def _read_shelf(self) -> None:
        if self._built:
            self.sessions.error.say("")
            self._bridge.submit(asyncio.to_thread(_shelf), self._on_shelf, self.sessions.error.say)

    def _on_shelf(self, found: list[Shelved]) -> None:
        self.start.show_recent(found)
        self.sessions.show_sessions(found)

    def _switch_theme(self) -> None:
        self.set_theme(look.LIGHT if self._theme.dark else look.DARK)

    def _dress(self) -> None:
        dress(self, self._theme)
        other = "Light" if self._theme.dark else "Dark"
        self._switch.setText(other)
        self._switch.setAccessibleName(f"{other} colours")
        self._switch.set_icon("sun" if self._theme.dark else "moon")

    def _add_keys(self) -> None:
        keys = {
            "Ctrl+1": lambda: self.show_page("Start"),
            "Ctrl+2": lambda: self.show_page("Live"),
            "Ctrl+3": lambda: self.show_page("Sessions"),
            "Ctrl+O": lambda: self.open(None),
            "Ctrl+R": self._run_ticked,
            "Ctrl+F": self._search,
            "Ctrl+.": lambda: self._on_page("live", "stop"),
            "Ctrl+Q": self.close,
        }
        for key, do in keys.items():
            QShortcut(QKeySequence(key), self, do)

    def _run_ticked(self) -> None:
        self.show_page("Start")
        self.start.run_ticked()

    def _search(self) -> None:
        self.show_page("Sessions")
        self.sessions.search()

    def _on_page(self, page: str, action: str) -> None:
        """Only where it can be seen what happens."""
        if self._built and self._stack.currentWidget() is getattr(self, page):
            getattr(getattr(self, page), action)()


def _shelf() -> list[Shelved]:
    from workbench.shelf import shelf  # noqa: PLC0415 - not before the first paint

    return shelf()

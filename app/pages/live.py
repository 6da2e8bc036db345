"""A run while it happens."""

from __future__ import annotations

from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.board import Board
from app.bridge import Bridge
from app.live_run import LiveRun, Outcome
from app.now import NowStrip
from app.theme import Theme
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column
from workbench import wording
from workbench.documents import AnyDocument, PointStop, RunStart
from workbench.plans import Plan


class State(Enum):
    """Of the run on this page."""

    IDLE = ""
    PREPARING = "Preparing"
    RUNNING = "Running"
    PAUSING = "Pauses after this point"
    PAUSED = "Paused"
    STOPPING = "Stopping"
    OVER = "Over"

    @property
    def active(self) -> bool:
        return self not in (State.IDLE, State.OVER)


_ENDED = {
    "done": ("Done", "ok"),
    "stopped": ("Stopped early", "warn"),
    "aborted": ("Aborted", "warn"),
    "failed": ("Failed", "bad"),
}


class LivePage(QWidget):
    """Shows one run at a time."""

    started, ended = Signal(), Signal()
    choose_wanted = Signal()
    open_wanted = Signal(object)

    def __init__(self, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._run: LiveRun | None = None
        self._path: object = None
        self.state = State.IDLE
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        outer = column(self)
        self._top = TopBar("Live")
        self._pause = button("Pause after this point", "pause", on_click=self.pause_or_resume)
        self._skip = button("Skip server", "skip-forward", on_click=self.skip)
        self._stop = button("Stop", "square", kind="danger", on_click=self.stop)
        self._choose = button("Choose servers", "list-checks", kind="primary")
        self._choose.clicked.connect(self.choose_wanted)
        self._open = button("Open the session", "film")
        self._open.clicked.connect(lambda: self.open_wanted.emit(self._path))
        for each in (self._open, self._pause, self._skip, self._stop, self._choose):
            self._top.actions.addWidget(each)
        outer.addWidget(self._top)
        inside = QVBoxLayout()
        inside.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        inside.setSpacing(GAP)
        self.error = Inline()
        self.board = Board(theme)
        self.now = NowStrip(theme)
        inside.addWidget(self.error)
        inside.addWidget(self.board, 1)
        inside.addWidget(self.now)
        outer.addLayout(inside, 1)
        bridge.drained.connect(self.refresh)
        self._enter(State.IDLE)
        self._top.say("Live", "Nothing is running. Choose servers, and they are drawn here.")

    def start(self, plan: Plan) -> None:
        """Run a plan; the window sees to it that none is running."""
        self.board.clear()
        self.now.clear()
        self.error.say("")
        self._path = None
        names = f"{len(plan.servers)} server{'s' if len(plan.servers) != 1 else ''}"
        self._top.say(plan.name, f"{names} on this computer")
        bridge = self._bridge
        self._run = LiveRun(plan, bridge.post(self._on_document), bridge.post(self._on_told))
        bridge.submit(self._run.run(), self._on_over, self._on_failed)
        self._enter(State.PREPARING)
        self.now.tell("Getting ready…")
        self.started.emit()

    def pause_or_resume(self) -> None:
        if self._run is None or self.state not in (State.RUNNING, State.PAUSING, State.PAUSED):
            return
        control = self._run.control
        if self.state is State.RUNNING:
            self._bridge.call(control.pause)
            self._enter(State.PAUSING)
            if self.board.model.running is None:
                self._enter(State.PAUSED)
        else:
            self._bridge.call(control.resume)
            self._enter(State.RUNNING)

    def skip(self) -> None:
        """Leave the server that runs, go on with the next."""
        if self._run is not None and self._skip.isEnabled():
            self._bridge.call(self._run.control.skip_server)
            self._enter(State.RUNNING)

    def stop(self) -> None:
        """End early in good order."""
        if self._run is not None and self.state.active and self.state is not State.STOPPING:
            self._bridge.call(self._run.stop)
            self._enter(State.STOPPING)

    def refresh(self) -> None:
        if not self.isVisible():
            return
        self.board.refresh()
        self.now.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no focused control takes."""
        if event.key() == Qt.Key.Key_Space:
            self.pause_or_resume()
        elif event.key() == Qt.Key.Key_S:
            self.skip()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: object) -> None:
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        self.refresh()

    def _on_document(self, document: AnyDocument) -> None:
        self.board.consume(document)
        self.now(document)
        match document:
            case RunStart():
                self._top.say(self._top.title.whole, words.conditions(document))
                if self.state is State.PREPARING:
                    self._enter(State.RUNNING)
            case PointStop() if self.state is State.PAUSING:
                self._paused_after = wording.offered(document)
                self._enter(State.PAUSED)

    def _on_told(self, text: str) -> None:
        self.now.tell(text)

    def _on_over(self, outcome: Outcome) -> None:
        self._path = outcome.path
        stop = outcome.stop
        self.board.end()
        self._enter(State.OVER)
        if stop is None:
            self._top.chip.say("Stopped before it began", "warn")
        else:
            self._top.chip.say(*_ENDED[stop.status])
            self.error.say(stop.reason, "bad" if stop.status == "failed" else "warn")
        self._finish()

    def _on_failed(self, sentence: str) -> None:
        self.board.end()
        self._enter(State.OVER)
        self._top.chip.say("Failed", "bad")
        self.error.say(sentence)
        self._finish()

    def _finish(self) -> None:
        self._run = None
        self.now.tell("The session is saved." if self._path else "")
        self._open.setVisible(self._path is not None)
        self.refresh()
        self.ended.emit()

    def _enter(self, state: State) -> None:
        self.state = state
        running = state in (State.RUNNING, State.PAUSING, State.PAUSED)
        self.board.trio.set_paused(state is State.PAUSED)
        for each in (self._pause, self._skip, self._stop):
            each.setVisible(state.active)
            each.setEnabled(running)
        self._stop.setEnabled(running or state is State.PREPARING)
        go_on = state in (State.PAUSING, State.PAUSED)
        text = "Go on" if go_on else "Pause after this point"
        self._pause.setText(f" {text}")
        self._pause.setAccessibleName(text)
        self._choose.setVisible(not state.active)
        self._open.hide()
        said = state.value
        if state is State.PAUSED:
            said = f"Paused after {self._paused_after}" if self._paused_after else "Paused"
        tone = {State.RUNNING: "ok", State.PAUSING: "warn", State.PAUSED: "warn"}
        self._top.chip.say("" if state is State.OVER else said, tone.get(state, "soft"))

    _paused_after = ""

"""A session as a film, through the charts of the live page."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import film, words
from app.board import Board
from app.bridge import Bridge
from app.film import Film, Position, Reel
from app.theme import Theme
from app.transport import Transport
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, button, column
from workbench.documents import AnyDocument, RunStart
from workbench.errors import PongbenchError
from workbench.plans import plan_from_data


class FilmPage(QWidget):
    """Opens a session at its end."""

    opened = Signal()
    refused = Signal(str)
    """One sentence: what was asked for is no session."""
    back_wanted = Signal()
    run_wanted = Signal(object)
    """A plan: the session's, again."""

    def __init__(self, bridge: Bridge, theme: Theme) -> None:
        super().__init__()
        self._bridge = bridge
        self._film: Film | None = None
        self._playing: Future[None] | None = None
        self._start: RunStart | None = None
        self.reel: Reel | None = None
        self._asked = 0
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        outer = column(self)
        self._top = TopBar()
        self._top.chip.say("Replay", "focus")
        back = button("All sessions", "archive")
        back.clicked.connect(self.back_wanted)
        self._again = button("Run again", "rotate-cw", on_click=self._run_again)
        self._top.actions.addWidget(back)
        self._top.actions.addWidget(self._again)
        outer.addWidget(self._top)
        inside = QVBoxLayout()
        inside.setContentsMargins(PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN, PAGE_MARGIN)
        inside.setSpacing(GAP)
        self.warning = Inline()
        self.board = Board(theme)
        self.transport = Transport(theme)
        inside.addWidget(self.warning)
        inside.addWidget(self.board, 1)
        inside.addWidget(self.transport)
        outer.addLayout(inside, 1)
        self.transport.play_wanted.connect(lambda: self._command("play"))
        self.transport.pause_wanted.connect(lambda: self._command("pause"))
        self.transport.seek_wanted.connect(lambda at_us: self._command("seek", at_us))
        self.transport.speed_wanted.connect(lambda speed: self._command("set_speed", speed))
        bridge.drained.connect(self.refresh)

    def open(self, path: Path) -> None:
        """Read a session; `opened` or `refused` tells how it went."""
        self._asked += 1
        asked = self._asked

        def on_reel(reel: Reel) -> None:
            if asked == self._asked:
                self._show(reel)

        self._bridge.submit(film.load(path), on_reel, self.refused.emit)

    def set_busy(self, busy: bool) -> None:
        """A run is under way: no other can begin."""
        self._again.setEnabled(not busy)

    def refresh(self) -> None:
        if self.isVisible():
            self.board.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What no focused control takes."""
        keys = {
            Qt.Key.Key_Space: self.transport.toggle,
            Qt.Key.Key_Left: lambda: self.transport.step(-1),
            Qt.Key.Key_Right: lambda: self.transport.step(1),
            Qt.Key.Key_Home: lambda: self.transport.seek_wanted.emit(0.0),
            Qt.Key.Key_End: self.transport.to_end,
        }
        do = keys.get(Qt.Key(event.key()))
        if do is None:
            super().keyPressEvent(event)
        else:
            do()

    def showEvent(self, event: object) -> None:
        self.refresh()

    def _show(self, reel: Reel) -> None:
        if self._playing is not None:
            self._playing.cancel()
        self.reel = reel
        self.board.clear()
        self.warning.say(reel.warning, "warn")
        self.transport.load(reel)
        start = reel.documents[0]
        if isinstance(start, RunStart):
            self._start = start
            name = str(start.plan.get("name") or reel.path.name)
            self._top.say(name, f"recorded on {words.when(start)} · {words.conditions(start)}")
        self._playing = self._bridge.submit(
            self._play(reel, self.transport.speed),
            fail=lambda sentence: self.warning.say(sentence, "bad"),
        )
        self.opened.emit()

    async def _play(self, reel: Reel, speed: float) -> None:
        """In the engine's thread. What an earlier film still says is not listened to."""

        def consume(document: AnyDocument) -> None:
            if self.reel is reel:
                self.board.consume(document)

        def report(position: Position) -> None:
            if self.reel is reel:
                self.transport.tell(position)

        self._film = Film(reel, self._bridge.post(consume), self._bridge.post(report))
        self._film.set_speed(speed)
        await self._film.run()

    def _command(self, name: str, *arguments: object) -> None:
        def do() -> None:
            if self._film is not None:
                getattr(self._film, name)(*arguments)

        self._bridge.call(do)

    def _run_again(self) -> None:
        if self._start is None or self.reel is None:
            return
        try:
            plan = plan_from_data(self._start.plan, name=self.reel.path.name)
        except PongbenchError as error:
            self.warning.say(str(error), "bad")
            return
        self.run_wanted.emit(plan)

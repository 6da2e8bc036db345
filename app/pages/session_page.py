"""The common base of the pages of a run and of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart_menu import open_menu
from app.context import Desk
from app.export.sources import copy_chart
from app.live.present import Presentation
from app.live.session_view import Board
from app.live.status_strip import NowStrip
from app.live.transport import Transport
from app.profiling import ProfileViewer
from app.scrolling import stacked
from app.sharing.dialog import ask
from app.widgets import GAP, PAGE_MARGIN, Inline, TopBar, column, fill, stack, tool

LOW, _STACKED_PX = 690, 720
"""Below the first height what stands under the charts is lower; the second one is that of a narrow
page, where it has two rows.
"""


class SessionPage(QWidget):
    """A title with actions, one sentence, the charts of one session, and what stands below them."""

    def __init__(self, desk: Desk, below: NowStrip | Transport, *, live: bool) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.ClickFocus)
        self._desk, self._bridge = desk, desk.bridge
        self._below = below
        self._presentation: Presentation | None = None
        self._top = TopBar()
        self._profiles = tool("CPU profiles (Ctrl+P)", "cpu", self.show_profiles)
        self._profiles.hide()
        self.error = Inline()
        self.board = Board(desk.theme, desk.settings, live=live)
        drawer = tool("Servers and machine (F9)", "panel-right", self.board.toggle_drawer)
        drawer.hide()
        self.board.narrowed.connect(drawer.setVisible)
        trio = self.board.trio
        trio.menu_wanted.connect(lambda at: open_menu(trio, at, self))
        self._tools = (
            self._profiles,
            tool("Share with spectators (Ctrl+Shift+S)", "monitor", self.share),
            tool("Full screen (F11)", "maximize", self.present),
            drawer,
        )
        self._inside = stack(self.error, (self.board, 1), below, margin=PAGE_MARGIN, gap=GAP)
        column(self, self._top, (self._inside, 1))
        desk.bridge.drained.connect(self.refresh)

    def show_actions(self, actions: Sequence[QWidget]) -> None:
        """Put actions into the title, before those of every page."""
        fill(self._top.actions, *actions, *self._tools)

    def refresh(self) -> None:
        if self.isVisible() or self._presentation is not None:
            self.board.refresh()
            self._profiles.setVisible(bool(self.board.model.profiles))

    def show_profiles(self) -> None:
        if profiles := self.board.model.profiles:
            ProfileViewer(self, profiles).open()

    @property
    def session(self) -> Path | None:
        """The file of what is shown; None: there is none."""
        raise NotImplementedError

    def compare(self) -> None:
        if self.session is not None:
            self._desk.compare_requested.emit([self.session])

    def share(self) -> None:
        if self.session is not None:
            ask(self, self._desk.sharing, self.session)

    def copy_chart(self) -> None:
        copy_chart(self.board.trio, self._top.title.whole)

    def present(self) -> None:
        if self._presentation is None:
            self._presentation = Presentation(
                self.board.trio,
                self._desk.theme,
                self.window(),
                keys=self.handle_key,
                link=lambda: self._desk.sharing.link,
                **self.presented(),
            )
            self._presentation.closed.connect(self._on_presented)
            self._presentation.begin()

    def presented(self) -> dict[str, Any]:
        """Return what else a `Presentation` shows."""
        raise NotImplementedError

    def handle_key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here."""
        return self.board.key(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self.handle_key(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._below.set_compact(self.height() < LOW)
        self.setMinimumHeight(_STACKED_PX if stacked(self.width()) else 0)

    def showEvent(self, event: object) -> None:
        self.refresh()

    def _on_presented(self) -> None:
        self._presentation = None
        self.setFocus()

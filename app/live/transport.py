"""A film's controls: play, speed, and a timeline with every server and point."""

from __future__ import annotations

from collections.abc import Callable
from math import log

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QPushButton

from app.fields import Segments
from app.live.film import Position, Reel
from app.live.timeline import Timeline
from app.plain import tip
from app.scrolling import lay
from app.theme import Weight
from app.widgets import Elided, beside, column, label, set_icon, tool
from workbench import formatting

SPEEDS = (1, 10, 60, 300, 1000)
_LASTS_S = 30.0
"""How long a film lasts at the default speed."""
_TWO_ROWS, _ROW_PX = 690, 40
"""Below this width position and speeds have a row of their own."""
_PLAY_PX = 44


class Transport(QFrame):
    """Emits what the user wants; `show_position` shows where the film is."""

    HEIGHT, COMPACT = 142, 110

    play_requested, pause_requested = Signal(), Signal()
    seek_requested, speed_requested = Signal(float), Signal(float)

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self.at = Position(0.0, True, 1.0)
        """The last position shown."""
        self._duration_us = 0
        self._compact = False
        self.timeline = Timeline()
        self.timeline.sought.connect(self.seek_requested)
        self._play = QPushButton()
        self._play.setProperty("kind", "primary")
        self._play.setFixedSize(_PLAY_PX, _PLAY_PX)
        self._play.setStyleSheet(
            f"border-radius: {_PLAY_PX // 2 - 1}px; border-width: 1px; padding: 0;"
            f" min-height: {_PLAY_PX - 2}px;"
        )
        self._play.clicked.connect(self.toggle)
        self._clock = label("", 20, Weight.DemiBold, figures=True)
        self._clock.setAccessibleName("Position")
        self._of = label("", 13, tone="muted", figures=True)
        self._of.setContentsMargins(0, 0, 8, 0)
        self.where = Elided(12, tone="soft")
        self._speeds = Segments("Speed", [(speed, f"{speed}x") for speed in SPEEDS])
        self._speeds.setToolTip(tip("Shortcuts: − slower, + faster"))
        self._speeds.edited.connect(lambda: self.speed_requested.emit(self.speed))
        step = self.timeline.step_server
        head = beside(
            _step("Back a server (Shift+←)", "skip-back", lambda: step(-1)),
            _step("Back a point (←)", "step-back", lambda: self.timeline.step(-1)),
            self._play,
            _step("Forward a point (→)", "step-forward", lambda: self.timeline.step(1)),
            _step("Forward a server (Shift+→)", "skip-forward", lambda: step(1)),
            self._clock,
            self._of,
            (None, 0),
            gap=10,
        )
        self._both = beside(head, (beside((self.where, 1), self._speeds, gap=10), 1), gap=10)
        self._inside = column(self, self._both, (self.timeline, 1))
        self._fit()
        self._show_play()

    def set_compact(self, compact: bool) -> None:
        """Make the controls lower, for windows without much height."""
        self._compact = compact
        self._fit()

    def _fit(self) -> None:
        below = self.width() < _TWO_ROWS
        lay(self._both, below=below)
        high = self.COMPACT if self._compact else self.HEIGHT
        self.setFixedHeight(high + _ROW_PX * below)
        self._inside.setContentsMargins(14, *((6, 14, 6) if self._compact else (14, 14, 14)))
        self._inside.setSpacing(2 if self._compact else 8)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def load(self, reel: Reel) -> None:
        self._duration_us = reel.duration_us
        self._speeds.set_value(fitting(reel.duration_us / 1e6))
        self.timeline.load(reel)
        self.show_position(Position(float(reel.duration_us), True, self.speed))

    @property
    def speed(self) -> float:
        return float(self._speeds.value())

    def faster(self, steps: int) -> None:
        place = min(max(SPEEDS.index(int(self.speed)) + steps, 0), len(SPEEDS) - 1)
        self._speeds.set_value(SPEEDS[place])
        self.speed_requested.emit(self.speed)

    def show_position(self, position: Position) -> None:
        self.at = position
        self._clock.setText(formatting.clock(position.at_us / 1e6))
        self._of.setText(f"of {formatting.clock(self._duration_us / 1e6)}")
        self.where.show_text(self.timeline.describe_at(position.at_us))
        self.timeline.set_position(position.at_us)
        self._show_play()

    def toggle(self) -> None:
        (self.play_requested if self.at.paused else self.pause_requested).emit()

    def to_end(self) -> None:
        self.seek_requested.emit(float(self._duration_us))

    def _show_play(self) -> None:
        name = "Play" if self.at.paused else "Pause"
        self._play.setAccessibleName(name)
        self._play.setToolTip(tip(f"{name} (Space)"))
        set_icon(self._play, name.lower())


def fitting(duration_s: float) -> int:
    """Return the speed at which a session of this length lasts nearest to half a minute."""
    return min(SPEEDS, key=lambda speed: abs(log(max(duration_s, 1.0) / speed / _LASTS_S)))


def _step(name: str, icon: str, on_click: Callable[[], object]) -> QPushButton:
    made = tool(name, icon, on_click)
    made.setProperty("kind", "ghost")
    return made

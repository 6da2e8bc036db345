"""A film's controls: play, speed, and a timeline with every server and point."""

from __future__ import annotations

from collections.abc import Callable
from math import log

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import (
    QResizeEvent,
)
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton

from app.charts.drawing import elided, text_width
from app.charts.drawing import fitting as longest_of
from app.live.film import Position, Reel
from app.live.timeline import Timeline
from app.plain import tip
from app.scrolling import lay
from app.theme import Theme, Weight, icon
from app.widgets import Elided, button, column, label, row, tool
from workbench import formatting

SPEEDS = (1, 10, 60, 300, 1000)
_LASTS_S = 30.0
"""How long a film lasts at the default speed."""
_SCALED = """QPushButton {{ font-size: {0}px; padding: 0 {1}px; min-height: {2}px;
    border-radius: {3}px; border-width: {5}px; }}
QFrame#card, QFrame#sunken {{ border-radius: {4}px; border-width: {5}px; }}"""
_SCALED_PX = 13, 10, 28, 7, 9, 1
_WIDE, _TWO_ROWS = 1000, 690
"""From the first width on there is room for the jump to the end; below the second one, position and
speeds have a row of their own.
"""
_ROW_PX = 40


class Transport(QFrame):
    """Emits what the user wants; `tell` shows the position of the film."""

    HEIGHT, COMPACT = 142, 110

    play_requested, pause_requested = Signal(), Signal()
    seek_requested, speed_requested = Signal(float), Signal(float)

    def __init__(self, theme: Theme, speed: float | None = None) -> None:
        """`speed`: as chosen by the user; None: not yet."""
        super().__init__()
        self.setObjectName("card")
        self.setFixedHeight(self.HEIGHT)
        self._theme = theme
        self.at = Position(0.0, True, 1.0)
        """The last position shown."""
        self._reel: Reel | None = None
        self._inside = inside = column(self)
        self._compact, self._below, self._scale = False, False, 1.0
        self.timeline = Timeline(theme)
        self.timeline.sought.connect(self.seek_requested)
        self.seek_requested.connect(self._show_end)
        self._play = QPushButton()
        self._play.setProperty("kind", "primary")
        self._play.clicked.connect(self.toggle)
        self._clock = label("", 20, Weight.DemiBold, figures=True)
        self._clock.setAccessibleName("Position")
        self._of = label("", 13, tone="muted", figures=True)
        self._measured = ""
        """The end of what `where` shows: the value of the axis and the number of the point."""
        self.where = Elided(12, tone="soft", shorten=self._shorten)
        self._chosen = speed in SPEEDS
        self._speeds = Speeds(speed if speed is not None and self._chosen else 60.0)
        self._speeds.chosen.connect(self._on_chosen)
        self._end = button("Jump to the end", "fast-forward", on_click=self.to_end)
        head, step = row(), self.timeline.step_server
        self._head = head
        self._steps = (
            _step("Back a server (Shift+←)", "skip-back", lambda: step(-1)),
            _step("Back a point (←)", "step-back", lambda: self.step(-1)),
            _step("Forward a point (→)", "step-forward", lambda: self.step(1)),
            _step("Forward a server (Shift+→)", "skip-forward", lambda: step(1)),
        )
        around = (*self._steps[:2], self._play, *self._steps[2:])
        for part in (*around, self._clock, self._of):
            head.addWidget(part)
        head.addStretch(0)
        self._tail = row()
        self._tail.addWidget(self.where, 1)
        self._tail.addWidget(self._speeds)
        self._tail.addWidget(self._end)
        self._both = row()
        self._both.addLayout(head)
        self._both.addLayout(self._tail, 1)
        inside.addLayout(self._both)
        inside.addWidget(self.timeline, 1)
        self._fit()
        self._show_play()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._show_play()

    def set_compact(self, compact: bool) -> None:
        """Make the controls lower, for windows without much height."""
        self._compact = compact
        self._fit()

    def set_scale(self, scale: float) -> None:
        """Set how many times as large as in the window everything is."""
        self._scale = scale
        self.timeline.set_scale(scale)
        for text, px in ((self._clock, 20), (self._of, 13), (self.where, 12)):
            size = text.font()
            size.setPixelSize(round(px * scale))
            text.setFont(size)
        sheet = _SCALED.format(*(round(px * scale) for px in _SCALED_PX))
        self.setStyleSheet(sheet if scale != 1.0 else "")
        self._fit()
        self._show_play()

    def _fit(self) -> None:
        def px(size: float) -> int:
            return round(size * self._scale)

        self._below = self.width() < _TWO_ROWS * self._scale
        lay(self._both, below=self._below)
        high = self.COMPACT if self._compact else self.HEIGHT
        self.setFixedHeight(px(high + _ROW_PX * self._below))
        beside, above = px(14), px(6 if self._compact else 14)
        self._inside.setContentsMargins(beside, above, beside, above)
        self._inside.setSpacing(px(2 if self._compact else 8))
        for each in (self._head, self._tail, self._both):
            each.setSpacing(px(10))
        self._of.setContentsMargins(0, 0, px(8), 0)
        self._play.setFixedSize(px(44), px(44))
        self._play.setStyleSheet(
            f"border-radius: {px(44) // 2 - 1}px; border-width: 1px; padding: 0;"
            f" min-height: {px(44) - 2}px;"
        )
        self._play.setIconSize(QSize(px(18), px(18)))
        for each in self._steps:
            each.setFixedWidth(px(36))
        for each in (*self._steps, self._end):  # Qt does not enlarge icons
            each.setIcon(icon(each.property("icon_name"), self._theme.text, px(16)))
            each.setIconSize(QSize(px(16), px(16)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._below != (self.width() < _TWO_ROWS * self._scale):
            self._fit()
        self._end.setVisible(self.width() >= _WIDE * self._scale)

    def load(self, reel: Reel) -> None:
        """Show another film, at its end."""
        self._reel = reel
        if not self._chosen:
            self._speeds.show_speed(fitting(reel.duration_us / 1e6))
        self.timeline.load(reel)
        self.show_position(Position(float(reel.duration_us), True, self.speed))

    @property
    def speed(self) -> float:
        return self._speeds.speed

    def _on_chosen(self, speed: float) -> None:
        self._chosen = True
        self.speed_requested.emit(speed)

    def faster(self, steps: int) -> None:
        self._speeds.step(steps)

    def show_position(self, position: Position) -> None:
        self.at = position
        if self._reel is None:
            return
        self._clock.setText(formatting.clock(position.at_us / 1e6))
        self._of.setText(f"of {formatting.clock(self._reel.duration_us / 1e6)}")
        aside, mark = self.timeline.aside_at(position.at_us), self.timeline.mark_at(position.at_us)
        if aside or mark is None:
            self._measured = ""
            self.where.show_text(formatting.capital(aside))
        else:
            place = self.timeline.place_at(position.at_us) + 1
            self._measured = f"{mark.measured}, point {place} of {len(self._reel.marks)}"
            self.where.show_text(f"{mark.name}{self._measured}")
        self._show_end(position.at_us)
        self.timeline.set_position(position.at_us)
        self._show_play()

    def _show_end(self, at_us: float) -> None:
        """Offer to jump to the end, unless the film is there."""
        self._end.setEnabled(self._reel is None or at_us < self._reel.duration_us)

    def _shorten(self, text: str, width: float) -> str:
        """Shorten the name, so that no figure is cut."""
        size, end = self.where.font(), self._measured
        if not text.endswith(end) or text_width(text, size) <= width:
            return elided(text, size, width)
        name = elided(text.removesuffix(end), size, width - text_width(end, size))
        forms = (f"{name}{end}" if name else "", end, end.rpartition(" of ")[0])
        found = longest_of((form.removeprefix(", ") for form in forms if form), size, width)
        return found or elided(end.removeprefix(", "), size, width)

    def toggle(self) -> None:
        (self.play_requested if self.at.paused else self.pause_requested).emit()

    def to_end(self) -> None:
        if self._reel is not None:
            self.seek_requested.emit(float(self._reel.duration_us))

    def step(self, points: int) -> None:
        """Jump to the end of a neighbouring point."""
        self.timeline.step(points)

    def step_server(self, stretches: int) -> None:
        """Jump to the end of a neighbouring server's stretch."""
        self.timeline.step_server(stretches)

    def _show_play(self) -> None:
        name = "Play" if self.at.paused else "Pause"
        drawn = (name, self._theme.name, self._scale)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        self._play.setAccessibleName(name)
        self._play.setToolTip(tip(f"{name} (Space)"))
        self._play.setIcon(icon(name.lower(), self._theme.on_primary, round(18 * self._scale)))

    _drawn: tuple[str, str, float] | None = None


def fitting(duration_s: float) -> float:
    """Return the speed at which a session of this length lasts nearest to half a minute."""
    return float(min(SPEEDS, key=lambda speed: abs(log(max(duration_s, 1.0) / speed / _LASTS_S))))


class Speeds(QFrame):
    """A choice of how many seconds of film pass per second."""

    chosen = Signal(float)

    def __init__(self, speed: float) -> None:
        super().__init__()
        self.setObjectName("sunken")
        self.setAccessibleName("Speed")
        inside = row(self, margin=2, gap=0)
        self._group = QButtonGroup(self)
        for place, each in enumerate(SPEEDS):
            made = QPushButton(f"{each}x")
            made.setCheckable(True)
            made.setProperty("kind", "tab")
            made.setAccessibleName(f"Speed {each}x")
            made.setToolTip("Shortcuts: − slower, + faster")
            made.setChecked(each == speed)
            self._group.addButton(made, place)
            inside.addWidget(made)
        self._group.idClicked.connect(lambda place: self.chosen.emit(float(SPEEDS[place])))

    @property
    def speed(self) -> float:
        return float(SPEEDS[self._group.checkedId()])

    def show_speed(self, speed: float) -> None:
        self._group.button(SPEEDS.index(int(speed))).setChecked(True)

    def step(self, steps: int) -> None:
        place = min(max(self._group.checkedId() + steps, 0), len(SPEEDS) - 1)
        self._group.button(place).setChecked(True)
        self.chosen.emit(self.speed)


def _step(name: str, icon: str, on_click: Callable[[], object]) -> QPushButton:
    made = tool(name, icon, on_click)
    made.setProperty("kind", "ghost")
    return made

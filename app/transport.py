"""A film's controls: play, speed, and a timeline with every server and point."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from app import theme as look
from app.charts import words
from app.charts.drawing import draw_marker, draw_text, elided, text_width
from app.film import Mark, Position, Reel
from app.theme import Theme, Weight, font, with_opacity
from app.widgets import Choice, button, column, label, row
from workbench import wording

SPEEDS = (1, 10, 60, 300, 1000)


class Transport(QFrame):
    """Says what is wanted; `tell` says where the film is."""

    play_wanted, pause_wanted = Signal(), Signal()
    seek_wanted, speed_wanted = Signal(float), Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setFixedHeight(142)
        self._theme = theme
        self._at = Position(0.0, True, 1.0)
        self._reel: Reel | None = None
        inside = column(self, margin=14, gap=8)
        head = row(gap=10)
        self._play = QPushButton()
        self._play.setFixedSize(44, 44)
        self._play.setProperty("kind", "primary")
        self._play.setStyleSheet("border-radius: 21px; padding: 0; min-height: 42px;")
        self._play.setIconSize(QSize(18, 18))
        self._play.clicked.connect(self.toggle)
        self._clock = label("", 20, Weight.DemiBold, figures=True)
        self._clock.setAccessibleName("Position")
        self._of = label("", 13, tone="muted", figures=True)
        self._where = label("", 12, tone="soft")
        self._speed = Choice("Speed")
        for speed in SPEEDS:
            self._speed.addItem(f"{speed}x", float(speed))
        self._speed.currentIndexChanged.connect(
            lambda _: self.speed_wanted.emit(self._speed.currentData())
        )
        end = button("Jump to the end", "fast-forward", on_click=self.to_end)
        for part in (self._play, self._clock, self._of, self._where):
            head.addWidget(part)
        head.addStretch(1)
        for part in (label("Speed", 12, tone="muted"), self._speed, end):
            head.addWidget(part)
        inside.addLayout(head)
        self.timeline = Timeline(theme)
        self.timeline.sought.connect(self.seek_wanted)
        inside.addWidget(self.timeline, 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._tell_play()

    def load(self, reel: Reel) -> None:
        """Another film, at its end."""
        self._reel = reel
        self.timeline.load(reel.marks, reel.duration_us)
        self._speed.setCurrentIndex(2)
        self.tell(Position(float(reel.duration_us), True, 60.0))

    @property
    def speed(self) -> float:
        return float(self._speed.currentData())

    def tell(self, position: Position) -> None:
        self._at = position
        if self._reel is None:
            return
        self._clock.setText(wording.clock(position.at_us / 1e6))
        self._of.setText(f"of {wording.clock(self._reel.duration_us / 1e6)}")
        mark = self.timeline.mark_at(position.at_us)
        said = ""
        if mark is not None:
            count, place = len(self._reel.marks), self._reel.marks.index(mark) + 1
            rate = words.per_second(mark.rate_per_s)
            said = f"{mark.name}, {rate}, point {place} of {count}"
        self._where.setText(said)
        self.timeline.set_position(position.at_us)
        self._tell_play()

    def toggle(self) -> None:
        (self.play_wanted if self._at.paused else self.pause_wanted).emit()

    def to_end(self) -> None:
        if self._reel is not None:
            self.seek_wanted.emit(float(self._reel.duration_us))

    def step(self, points: int) -> None:
        """To the end of a neighbouring point."""
        self.timeline.step(points)

    def _tell_play(self) -> None:
        name = "Play" if self._at.paused else "Pause"
        self._play.setAccessibleName(name)
        self._play.setToolTip(f"{name} (Space)")
        self._play.setIcon(look.icon(name.lower(), self._theme.on_primary))


class Timeline(QWidget):
    """Blocks in the servers' colours, a tick a point, and the playhead."""

    sought = Signal(float)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._marks: Sequence[Mark] = ()
        self._ends: list[int] = []
        self._duration = 1
        self._at = 0.0
        self.setMinimumHeight(46)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def load(self, marks: Sequence[Mark], duration_us: int) -> None:
        self._marks, self._duration = marks, max(1, duration_us)
        self._ends = [mark.stop_us for mark in marks]
        self.update()

    def set_position(self, at_us: float) -> None:
        self._at = at_us
        self.update()

    def mark_at(self, at_us: float) -> Mark | None:
        """The point at a time, or the one before it."""
        place = bisect_right(self._ends, at_us - 1)
        if place < len(self._marks) and self._marks[place].start_us <= at_us:
            return self._marks[place]
        return self._marks[place - 1] if place else None

    def step(self, points: int) -> None:
        if not self._ends:
            return
        if points > 0:
            place = bisect_right(self._ends, self._at)
        else:
            place = bisect_right(self._ends, self._at - 1) - 1
        ends = [0, *self._ends, self._duration]
        self.sought.emit(float(ends[min(max(place + 1, 0), len(ends) - 1)]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            share = event.position().x() / max(1, self.width())
            self._at = min(1.0, max(0.0, share)) * self._duration
            self.sought.emit(self._at)
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        keys = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in keys:
            self.step(keys[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _x(self, at_us: float) -> float:
        return self.width() * at_us / self._duration

    def _blocks(self) -> list[tuple[Mark, Mark]]:
        """(first, last) of each stretch of one server."""
        blocks: list[tuple[Mark, Mark]] = []
        for mark in self._marks:
            if blocks and blocks[-1][1].server == mark.server:
                blocks[-1] = (blocks[-1][0], mark)
            else:
                blocks.append((mark, mark))
        return blocks

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, bar = self._theme, QRectF(0, 18, self.width(), self.height() - 18 - 8)
        for first, last in self._blocks():
            self._paint_block(painter, bar, first, last)
        painter.setPen(QPen(QColor(theme.edge), 1))
        for mark in self._marks:
            x = self._x(mark.stop_us)
            painter.drawLine(QPointF(x, bar.bottom() + 2), QPointF(x, bar.bottom() + 6))
        x = min(max(self._x(self._at), 5.0), self.width() - 5.0)
        painter.setPen(QPen(QColor(theme.text), 2))
        painter.drawLine(QPointF(x, bar.top() - 5), QPointF(x, bar.bottom() + 8))
        painter.setBrush(QColor(theme.text))
        painter.drawEllipse(QPointF(x, bar.center().y()), 4.5, 4.5)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.focus), 2))
            painter.drawRoundedRect(bar.adjusted(1, -1, -1, 1), 4, 4)
        painter.end()

    def _paint_block(self, painter: QPainter, bar: QRectF, first: Mark, last: Mark) -> None:
        theme, style = self._theme, self._theme.series(first.index)
        left, right = self._x(first.start_us), self._x(last.stop_us) - 2
        box = QRectF(left, bar.top(), max(2.0, right - left), bar.height())
        done = min(max(self._x(self._at) - left, 0.0), box.width())
        painter.fillRect(box, with_opacity(style.colour, 0.28))
        painter.fillRect(QRectF(left, box.top(), done, box.height()), style.tint())
        if style.dashed:
            painter.setPen(QPen(QColor(theme.card), 2))
            for notch in range(int(box.left()) + 6, int(box.right()), 9):
                painter.drawLine(QPointF(notch, box.bottom() - 6), QPointF(notch + 5, box.bottom()))
        size = font(12, Weight.Medium)
        name = elided(first.name, size, box.width() - 14)
        if text_width(name, size) > 14:
            draw_marker(painter, style, QPointF(left + 5, 8), 3.6, theme.card)
            draw_text(painter, QPointF(left + 14, 8), name, size, theme.soft)

"""The last seconds of a run: replies of every window over the scheduled calls, and
response times.
"""

from __future__ import annotations

from collections import deque
from math import log10

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy

from app.charts import words
from app.charts.drawing import draw_text, text_width
from app.charts.scales import log_ticks, round_up
from app.charts.strokes import draw_hair, draw_segments
from app.colour import with_opacity
from app.painted import Painted
from app.theme import Theme, font
from workbench.axis import RATE
from workbench.documents import WINDOW_US, AnyDocument, PointStart, RunStart, Window
from workbench.results.setup import Setup

WINDOWS = 50
"""Ten seconds."""

_LEFT, _FOOT, _TOP = 44.0, 18.0, 4.0
_TICKS_APART = 18.0
_NAMES_APART = 12.0


class Pulse:
    """Consumes documents; remembers the last windows."""

    def __init__(self) -> None:
        self.recent: deque[tuple[PointStart, Window]] = deque(maxlen=WINDOWS)
        self.axis = RATE
        self.point: PointStart | None = None
        self.paced = True
        """Whether calls have a schedule; in a closed loop the server sets the pace."""

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case RunStart():
                self.recent.clear()
                self.axis = document.axis or RATE
                self.paced = not Setup(document).closed
                self.point = None
            case PointStart():
                if self.point is not None and self.point.server != document.server:
                    self.recent.clear()
                self.point = document
            case Window() if self.point is not None and document.point == self.point.point:
                self.recent.append((self.point, document))

    @property
    def still_to_come(self) -> int:
        """Windows of the running point's schedule."""
        if self.point is None:
            return 0
        got = sum(1 for point, _ in self.recent if point is self.point)
        return max(0, round(self.point.seconds * 1e6 / WINDOW_US) - got)


class _Plot(Painted):
    """Axes and space; the data drawn belong to the window, not to the session."""

    RIGHT = 0.0
    """The room right of the axes."""

    def __init__(self, pulse: Pulse, theme: Theme) -> None:
        super().__init__(theme)
        self.pulse, self.colour = pulse, theme.muted
        self.setMinimumSize(140, 44)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def paint(self, painter: QPainter) -> None:
        room = QRectF(_LEFT, _TOP, self.width() - _LEFT - self.RIGHT, self.height() - _FOOT - _TOP)
        if self.pulse.point is not None:
            self.draw(painter, room)

    def draw(self, painter: QPainter, room: QRectF) -> None:
        raise NotImplementedError

    def tick(self, painter: QPainter, room: QRectF, y: float, text: str) -> None:
        draw_hair(painter, room.left(), room.right(), y, self.theme.line)
        at = QPointF(room.left() - 6, y)
        draw_text(painter, at, text, font(11, figures=True), self.theme.muted, "right")


class Replies(_Plot):
    """One bar per window; empty slots are still to come."""

    def draw(self, painter: QPainter, room: QRectF) -> None:
        recent = list(self.pulse.recent)
        to_come = min(self.pulse.still_to_come, WINDOWS // 2)
        recent = recent[-(WINDOWS - to_come) :]
        due = [window.due for _, window in recent] if self.pulse.paced else []
        most = max([*due, *(window.replies for _, window in recent), 10])
        top = round_up(most * 1.02)
        for share in (0.0, 1.0):
            y = room.bottom() - share * room.height()
            self.tick(painter, room, y, words.count(share * top))
        step = room.width() / WINDOWS
        gap = min(2.0, step * 0.3)
        first = room.right() - step * (len(recent) + to_come)
        middle = first + step * (np.arange(len(recent)) + 0.5)
        tall = room.height() / top * np.array([window.replies for _, window in recent])
        foot = np.full(len(recent), room.bottom())
        bars = np.column_stack((middle, foot - tall, middle, foot))
        now = np.array([point is self.pulse.point for point, _ in recent], dtype=np.bool_)
        for strength, those in ((0.5, ~now), (1.0, now)):
            # As lines, which Qt draws much faster than rectangles with smooth edges.
            pen = QPen(with_opacity(self.colour, strength), step - gap)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            draw_segments(painter, bars[those])
        painter.setPen(QPen(QColor(self.theme.line2), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        planned = room.height() * (due[-1] if due else 0) / top
        for n in range(to_come):
            x = first + (len(recent) + n) * step + gap / 2
            painter.drawRect(QRectF(x, room.bottom() - planned, step - gap, planned))
        stair = QPolygonF()
        for n, count in enumerate(due):
            y = room.bottom() - room.height() * count / top
            stair.append(QPointF(first + n * step, y))
            stair.append(QPointF(first + (n + 1) * step, y))
        painter.setPen(QPen(QColor(self.theme.text), 1.5))
        painter.drawPolyline(stair)
        self._name_points(painter, room, recent, first, step)

    def _name_points(
        self,
        painter: QPainter,
        room: QRectF,
        recent: list[tuple[PointStart, Window]],
        first: float,
        step: float,
    ) -> None:
        """Draw from the right, so that the running point has its rate."""
        y, free = room.bottom() + _FOOT / 2 + 2, room.right() + 1
        begins = {point.point: n for n, (point, _) in reversed(list(enumerate(recent)))}
        size = font(11, figures=True)
        for point, _ in reversed(recent):
            n = begins.pop(point.point, None)
            if n is None:
                continue
            text = self.pulse.axis.of(point)
            width = text_width(text, size)
            x = min(first + n * step, room.right() - width)
            if x + width <= free:
                colour = self.theme.text if point is self.pulse.point else self.theme.muted
                draw_text(painter, QPointF(x, y), text, size, colour)
                free = x - 8


class Times(_Plot):
    """p99 strong, p50 pale, on a logarithmic scale, each named at its end."""

    RIGHT = 30.0

    def draw(self, painter: QPainter, room: QRectF) -> None:
        recent = [window for _, window in self.pulse.recent]
        known = [window.latency_us for window in recent if window.latency_us is not None]
        low = log10(max(100, min((t.p50 for t in known), default=1000) * 0.8))
        high = log10(max(10_000, max((t.p99 for t in known), default=10_000) * 1.25))

        def y(us: float) -> float:
            share = (log10(max(us, 1)) - low) / (high - low)
            return room.bottom() - min(1.0, max(0.0, share)) * room.height()

        apart = _TICKS_APART * (high - low) / max(1.0, room.height())
        for us in log_ticks(10**low, 10**high, apart):
            text = f"{us / 1e6:g} s" if us >= 1e6 else f"{us / 1000:g} ms"
            self.tick(painter, room, y(us), text)
        step = room.width() / WINDOWS
        first = room.right() - step * len(recent)
        for percentile, width, strength in (("p50", 1.2, 0.5), ("p99", 2.0, 1.0)):
            line = QPolygonF()
            for n, window in enumerate(recent):
                if window.latency_us is not None:
                    at = y(getattr(window.latency_us, percentile))
                    line.append(QPointF(first + (n + 0.5) * step, at))
            painter.setPen(QPen(with_opacity(self.colour, strength), width))
            painter.drawPolyline(line)
        if known:
            self._name_lines(painter, room, y(known[-1].p99), y(known[-1].p50))
        foot = room.bottom() + _FOOT / 2 + 2
        size, muted = font(11), self.theme.muted
        draw_text(painter, QPointF(room.left(), foot), "10 s ago", size, muted)
        draw_text(painter, QPointF(room.right(), foot), "now", size, muted, "right")

    def _name_lines(self, painter: QPainter, room: QRectF, p99: float, p50: float) -> None:
        """Name the lines right of their ends, as far apart as the names need."""
        size, x = font(11), room.right() + 5
        middle = (p99 + p50 + _NAMES_APART) / 2
        lower = min(room.bottom(), max(p50, middle, room.top() + _NAMES_APART))
        upper = min(p99, lower - _NAMES_APART)
        draw_text(painter, QPointF(x, upper), "p99", size, self.theme.text)
        draw_text(painter, QPointF(x, lower), "p50", size, self.theme.muted)

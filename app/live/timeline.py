"""A film's timeline: every server and point, the events, and the playhead."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip

from app.charts.drawing import draw_marker, draw_text, elided, text_width
from app.live.film import Alert, Mark, Reel
from app.painted import Painted, draw_focus
from app.plain import tip
from app.theme import Weight, font, with_opacity
from workbench import formatting

_LEAST = 46
_TICKS_APART = 3.0
_HEAD, _FOOT = 24, 8
"""Space above the bar for names and warnings, and below it for a tick per point."""
_NEAR_PX = 6.0
_MARKED_FROM = 14.0
"""The narrowest stretch with the marker of its server."""
_NAMED_FROM = 30.0
"""The least room for a part of a name."""
_HATCHED = Qt.BrushStyle.BDiagPattern


class Timeline(Painted):
    """Blocks in the servers' colours, a tick per point, and the playhead."""

    sought = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._marks: Sequence[Mark] = ()
        self._ends: list[int] = []
        self._stretches: list[tuple[Mark, Mark]] = []
        self._alerts: Sequence[Alert] = ()
        self._asides: Mapping[str, tuple[int, int]] = {}
        self._duration = 1
        self._at = 0.0
        self.setMinimumHeight(_LEAST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Timeline")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def load(self, reel: Reel) -> None:
        self._marks, self._duration = reel.marks, max(1, reel.duration_us)
        self._alerts, self._asides = reel.alerts, reel.asides
        self._ends = [mark.stop_us for mark in reel.marks]
        self._stretches = _stretches(reel.marks)
        self.update()

    def set_position(self, at_us: float) -> None:
        self._at = at_us
        self.update()

    def describe_at(self, at_us: float) -> str:
        """Describe what is measured at a time; empty: nothing was measured yet."""
        marks, place = self._marks, bisect_right(self._ends, at_us - 1)
        if place == len(marks) or marks[place].start_us > at_us:
            place -= 1  # the point before
        since = marks[place].start_us if place >= 0 else -1
        asides = (name for name, (begin, _) in self._asides.items() if since < begin <= at_us)
        # The name comes last, so that no figure is cut.
        point = f"Point {place + 1} of {len(marks)}: {marks[place].where}" if place >= 0 else ""
        return formatting.capital(next(asides, point))

    def step(self, points: int) -> None:
        self._step(self._ends, points)

    def step_server(self, stretches: int) -> None:
        self._step([last.stop_us for _, last in self._stretches], stretches)

    def _step(self, stops: Sequence[int], steps: int) -> None:
        if not stops:
            return
        if steps > 0:
            place = bisect_right(stops, self._at)
        else:
            place = bisect_right(stops, self._at - 1) - 1
        ends = [0, *stops, self._duration]
        self.sought.emit(float(ends[min(max(place + 1, 0), len(ends) - 1)]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._at = self._time(event.position().x())
            self.sought.emit(self._at)
            self.update()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            x = event.pos().x()
            near = (a.text for a in self._alerts if abs(self._x(a.t_us) - x) < _NEAR_PX)
            tip_text = "\n".join(filter(None, [self.describe_at(self._time(x)), *near]))
            QToolTip.showText(event.globalPos(), tip(tip_text), self)
            return True
        return super().event(event)

    def _x(self, at_us: float) -> float:
        return self.width() * at_us / self._duration

    def _time(self, x: float) -> float:
        share = x / max(1, self.width())
        return min(max(share, 0.0), 1.0) * self._duration

    def _bar(self) -> QRectF:
        return QRectF(0, _HEAD, self.width(), self.height() - _HEAD - _FOOT)

    def paint(self, painter: QPainter) -> None:
        theme, bar = self.theme, self._bar()
        self._paint_ground(painter, bar)
        for first, last in self._stretches:
            self._paint_stretch(painter, bar, first, last)
        x = min(max(self._x(self._at), 5.0), self.width() - 5.0)
        top, foot = QPointF(x, bar.top() - 5), QPointF(x, bar.bottom() + 8)
        # A rim in the background colour makes it visible on every server's colour.
        for colour, more in ((theme.card, 2.0), (theme.text, 0.0)):
            painter.setPen(QPen(QColor(colour), 2 + 2 * more))
            painter.drawLine(top, foot)
        for colour, more in ((theme.card, 2.0), (theme.text, 0.0)):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawEllipse(QPointF(x, bar.center().y()), 5.5 + more, 5.5 + more)
        if self.hasFocus():
            draw_focus(painter, theme, bar.adjusted(1, -1, -1, 1), 4)

    def _paint_ground(self, painter: QPainter, bar: QRectF) -> None:
        """Draw a tick per point, names and alerts."""
        theme, last = self.theme, -10.0
        painter.setPen(QPen(QColor(theme.edge), 1))
        for end in self._ends:
            x = round(self._x(end)) + 0.5
            if x - last >= _TICKS_APART:
                painter.drawLine(QPointF(x, bar.bottom() + 2), QPointF(x, bar.bottom() + 6))
                last = x
        for name, span in self._asides.items():
            self._paint_aside(painter, bar, *span, name)
        self._paint_names(painter)
        for alert in self._alerts:
            at = QPointF(self._x(alert.t_us), bar.top() - 5.5)
            draw_text(painter, at, "!", font(11, Weight.DemiBold), theme.warn, "middle")

    def _paint_names(self, painter: QPainter) -> None:
        """Draw the marker of each stretch, and as much of the name as there is room for."""
        size, free = font(11, Weight.Medium), self.width() + 0.0
        for first, last in reversed(self._stretches):
            left, wide = self._x(first.start_us), self._x(last.stop_us - first.start_us)
            if first.attempt == 1 and wide > _MARKED_FROM:
                style = self.theme.series(first.index)
                draw_marker(painter, style, QPointF(left + 5, 8), 3.6, self.theme.card)
                if (room := free - 5 - left - 14) >= _NAMED_FROM:
                    text = elided(first.name, size, room)
                    draw_text(painter, QPointF(left + 14, 8), text, size, self.theme.soft)
            free = left

    def _paint_aside(self, painter: QPainter, bar: QRectF, begin: int, end: int, name: str) -> None:
        """Mark what gives no results: hatched, like the client limit in the charts."""
        box = QRectF(bar)
        box.setLeft(self._x(begin))
        box.setRight(max(box.left() + 2, self._x(end) - 2))
        painter.fillRect(box, with_opacity(self.theme.muted, 0.16))
        painter.fillRect(box, QBrush(with_opacity(self.theme.muted, 0.5), _HATCHED))
        if text_width(name, size := font(11)) < box.width():
            draw_text(painter, QPointF(box.left(), 8), name, size, self.theme.muted)

    def _paint_stretch(self, painter: QPainter, bar: QRectF, first: Mark, last: Mark) -> None:
        style = self.theme.series(first.index)
        left, right = self._x(first.start_us), self._x(last.stop_us) - 2
        box = QRectF(left, bar.top(), max(2.0, right - left), bar.height())
        done = min(max(self._x(self._at) - left, 0.0), box.width())
        painter.fillRect(box, with_opacity(style.colour, 0.28))
        painter.fillRect(QRectF(left, box.top(), done, box.height()), style.tint())


def _stretches(marks: Sequence[Mark]) -> list[tuple[Mark, Mark]]:
    """Return (first, last) of each stretch of one server; repeats are a stretch of their own."""
    found: list[tuple[Mark, Mark]] = []
    for mark in marks:
        last = found[-1][1] if found else None
        again = last is not None and mark.attempt > last.attempt and mark.offered != last.offered
        if last is not None and last.server == mark.server and not again:
            found[-1] = (found[-1][0], mark)
        else:
            found.append((mark, mark))
    return found

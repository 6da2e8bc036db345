"""The strip under a live comparison: server, rate, results so far, time left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QVBoxLayout, QWidget

from app.charts import words
from app.charts.drawing import Swatch, fitting
from app.live.recent_windows import Pulse, Replies, Times
from app.painted import Painted
from app.scrolling import ANY, stacked
from app.style_places import style_places
from app.theme import Theme, Weight, font
from app.widgets import Elided, column, frame, label, row
from workbench import formatting
from workbench.documents import WINDOW_US, AnyDocument, PointStart
from workbench.run.progress import RunProgress

_DOING = {
    "warm_up": "warming up",
    "ceiling": "what the clients reach alone: beyond it, no server can be judged",
    "profile": "profiling",
}
_NARROW = 900
"""Below this width the plots need the room of what stands on both sides."""
_PLOTS_PX = 84
"""The height of the plots where they stand below."""
_SIDE, _NARROW_SIDE = 196, 148
"""The width of the server and of the time left."""

_BLOCK_PX, _BETWEEN = 10, 4
_NOTCH, _STEP = 4.0, 8.0
"""The width of a notch, and from one to the next."""


class NowStrip(QFrame):
    """Consumes documents; redraws on `refresh`."""

    HEIGHT, COMPACT = 142, 94

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._paused = self._compact = False
        self.progress, self._pulse = RunProgress(), Pulse()
        self._replies, self._times = Replies(self._pulse, theme), Times(self._pulse, theme)
        self._inside = QGridLayout(self)
        self._inside.setHorizontalSpacing(10)
        self._now, self._hair, self._line = self._make_now(), _line(), _line()
        self._plots = QWidget()
        inside = row(self._plots, gap=10)
        self._replies_now = label("", 12, Weight.DemiBold, figures=True)
        self._replies_title = label("Replies", 13, Weight.DemiBold)
        self._replies_about = Elided(12, tone="muted", droppable=True)
        replies = self._replies_title, self._replies_about, self._replies_now, self._replies
        inside.addLayout(_titled(*replies), 4)
        inside.addSpacing(8)
        self._time_now = label("", 12, Weight.DemiBold, figures=True)
        title, about = label("Response time", 13, Weight.DemiBold), Elided(droppable=True)
        self._times.setAccessibleName("Response time, p99 and p50")
        inside.addLayout(_titled(title, about, self._time_now, self._times), 3)
        self._rest = self._make_left()
        self._below: bool | None = None
        self._fit()
        self.show_status("")

    def __call__(self, document: AnyDocument) -> None:
        self.progress(document)
        self._pulse(document)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._segments.set_theme(theme)
        self._show_server()
        self._show_left()

    def clear(self) -> None:
        self.progress, self._pulse = RunProgress(), Pulse()
        self._replies.pulse = self._times.pulse = self._pulse
        self.show_status("")
        self.refresh()

    def set_compact(self, compact: bool) -> None:
        """Make the strip lower, for windows without much height."""
        self._compact = compact
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        compact, narrow = self._compact, self.width() < _NARROW
        self._place(below=stacked(self.width()))
        high = self.COMPACT if compact else self.HEIGHT
        self.setFixedHeight(high + _PLOTS_PX * bool(self._below))
        self._inside.setContentsMargins(14, *((7, 14, 7) if compact else (14, 14, 14)))
        size = 20 if narrow else 24 if compact else 34
        self._rate.setFont(font(size, Weight.DemiBold, figures=True))
        self._left.setFont(font(16 if compact else 20, Weight.DemiBold, figures=True))
        self._beside.setSpacing(3 if compact else 5)
        for side in (self._now, self._rest):
            side.setMinimumWidth(_NARROW_SIDE if narrow else _SIDE)
            side.setMaximumWidth(ANY if self._below else side.minimumWidth())
        self._show_left()

    def _place(self, *, below: bool) -> None:
        """Place the plots between server and time left, or below both."""
        if below == self._below:
            return
        self._below = below
        for part in (self._now, self._hair, self._plots, self._line, self._rest):
            self._inside.removeWidget(part)
        if below:
            placed = (self._now, 0, 0, 1), (self._hair, 0, 1, 1), (self._rest, 0, 2, 1)
            placed = *placed, (self._plots, 1, 0, 3)
        else:
            parts = self._now, self._hair, self._plots, self._line, self._rest
            placed = tuple((part, 0, at, 1) for at, part in enumerate(parts))
        for part, line, at, across in placed:
            self._inside.addWidget(part, line, at, 1, across)
        self._line.setVisible(not below)  # not before it has a parent: it would be a window
        self._inside.setColumnStretch(2, 1)
        self._inside.setRowStretch(1, int(below))

    def set_paused(self, paused: bool) -> None:
        """Show a pause, during which the end of the run is unknown."""
        self._paused = paused
        self._show_left()

    def show_status(self, text: str) -> None:
        """Show the current step between points."""
        self._doing.setText(text)

    def refresh(self) -> None:
        progress = self.progress
        now = progress.current_server
        point = now.point if now else None
        self._show_server()
        if point is not None:
            axis = progress.axis
            self._rate.setText(axis.figure(point.x))
            self._unit.setText("/s offered" if axis.per_second else axis.unit)
            self.show_status(self._where(point))
        elif now is None or now is not progress.now:
            self._rate.setText("")
            self._unit.setText("")
        for part in (self._rate, self._unit):
            part.setVisible(bool(part.text()))
        self._server.setVisible(bool(self._server.whole))
        window = now.window if now else None
        title, line = progress.axis.replies.capitalize(), "line: offered rate" * self._pulse.paced
        self._replies_title.setText(title)
        each = "" if window else "per 200 ms"
        self._replies_about.show_text("; ".join(filter(None, (each, line))))
        self._replies.setAccessibleName("; ".join(filter(None, (f"{title} per 200 ms", line))))
        self._replies_now.setText(f"{window.replies:,} per 200 ms" if window else "")
        times = window.latency_us if window else None
        self._time_now.setText(f"p99 {formatting.duration(times.p99)}" if times else "")
        self._show_left()
        self._replies.update()
        self._times.update()

    def _where(self, point: PointStart) -> str:
        doing, now = _DOING.get(point.purpose), self.progress.now
        if doing:
            return doing
        if point.purpose == "search":
            here = [s for s in now.stops if s.pass_number == point.pass_number] if now else []
            return f"search, point {len(here) + 1}{self._course(point)}"
        if point.look > 1:
            return f"{formatting.ordinal(point.look)} try{self._course(point)}"
        done, total = self.progress.in_block
        # After the last sustained rate, higher ones follow, which were not counted.
        place = min(done + 1, total)
        return f"point {place} of {total}{self._course(point)}"

    def _course(self, point: PointStart) -> str:
        """Return the progress of the point's schedule: " · 1.0 of 1.5 s"."""
        window = self.progress.now.window if self.progress.now else None
        if not point.seconds or window is None:
            return ""
        elapsed = (window.index + 1) * WINDOW_US / 1e6
        if elapsed > point.seconds + 0.2:
            return f" · waiting for last {self.progress.axis.replies}"
        return f" · {min(elapsed, point.seconds):.1f} of {point.seconds:.1f} s"

    def _show_server(self) -> None:
        progress, now = self.progress, self.progress.current_server
        places = style_places(progress.servers)
        id_, name = (now.id, now.name) if now else ("", "")
        calibrates = id_ in words.TOOLS and id_ not in places
        self._server.show_text("Client calibration" if calibrates else name)
        self._swatch.setVisible(id_ in places)
        if id_ in places:
            self._swatch.set_style(self._theme.series(places[id_]))
        # The plots still show the previous measurement.
        last = progress.now.id if progress.now else ""
        style = self._theme.series(places[last]) if last in places else None
        self._replies.colour = self._times.colour = style.colour if style else self._theme.muted

    def _show_left(self) -> None:
        parts = (self._left, self._ends, self._share)
        for part, forms in zip(parts, self._texts(), strict=True):
            part.setText(fitting(forms, part.font(), self._rest.width()))
        servers, places = self.progress.servers, style_places(self.progress.servers)
        shares = [(places[s.id], len(s.stops) / max(1, s.total)) for s in servers.values()]
        self._segments.show_shares(shares)

    @property
    def points(self) -> str:
        """How many points were measured of those planned: "18 of 20 points"."""
        # The points of a server that was skipped or crashed were not measured.
        stops = [stop for server in self.progress.servers.values() for stop in server.stops]
        measured = sum(stop.complete for stop in stops)
        return f"{measured:,} of {max(measured, self.progress.total):,} points"

    def _texts(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return what is said of the time left, longer forms first."""
        progress = self.progress
        if progress.left_s is None:
            return (), (), ()
        at = datetime.now().astimezone() + timedelta(seconds=progress.left_s)
        own = formatting.clock(progress.block_left_s or 0.0)
        points = f"{progress.done:,} of {progress.total:,} points"
        ends = (f"ends about {at:%H:%M} · {points}", f"ends {at:%H:%M} · {points}", points)
        stretch = self._stretch()
        left = (f"{formatting.clock(progress.left_s)} left",)
        return left, ends[2 * self._paused :], (f"{stretch[0]} · {own} left", *stretch)

    def _stretch(self) -> tuple[str, ...]:
        """Return which server is in progress: "Server 3 of 8", with passes "Pass 2 of 5, server 3
        of 8", longer forms first.
        """
        if again := self.progress.repeat_block:
            return (f"Repeating, {again[0]} of {again[1]}",)
        (place, blocks), servers = self.progress.block, max(1, len(self.progress.servers))
        place_text = f"server {(place - 1) % servers + 1} of {servers}"
        passes = blocks // servers
        if passes <= 1:
            return (place_text.capitalize(),)
        pass_text = f"Pass {(place - 1) // servers + 1} of {passes}"
        return f"{pass_text}, {place_text}", pass_text

    def _make_now(self) -> QWidget:
        inside = column(made := QWidget(), gap=2)
        head = row()
        self._swatch = Swatch(self._theme.series(0), self._theme)
        self._server = Elided(14, Weight.DemiBold)
        head.addWidget(self._swatch)
        head.addWidget(self._server, 1)
        inside.addLayout(head)
        big = row(gap=4)
        self._rate = label("", 34, Weight.DemiBold, figures=True)
        self._rate.setAccessibleName("Offered rate")
        self._unit = label("", 12, tone="muted")
        big.addWidget(self._rate)
        big.addWidget(self._unit, 1, Qt.AlignmentFlag.AlignVCenter)
        inside.addLayout(big)
        self._doing = label("", 12, tone="soft", wrap=True)
        inside.addWidget(self._doing)
        inside.addStretch()
        return made

    def _make_left(self) -> QWidget:
        self._beside = column(made := QWidget(), gap=5)
        self._left = label("", 20, Weight.DemiBold, figures=True)
        self._left.setAccessibleName("Time left")
        self._ends = label("", 12, tone="muted", figures=True)
        self._share = label("", 12, tone="soft", figures=True)
        self._segments = ServerBlocks(self._theme)
        for part in (self._left, self._ends, self._segments, self._share):
            self._beside.addWidget(part)
        self._beside.addStretch()
        return made


def _line() -> QFrame:
    made = frame("hair")
    made.setFixedWidth(1)
    return made


def _titled(title: QLabel, about: Elided, figure: QLabel, plot: QWidget) -> QVBoxLayout:
    made = QVBoxLayout()
    made.setSpacing(4)
    head = row()
    head.addWidget(title)
    head.addWidget(about, 1)
    head.addWidget(figure)
    made.addLayout(head)
    made.addWidget(plot, 1)
    return made


class ServerBlocks(Painted):
    """One block per server, filled as its points are finished, in the server's colour; notched
    where its line is dashed, as on the timeline of a film.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setFixedHeight(_BLOCK_PX)
        self._shares: Sequence[tuple[int, float]] = ()

    def show_shares(self, shares: Sequence[tuple[int, float]]) -> None:
        """Set the index of each server's style, and what share of it is finished."""
        if shares != self._shares:
            self._shares = shares
            self.update()

    def paint(self, painter: QPainter) -> None:
        for n, (index, share) in enumerate(self._shares):
            wide = (self.width() + _BETWEEN) / len(self._shares)
            box = QRectF(n * wide, 0, wide - _BETWEEN, self.height())
            style = self.theme.series(index)
            painter.fillRect(box, QColor(self.theme.line))
            done = QRectF(box)
            done.setWidth(box.width() * min(1.0, share))
            painter.fillRect(done, style.tint())
            if style.dashed:
                self._notch(painter, box)

    def _notch(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(QPen(QColor(self.theme.card), 2))
        x = box.left() + _NOTCH
        while x + _NOTCH < box.right():
            painter.drawLine(QPointF(x, box.bottom() - 6), QPointF(x + _NOTCH, box.bottom()))
            x += _STEP

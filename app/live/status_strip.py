"""The strip under a live comparison: server, rate, results so far, time left."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from math import isnan, nan

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QProgressBar, QWidget

from app.charts import words
from app.charts.drawing import Swatch, fitting
from app.charts.scales import end, round_up
from app.live.trace import NOTHING, Reading, Trace
from app.scrolling import ANY, stacked
from app.style_places import style_places
from app.theme import Theme, Weight, current, font
from app.widgets import Elided, beside, column, frame, label, row
from workbench import formatting
from workbench.documents import WINDOW_US, AnyDocument, PointStart, RunStart, Window
from workbench.results.setup import Setup
from workbench.run.progress import RunProgress

_DOING = {
    "warm_up": "warming up",
    "ceiling": "what the clients reach alone: beyond it, no server can be judged",
    "profile": "profiling",
}
_NARROW = 900
"""Below this width the plots need the room of what stands on both sides."""
_SIDE, _NARROW_SIDE = 196, 148
"""The width of the server and of the time left."""

_WINDOWS = 50
"""Ten seconds."""


class NowStrip(QFrame):
    """Consumes documents; redraws on `refresh`."""

    HEIGHT, COMPACT = 142, 94

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._paused = self._compact = False
        self.progress = RunProgress()
        self.recent: deque[Window] = deque(maxlen=_WINDOWS)
        self._point: PointStart | None = None
        self._paced = True
        """Whether calls have a schedule; in a closed loop the server sets the pace."""
        self._replies = Trace("Replies", "per 200 ms")
        self._times = Trace("Response time", "p99; dotted: p50")
        self._plots = QWidget()
        row(self._plots, (self._replies, 4), (self._times, 3), gap=18)
        self._now, self._line, self._rest = self._make_now(), _line(), self._make_left()
        parts = self._now, _line(), (self._plots, 1), self._line, self._rest
        self._inside = row(self, *parts, gap=10)
        self._fit()
        self.show_status("")

    def __call__(self, document: AnyDocument) -> None:
        """Handle the next document; the last windows are those of the running server."""
        self.progress(document)
        match document:
            case RunStart():
                self._paced = not Setup(document).closed
                self.recent.clear()
                self._point = None
            case PointStart():
                if self._point is not None and self._point.server != document.server:
                    self.recent.clear()
                self._point = document
            case Window() if self._point is not None and document.point == self._point.point:
                self.recent.append(document)

    def set_theme(self, theme: Theme) -> None:
        self._show_recent()
        self._show_server()
        self._show_left()

    def clear(self) -> None:
        self.progress = RunProgress()
        self.recent.clear()
        self.show_status("")
        self.refresh()

    def set_compact(self, compact: bool) -> None:
        """Make the strip lower, for windows without much height."""
        self._compact = compact
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        compact, narrow, alone = self._compact, self.width() < _NARROW, stacked(self.width())
        for part in (self._plots, self._line):  # the charts above show the same
            part.setVisible(not alone)
        self.setFixedHeight(self.COMPACT if compact else self.HEIGHT)
        self._inside.setContentsMargins(14, *((7, 14, 7) if compact else (14, 14, 14)))
        size = 20 if narrow else 24 if compact else 34
        self._rate.setFont(font(size, Weight.DemiBold, figures=True))
        self._left.setFont(font(16 if compact else 20, Weight.DemiBold, figures=True))
        self._beside.setSpacing(3 if compact else 5)
        for side in (self._now, self._rest):
            side.setMinimumWidth(_NARROW_SIDE if narrow else _SIDE)
            side.setMaximumWidth(ANY if alone else side.minimumWidth())
        self._show_left()

    def set_paused(self, paused: bool) -> None:
        self._paused = paused
        self._show_left()

    def show_status(self, text: str) -> None:
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
        self._show_recent()
        self._show_left()

    def _show_recent(self) -> None:
        if not self.recent:
            for each in (self._replies, self._times):
                each.display(NOTHING, "", _WINDOWS)
            return
        places = style_places(self.progress.servers)
        last = self.progress.now.id if self.progress.now else ""
        theme = current()
        colour = theme.series(places[last]).colour if last in places else theme.muted
        due = [float(each.due) for each in self.recent] if self._paced else []
        replies = [float(each.replies) for each in self.recent]
        top = float(round_up(max(*due, *replies, 10.0) * 1.02))
        latest = self.recent[-1]
        offered = f"of {latest.due:,} offered" if self._paced else self.progress.axis.replies
        reading = Reading(f"{latest.replies:,}", offered, replies, top, words.count(top), due)
        self._replies.display(reading, colour, _WINDOWS)
        times = [each.latency_us for each in self.recent]
        # Without a reply there is no response time, which is not a short one.
        p99, p50 = ([getattr(t, p) / 1e3 if t else nan for t in times] for p in ("p99", "p50"))
        top = end(1.05 * max([1.0, *(value for value in p99 if not isnan(value))]))
        figure = formatting.duration(times[-1].p99) if times[-1] else "–"
        self._times.display(
            Reading(figure, "", p99, top, f"{words.count(top)} ms", p50), colour, _WINDOWS
        )

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
            self._swatch.set_style(current().series(places[id_]))

    def _show_left(self) -> None:
        parts = (self._left, self._ends, self._share)
        for part, forms in zip(parts, self._texts(), strict=True):
            part.setText(fitting(forms, part.font(), self._rest.width()))
        self._bar.setRange(0, max(1, self.progress.total))
        self._bar.setValue(self.progress.done)

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
        self._swatch = Swatch(current().series(0), current())
        self._server = Elided(14, Weight.DemiBold)
        self._rate = label("", 34, Weight.DemiBold, figures=True)
        self._rate.setAccessibleName("Offered rate")
        self._unit = label("", 12, tone="muted")
        self._doing = label("", 12, tone="soft", wrap=True)
        head = beside(self._swatch, (self._server, 1))
        big = beside(self._rate, (self._unit, 1, Qt.AlignmentFlag.AlignVCenter), gap=4)
        column(made := QWidget(), head, big, self._doing, (None, 0), gap=2)
        return made

    def _make_left(self) -> QWidget:
        self._left = label("", 20, Weight.DemiBold, figures=True)
        self._left.setAccessibleName("Time left")
        self._ends = label("", 12, tone="muted", figures=True)
        self._share = label("", 12, tone="soft", figures=True)
        self._bar = QProgressBar(textVisible=False, accessibleName="Measured points")
        self._bar.setFixedHeight(6)
        parts = self._left, self._ends, self._bar, self._share
        self._beside = column(made := QWidget(), *parts, (None, 0), gap=5)
        return made


def _line() -> QFrame:
    made = frame("hair")
    made.setFixedWidth(1)
    return made

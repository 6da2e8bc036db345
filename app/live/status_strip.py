"""The strip under a live comparison: server, rate, results so far, time left."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from app.charts import words
from app.charts.drawing import Swatch, text_width
from app.live.recent_windows import Pulse, Replies, Times
from app.live.run import Trial
from app.theme import Theme, Weight, font
from app.widgets import Elided, column, frame, label, row
from workbench import formatting
from workbench.documents import WINDOW_US, AnyDocument, PointStart
from workbench.run.progress import RunProgress

_DOING = {
    "warm_up": "warming up",
    "ceiling": "calibrating clients",
    "profile": "profiling",
}
_LEFT = 194
"""The width of the remaining time."""


class NowStrip(QFrame):
    """Consumes documents; redraws on `refresh`."""

    HEIGHT, COMPACT = 142, 94

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setFixedHeight(self.HEIGHT)
        self._theme = theme
        self._paused = False
        self._trial, self._begun_s = Trial(), time.monotonic()
        self.progress, self._pulse = RunProgress(), Pulse()
        self._replies, self._times = Replies(self._pulse, theme), Times(self._pulse, theme)
        self._inside = inside = row(self, margin=14, gap=10)
        inside.addWidget(self._make_now())
        inside.addWidget(_line())
        self._replies_now = label("", 12, Weight.DemiBold, figures=True)
        self._replies_title = label("Replies", 13, Weight.DemiBold)
        self._replies_about = Elided(12, tone="muted")
        replies = self._replies_title, self._replies_about, self._replies_now, self._replies
        inside.addLayout(_titled(*replies), 4)
        self._time_now = label("", 12, Weight.DemiBold, figures=True)
        title = label("Response time", 13, Weight.DemiBold)
        about = Elided(12, tone="muted")
        about.show_text("p99 and p50")
        self._times.setAccessibleName("Response time, p99 and p50")
        inside.addLayout(_titled(title, about, self._time_now, self._times), 3)
        inside.addWidget(_line())
        inside.addWidget(self._make_left())
        self.show_status("")

    def __call__(self, document: AnyDocument) -> None:
        self.progress(document)
        self._pulse(document)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._show_server()
        self._show_left()

    def clear(self) -> None:
        self._trial, self._begun_s = Trial(), time.monotonic()
        self.progress, self._pulse = RunProgress(), Pulse()
        self._replies.pulse = self._times.pulse = self._pulse
        self.show_status("")
        self.refresh()

    def prepare(self, trial: Trial) -> None:
        """Show the progress of the server tests before the run."""
        if trial.now != self._trial.now:
            self.show_status("")  # it was about another server
        self._trial = trial
        self.refresh()

    def set_compact(self, compact: bool) -> None:
        """Make the strip lower, for windows without much height."""
        self.setFixedHeight(self.COMPACT if compact else self.HEIGHT)
        self._inside.setContentsMargins(14, *((7, 14, 7) if compact else (14, 14, 14)))
        self._rate.setFont(font(24 if compact else 34, Weight.DemiBold, figures=True))
        self._ends.setVisible(not compact)
        self._share.setVisible(not compact)

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
            self._unit.setText("per second\noffered" if axis.per_second else axis.unit)
            self.show_status(self._where(point))
        elif progress.end is not None or now is None or now is not progress.now:
            self._rate.setText("")
            self._unit.setText("")
        for part in (self._rate, self._unit):
            part.setVisible(bool(part.text()))
        self._server.setVisible(bool(self._server.whole))
        window = now.window if now else None
        self._replies_title.setText(progress.axis.replies_title)
        about = "per 200 ms; line: offered rate" if self._pulse.paced else "per 200 ms"
        self._replies_about.show_text(about)
        self._replies.setAccessibleName(f"{progress.axis.replies_title}, {about}")
        self._replies_now.setText(f"{window.replies:,}" if window else "")
        times = window.latency_us if window else None
        self._time_now.setText(formatting.duration(times.p99) if times else "")
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
        ids = list(progress.servers)
        id_, name = (now.id, now.name) if now else self._under_test or ("", "")
        self._server.show_text("Null server" if id_ in words.TOOLS else name)
        contestants = ids or [each for each, _ in self._trial.servers if each not in words.TOOLS]
        self._swatch.setVisible(id_ in contestants)
        if id_ in contestants:
            self._swatch.set_style(self._theme.series(contestants.index(id_)))
        # The plots still show the previous measurement.
        last = progress.now.id if progress.now else ""
        style = self._theme.series(ids.index(last)) if last in ids else None
        self._replies.colour = self._times.colour = style.colour if style else self._theme.muted

    def _show_left(self) -> None:
        progress = self.progress
        if progress.end is not None:
            # The points of a server that was skipped or crashed were not measured.
            stops = [stop for server in progress.servers.values() for stop in server.stops]
            measured = sum(stop.complete for stop in stops)
            word = "Done" if progress.end.status == "done" else "Ended"
            texts = (word, "", f"{measured} of {max(measured, progress.total)} points")
        elif self._prepares:
            finished, count = self._trial.contestants
            elapsed = formatting.clock(time.monotonic() - self._begun_s)
            texts = (f"{finished} of {count} servers ready", f"preparing for {elapsed}", "")
        elif progress.left_s is None:
            texts = ("", "", "")
        else:
            ends = datetime.now().astimezone() + timedelta(seconds=progress.left_s)
            own = formatting.clock(progress.block_left_s or 0.0)
            points = f"{progress.done:,} of {progress.total:,} points"
            whens = (f"ends about {ends:%H:%M} · {points}", f"ends {ends:%H:%M} · {points}")
            fits = (w for w in whens if text_width(w, font(12, figures=True)) <= _LEFT)
            texts = (
                f"{formatting.clock(progress.left_s)} left",
                points if self._paused else next(fits, points),
                f"{self._stretch()}: {own} left",
            )
        for part, text in zip((self._left, self._ends, self._share), texts, strict=True):
            part.setText(text)
        shares = [
            (self._theme.series(n).colour, len(server.stops) / max(1, server.total))
            for n, server in enumerate(progress.servers.values())
        ]
        if self._prepares:
            muted = self._theme.muted
            shares = [
                (
                    muted if id_ in words.TOOLS else self._theme.series(n).colour,
                    n < self._trial.finished,
                )
                for n, (id_, _) in enumerate(self._trial.servers)
            ]
        self._segments.set_shares(shares, self._theme.line)

    @property
    def _prepares(self) -> bool:
        """Whether servers are being tested and the run has not begun."""
        return bool(self._trial.servers) and not self.progress.servers

    @property
    def _under_test(self) -> tuple[str, str] | None:
        return self._trial.now if self._prepares else None

    def _stretch(self) -> str:
        """Return which server is in progress: "Server 3 of 8", with passes "Pass 2 of 5, server 3
        of 8".
        """
        if again := self.progress.repeat_block:
            return f"Repeating, {again[0]} of {again[1]}"
        (place, blocks), servers = self.progress.block, max(1, len(self.progress.servers))
        place_text = f"server {(place - 1) % servers + 1} of {servers}"
        passes = blocks // servers
        if passes <= 1:
            return place_text.capitalize()
        return f"Pass {(place - 1) // servers + 1} of {passes}, {place_text}"

    def _make_now(self) -> QWidget:
        made = QWidget()
        made.setFixedWidth(196)
        inside = column(made, gap=2)
        head = row()
        self._swatch = Swatch(self._theme.series(0), self._theme)
        self._server = Elided(14, Weight.DemiBold)
        head.addWidget(self._swatch)
        head.addWidget(self._server, 1)
        inside.addLayout(head)
        big = row()
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
        made = QWidget()
        made.setFixedWidth(_LEFT)
        inside = column(made, gap=5)
        self._left = label("", 20, Weight.DemiBold, figures=True)
        self._left.setAccessibleName("Time left")
        self._ends = label("", 12, tone="muted", figures=True)
        self._share = label("", 12, tone="soft", figures=True)
        self._segments = _Segments()
        for part in (self._left, self._ends, self._segments, self._share):
            inside.addWidget(part)
        inside.addStretch()
        return made


class _Segments(QWidget):
    """One block per server, filled as its points are finished."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(10)
        self._shares: list[tuple[str, float]] = []
        self._ground = "#888888"

    def set_shares(self, shares: list[tuple[str, float]], ground: str) -> None:
        if (shares, ground) != (self._shares, self._ground):
            self._shares, self._ground = shares, ground
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        count = len(self._shares)
        for n, (colour, share) in enumerate(self._shares):
            wide = (self.width() + 4) / count
            box = QRectF(n * wide, 0, wide - 4, self.height())
            painter.fillRect(box, QColor(self._ground))
            box.setWidth(box.width() * min(1.0, share))
            painter.fillRect(box, QColor(colour))
        painter.end()


def _line() -> QFrame:
    made = frame("hair")
    made.setFixedWidth(1)
    return made


def _titled(title: QLabel, about: Elided, figure: QLabel, plot: QWidget) -> QVBoxLayout:
    made = QVBoxLayout()
    made.setSpacing(4)
    head = row()
    head.addWidget(title)
    about.setMinimumWidth(0)
    head.addWidget(about, 1)
    head.addWidget(figure)
    made.addLayout(head)
    made.addWidget(plot, 1)
    return made

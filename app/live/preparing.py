"""What happens before the first point, where the charts will be: the servers are installed and
tested, then the clients are calibrated.
"""

from __future__ import annotations

import time
from math import ceil

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QLabel, QProgressBar

from app.charts.series import Quantity
from app.charts.trio import Trio
from app.live.run import Trial
from app.theme import Theme, Weight, icon_pixmap
from app.widgets import Elided, column, label, row
from workbench.documents import AnyDocument, PointStart
from workbench.formatting import time_span

_WIDTH, _MINUTE_S = 420, 60
_HEAD = 28
"""The height of a chart's title, in pixels."""
_DONE, _NOW, _WAITS = "circle-check", "activity", "clock"


def remaining(
    trial: Trial, elapsed_s: float, calibration_s: tuple[float, float] = (0.0, 0.0)
) -> str:
    """Return "about 8 s left", if the other tests take as long as those before, with the
    calibration after them; until one has ended, "8 s so far".
    """
    if trial.finished < 1:
        seconds = int(elapsed_s)
        return f"{time_span((seconds, seconds))} so far" if seconds else ""
    others = len(trial.servers) - trial.finished
    low, high = (ceil(elapsed_s / trial.finished * others + more) for more in calibration_s)
    return f"{_span('about ', low, high)} left" if high else ""


def calibrating(calibration_s: tuple[float, float], elapsed_s: float) -> str:
    """Return "3 to 41 s left" of the calibration; empty: it takes longer than was expected."""
    low, high = (ceil(each - elapsed_s) for each in calibration_s)
    return f"{_span('', max(1, low), high)} left" if high > 0 else ""


def _span(about: str, low: int, high: int) -> str:
    """Return "about 8 to 45 s"; where one unit does not suit both, "up to 1.9 min"."""
    one_unit = high < _MINUTE_S or low >= _MINUTE_S
    return f"{about}{time_span((low, high))}" if one_unit else f"up to {time_span((high, high))}"


class Preparing(QFrame):
    """A card over the uppermost chart, until the first point."""

    def __init__(self, over: Trio, theme: Theme) -> None:
        super().__init__(over)
        self.setObjectName("floating")
        self._over, self._theme, self._count = over, theme, 0
        self._trial, self._begun_s, self._doing = Trial(), time.monotonic(), ""
        self._calibration_s, self._calibrated_since_s = (0.0, 0.0), 0.0
        self._calibrating = ""
        self._inside = inside = column(self)
        self._left = label("", 12, tone="muted", figures=True)
        head = row()
        head.addWidget(label("Before the first point", 16, Weight.DemiBold), 1)
        head.addWidget(self._left)
        inside.addLayout(head)
        self._lines: list[tuple[QLabel, Elided, QLabel]] = []
        for _ in range(2):
            line, parts = row(gap=10), (label(), Elided(), label("", 12, tone="muted"))
            line.addWidget(parts[0])
            line.addWidget(parts[1], 1)
            line.addWidget(parts[2], 0, Qt.AlignmentFlag.AlignRight)
            inside.addLayout(line)
            self._lines.append(parts)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(6)
        self._bar.setAccessibleName("Tested servers")
        inside.addWidget(self._bar)
        for chart in over.charts.values():
            chart.installEventFilter(self)
        self.hide()

    def begin(self, calibration_s: tuple[float, float], servers: int) -> None:
        """Show it. `calibration_s`: how long it may take; 0: the clients are not calibrated.
        `servers`: how many are compared.
        """
        self._calibration_s, self._count = calibration_s, servers
        for part in self._lines[1]:
            part.setVisible(calibration_s[1] > 0)
        self._trial, self._begun_s, self._doing = Trial(), time.monotonic(), ""
        self._calibrating = ""
        self.refresh()
        self.show()
        self.raise_()
        self._fit()

    def prepare(self, trial: Trial) -> None:
        """Show the progress of the tests."""
        if trial.finished <= 0:
            self._begun_s = time.monotonic()
        if trial.now != self._trial.now:
            self._doing = ""  # it was about another server
        if trial.finished >= len(trial.servers) > 0:
            self._calibrated_since_s = time.monotonic()
        self._trial = trial
        self.refresh()

    def show_status(self, text: str) -> None:
        """Show the current step."""
        self._doing = text
        self.refresh()

    def consume(self, document: AnyDocument) -> None:
        """The first point of a sweep ends it."""
        if isinstance(document, PointStart):
            if document.purpose == "ceiling":
                self._calibrating = f"{document.rate_per_s:,.0f}/s"
                self.refresh()
            elif document.purpose not in ("warm_up", "profile"):
                self.hide()

    def refresh(self) -> None:
        trial, (done, total) = self._trial, self._trial.contestants
        total = total or self._count
        tested = trial.finished >= len(trial.servers) > 0 or bool(self._calibrating)
        done = total if tested else done
        now = "" if tested else self._doing
        if tested:
            self._show(0, _DONE, "Install and test servers", f"{total} of {total}")
            at = " · ".join(filter(None, ("now", self._calibrating)))
            self._show(1, _NOW, "Calibrate clients", at)
        else:
            at = f"now · {min(done + 1, total)} of {total}"
            self._show(0, _NOW, now or "Install and test servers", at)
            self._show(1, _WAITS, "Calibrate clients", "next")
        self._bar.setRange(0, max(1, total))
        self._bar.setValue(done)
        self._left.setText(self._time_left(tested=tested))
        self.setAccessibleName(f"Before the first point: {now or self._lines[1][1].whole}")

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return False

    def _time_left(self, *, tested: bool) -> str:
        now_s = time.monotonic()
        if tested:
            return calibrating(self._calibration_s, now_s - self._calibrated_since_s)
        return remaining(self._trial, now_s - self._begun_s, self._calibration_s)

    def _show(self, place: int, icon: str, text: str, more: str) -> None:
        sign, words, beside = self._lines[place]
        theme = self._theme
        colour = {_DONE: theme.ok, _NOW: theme.text}.get(icon, theme.muted)
        sign.setPixmap(icon_pixmap(icon, colour, 16))
        words.show_text(text)
        beside.setText(more)

    def _fit(self) -> None:
        charts = self._over.charts
        shown = (each for each in charts.values() if each.isVisibleTo(self._over))
        chart = next(shown, charts[Quantity.REPLIES]).geometry()
        room = chart.height() - _HEAD
        for margin, gap in ((20, 10), (10, 5)):
            self._inside.setContentsMargins(margin, margin, margin, margin)
            self._inside.setSpacing(gap)
            height = self.sizeHint().height()
            if height <= room:
                break
        width = min(_WIDTH, chart.width() - 40)
        left = chart.left() + (chart.width() - width) // 2
        # The controls of the chart below stay visible.
        top = min(max(_HEAD, (chart.height() - height) // 2), chart.height() - height)
        self.setGeometry(left, chart.top() + max(0, top), width, height)

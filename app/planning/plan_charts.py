"""A picture of what a plan will do: its sweep over time."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy

from app.charts.drawing import draw_text, text_width
from app.charts.scales import ticks
from app.colour import with_opacity
from app.painted import Painted
from app.theme import font
from workbench.analysis.histogram import samples_needed
from workbench.formatting import clock
from workbench.plan.editing import Step

STEADY = samples_needed(0.99)
"""The number of calls that a steady p99 needs."""
_LEFT, _TOP, _RIGHT, _BOTTOM = 48.0, 8.0, 8.0, 20.0
_WARM_UP = "warm-up"


class SweepPicture(Painted):
    """The offered rate over the time of one server's sweep, amber where a point has too few calls
    for a steady p99; pointing at it selects a point.
    """

    pointed = Signal(object)
    """A `Step`, or None."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("The offered rate over time")
        self._steps: Sequence[Step] = ()
        self._left = _LEFT
        self._at: int | None = None
        self._timed = True
        self.setMouseTracking(True)
        self.setMinimumHeight(130)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_steps(self, steps: Sequence[Step], *, timed: bool) -> None:
        """`timed`: the durations are known."""
        self._steps, self._timed, self._at = steps, timed, None
        longest = f"{max((step.x for step in steps), default=0):,.6g}"
        self._left = max(_LEFT, text_width(longest, font(11, figures=True)) + 12)
        self.update()

    @property
    def plot(self) -> QRectF:
        """Return the area of the steps."""
        return QRectF(self.rect()).adjusted(self._left, _TOP, -_RIGHT, -_BOTTOM)

    @property
    def lasts_s(self) -> float:
        """Return the duration of the whole sweep."""
        return self._steps[-1].end_s if self._steps else 1.0

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        at = self._nearest(event.position().x())
        if at != self._at:
            self._at = at
            self.pointed.emit(None if at is None else self._steps[at])
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = None
        self.pointed.emit(None)
        self.update()

    def paint(self, painter: QPainter) -> None:
        theme, plot = self.theme, self.plot
        high = self._high()
        self._paint_scales(painter, plot, high)
        bars = [self._bar(step, plot, high) for step in self._steps]
        for place, (step, bar) in enumerate(zip(self._steps, bars, strict=True)):
            warm, thin = step.purpose == "warm_up", 0 < step.calls < STEADY
            ink = theme.muted if warm else theme.warn if thin else theme.text
            strong = place == self._at
            painter.fillRect(bar, with_opacity(ink, 0.34 if strong else 0.07 if warm else 0.12))
            painter.setPen(QPen(QColor(ink), 2.5 if strong else 1.8))
            painter.drawLine(bar.topLeft(), bar.topRight())
        for step, bar in zip(self._steps, bars, strict=True):
            if step.purpose == "warm_up":
                self._paint_aside(painter, bar, bars)
        if sum(bar.width() for bar in bars) > 10 * len(bars):
            painter.setPen(QPen(with_opacity(theme.text, 0.3), 1))
            for bar in bars:
                painter.drawLine(bar.topLeft(), bar.bottomLeft())
                painter.drawLine(bar.topRight(), bar.bottomRight())

    def _paint_aside(self, painter: QPainter, bar: QRectF, bars: Sequence[QRectF]) -> None:
        """Mark the warm-up, which gives no results: hatched, and named where there is room."""
        theme, small = self.theme, font(11)
        painter.fillRect(bar, hatched(theme.muted))
        end, y = bar.left() + text_width(_WARM_UP, small), bar.top() - 9
        for top in sorted((each.top() for each in bars if each.left() <= end), reverse=True):
            if abs(top - y) < 9:  # it would be struck through
                y = top - 9
        if y >= 6 and end <= self.plot.right():
            painter.setPen(QPen(QColor(theme.muted), 1))
            x = min(bar.center().x(), bar.left() + 8)
            painter.drawLine(QPointF(x, y + 7), QPointF(x, bar.top()))
            draw_text(painter, QPointF(bar.left(), y), _WARM_UP, small, theme.muted)

    def _paint_scales(self, painter: QPainter, plot: QRectF, high: float) -> None:
        theme, small = self.theme, font(11, figures=True)
        whole = all(float(step.x).is_integer() for step in self._steps)
        for value in ticks(high, min(10, max(2, int(plot.height() // 36))), whole=whole):
            y = plot.bottom() - value / high * plot.height()
            painter.setPen(QPen(QColor(theme.line2 if value == 0 else theme.line), 1))
            painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
            draw_text(
                painter, QPointF(plot.left() - 7, y), f"{value:,.6g}", small, theme.muted, "right"
            )
        if not self._timed:
            return
        wide = self.lasts_s
        unit, name = (3600, "h") if wide > 7200 else (60, "min") if wide > 120 else (1, "s")
        for value in ticks(wide / unit, max(2, int(plot.width() // 80))):
            x = plot.left() + value * unit / wide * plot.width()
            text = f"{value:g} {name}"
            half = text_width(text, small) / 2
            x = min(max(x, plot.left() + half), plot.right() - half)
            draw_text(painter, QPointF(x, plot.bottom() + 11), text, small, theme.muted, "middle")

    def _high(self) -> float:
        values = (step.x for step in self._steps)
        return max(values, default=0.0) * 1.06 or 1.0

    def _bar(self, step: Step, plot: QRectF, high: float) -> QRectF:
        left, right = (
            plot.left() + at_s / self.lasts_s * plot.width() for at_s in (step.begin_s, step.end_s)
        )
        top = plot.bottom() - step.x / high * plot.height()
        return QRectF(left, top, max(right - left, 1.0), plot.bottom() - top)

    def _nearest(self, x: float) -> int | None:
        plot = self.plot
        if not self._steps or not plot.left() - 4 <= x <= plot.right() + 4:
            return None
        at = (x - plot.left()) / plot.width() * self.lasts_s
        apart = [max(step.begin_s - at, at - step.end_s, 0.0) for step in self._steps]
        return apart.index(min(apart))


def hatched(colour: str) -> QBrush:
    """Return the filling of what gives no results."""
    return QBrush(with_opacity(colour, 0.5), Qt.BrushStyle.BDiagPattern)


def counted(count: float) -> str:
    """Return "334,000" or "1.2 M"."""
    return f"{count:,.0f}" if count < 1e6 else f"{count / 1e6:,.3g} M"


def describe(step: Step) -> str:
    """Describe a point."""
    if step.purpose == "warm_up":
        return f"Warm-up at {step.load}, excluded from results"
    calls = f"{step.calls:,} calls" if step.calls else "calls not fixed"
    return f"{step.load}: {calls} in {step.end_s - step.begin_s:.3g} s, at {clock(step.begin_s)}"

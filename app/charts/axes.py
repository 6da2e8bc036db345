"""The axes of a chart: where they begin and end, which values are marked, and its header."""

from __future__ import annotations

from collections.abc import Iterator
from math import log10
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from app.charts import scales, words
from app.charts.drawing import draw_hair, draw_text, name_among, text_width
from app.charts.plot import Limits, Plot, second_percentile, time_text
from app.charts.series import Floats, Quantity, Span
from app.charts.view_state import ACROSS
from app.theme import Weight, font

_BEFORE_FIRST = 0.04
"""Left of the first value on a logarithmic x axis; a linear one starts at 0."""
_BESIDE = 0.06
"""Above and below the values of a zoom."""
_ZERO, _BELOW_ZERO = 0.10, 0.04
"""From the end of a logarithmic axis to its zero, and below that."""
_FAR = 10.0
"""A published response time more than this factor from the measured ones does not widen an axis."""
_LABEL = 16.0
"""Unscaled, from the timeout to the upper end of a logarithmic axis, or from bars to theirs."""
_FOR_ARROW = 48.0
"""Unscaled, above bars, for an arrow to what lies beyond the axis, its label and a bar's value."""
_FAR_BARS = 2.0
"""A published value more than this factor above all bars does not lengthen their axis."""
_LEAST_PCT = 1.0
"""Where an axis of errors ends that shows none."""


def fit(chart: Plot) -> Limits:
    """Return the limits for the data known now; sets the chart's whole axes and its zeros."""
    model, span = chart.model, chart.showing.zoom.get(ACROSS)
    last = max(model.last_x, model.whole.last_x if model.whole else 0.0)
    across = chart.whole_across = _across(chart, last)
    zero_x = across[0]
    if span is not None:
        across = _part(span, across, log=chart.log_across)
    of = span, span and frozenset(chart.hidden), chart.metric, chart.log, chart.height()
    kept = chart.steady[1] if chart.steady[0] == of else None
    low, high = _of_part(chart, span) if span else _of_all(chart, last)
    if kept and (chart.quantity is Quantity.TIME or chart.log or span is not None):
        low, high = min(low, kept[0]), max(high, kept[1])
    chart.steady = of, None if model.start is None else (low, high)
    zero_y = low
    if chart.log and (_spanned(chart, span) <= 0).any():
        whole = high - low
        zero_y, low = low - _ZERO * whole, low - (_ZERO + _BELOW_ZERO) * whole
    chart.zero = zero_x, zero_y
    chart.whole_up = low, high
    if (values := chart.showing.zoom.get(chart.metric)) is not None:
        low, high = _part(values, (low, high), log=chart.log)
    return *_apart(*across), *_apart(low, high)


def _of_all(chart: Plot, last: float) -> Span:
    if chart.log and chart.quantity is Quantity.TIME:
        return _of_times(chart)
    known = _spanned(chart)
    if chart.log and chart.has_ideal and chart.log_across:
        low, high = _across(chart, last)
        return log10(known.min(initial=10**low, where=known > 0)), high + 0.03
    if chart.log:
        known = known[known > 0]
        low = log10(scales.round_down(known.min() * 0.95)) if len(known) else 0.0
        high = log10(scales.round_up(known.max())) + 0.03 if len(known) else 2.0
        return low, max(high, low + 1)
    if chart.metric == Quantity.ERRORS.value and not chart.model.bars:
        return -2.0, 102.0
    if chart.quantity is Quantity.REPLIES and chart.model.axis.calibrated:
        return 0.0, last
    highest = scales.end(max(known.max() * 1.05, 1e-3)) if len(known) else 1.0
    return 0.0, _above_bars(chart, known) if chart.model.bars else highest


def _of_part(chart: Plot, span: Span) -> Span:
    known = _spanned(chart, span)
    if chart.log:
        known = known[known > 0]
        if not len(known):
            return _of_all(chart, chart.model.last_x)
        low, high = log10(known.min()), log10(known.max())
        beside = max(_BESIDE * (high - low), 0.08)
        return low - beside, high + beside
    least, most = (known.min(), known.max()) if len(known) else (0.0, 0.0)
    if chart.metric == Quantity.ERRORS.value:
        end = min(102.0, scales.end(max(most * 1.05, _LEAST_PCT)))
        return -0.02 * end, end
    beside = max(_BESIDE * (most - least), 0.005 * most, 1e-3)
    return max(0.0, least - beside), most + beside


def _across(chart: Plot, last: float) -> Span:
    if not chart.log_across:
        return 0.0, last
    high, axis = log10(max(last, 1e-9)), chart.model.axis
    low = log10(min((x for x in axis.bounds or axis.values if x > 0), default=last / 1000))
    return (low - _BEFORE_FIRST * (high - low) if low < high else high - 1.0), high


def _spanned(chart: Plot, span: Span | None = None) -> Floats:
    whole = chart.model.whole
    if whole is None or (span is not None and chart.hidden):
        return chart.known(span)
    views = [chart.view_shown]
    views += [second_percentile(chart.view_shown)] if chart.has_band else []
    expected = (whole.values(chart.quantity, view, span) for view in views)
    return np.concatenate((chart.known(span), *expected))


def _above_bars(chart: Plot, known: Floats) -> float:
    """Return the end of an axis with room for values above bars, and for arrows."""
    highest = _with_published(chart, known).max(initial=0.0)
    beyond = any(value is None or value > highest for *_, value in chart.published())
    high, room = chart.plot_rect().height(), chart.sizes.px(_FOR_ARROW if beyond else _LABEL)
    factor = high / max(high - room, high / 3, 1.0)
    least = _LEAST_PCT if chart.metric == Quantity.ERRORS.value else 1e-3
    return scales.end(max(highest * factor, least))


def _of_times(chart: Plot) -> Span:
    """Return limits fitted to a complete session; until then wide, so that they stay."""
    model, known = chart.model, _spanned(chart)
    known = _with_published(chart, known[known > 0])
    low, high = 0.1, scales.round_up(max(1000.0, model.timeout_ms))
    if len(known):
        least, most = scales.round_down(known.min() * 0.9), scales.round_up(known.max() * 0.995)
        ended = model.over or model.whole is not None
        low, high = (least, most) if ended else (min(low, least), max(high, most))
    high = max(high, low * 10)
    # There is room above the timeout for its label.
    room = chart.sizes.px(_LABEL) / max(1.0, chart.plot_rect().height())
    beyond = (high / low) ** (min(room, 0.25) / (1 - min(room, 0.25)))
    return log10(low), log10(high * (beyond if high >= model.timeout_ms else 1.12))


def _with_published(chart: Plot, known: Floats) -> Floats:
    """Return values with those of the source, unless they are far from them all."""
    if not len(known):
        return known
    bars = chart.model.bars
    least, most = known.min() / _FAR, known.max() * (_FAR_BARS if bars else _FAR)
    each = (value for *_, value in chart.published())
    stated = [value for value in each if value and (bars or value >= least) and value <= most]
    return np.concatenate((known, np.array(stated)))


def _apart(low: float, high: float) -> Span:
    """Return both ends of an axis, apart also where it has no length."""
    return (low, high) if low < high else (low, low + 1.0)


def _part(span: Span, whole: Span, *, log: bool) -> Span:
    low, high = (log10(max(value, 1e-12)) for value in span) if log else span
    low = max(low, whole[0]) if log else low
    return (low, high) if low < high else whole


_BETWEEN_MARKS = 62.0
"""Unscaled, below the bottom chart, between the middles of two figures."""
_MOST_VALUES = 12
"""Values of an axis other than rates that are marked one by one."""
_MOST_MARKS = 10
"""On a linear axis of values."""
_ROW = 13.0
"""Unscaled, between two marks on a logarithmic axis of values; 30 on a linear one."""


_RIM = 20.0
"""Unscaled, above and below an axis: for texts at its ends."""

Marks = list[tuple[float, str]]


class ChartAxis(pg.AxisItem):
    """What stands at a side of a plot. It draws in its `room`, in the scene's pixels, and not by
    way of a recorded picture, in which a file could not be searched for texts.
    """

    side = ""

    def __init__(self, chart: Plot) -> None:
        super().__init__(self.side)
        self.enableAutoSIPrefix(False)
        self._chart = chart

    def boundingRect(self) -> QRectF:
        return self.room().translated(-self.scenePos())

    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(-self.scenePos())
        self.draw(painter)


class ValueAxis(ChartAxis):
    side = "left"

    def room(self) -> QRectF:
        plot, px = self._chart.plot_rect(), self._chart.sizes.px
        return QRectF(0, plot.top() - px(_RIM), plot.left() - 2, plot.height() + px(2 * _RIM))

    def draw(self, painter: QPainter) -> None:
        chart = self._chart
        left, size = chart.plot_rect().left() - chart.sizes.px(8), chart.sizes.axis_font
        for y, text in self._rows():
            draw_text(painter, QPointF(left, y), text, size, chart.theme.muted, "right")

    def draw_grid(self, painter: QPainter) -> None:
        chart = self._chart
        plot, width = chart.plot_rect(), max(1.0, chart.sizes.px(0.8))
        for y, _ in self._rows():
            draw_hair(painter, plot.left(), plot.right(), y, chart.theme.line, width)

    def _rows(self) -> Iterator[tuple[float, str]]:
        for value, text in up(self._chart):
            yield round(self._chart.at(0, value).y()) + 0.5, text


class RateAxis(ChartAxis):
    """What the plan varies, below the lowest chart."""

    side = "bottom"

    def room(self) -> QRectF:
        top = self._chart.plot_rect().bottom() + self._chart.sizes.px(4)
        return QRectF(0, top, self._chart.width(), self._chart.height() - top)

    def draw(self, painter: QPainter) -> None:
        chart = self._chart
        if not chart.lowest:
            return
        sizes, theme, plot = chart.sizes, chart.theme, chart.plot_rect()
        px = sizes.px
        for rate, text in across(chart):
            x = chart.at(rate, 1).x()
            if len(chart.curves) > 10:  # names need the room right of the lower corner, too
                x = min(x, plot.right() - text_width(text, sizes.axis_font) / 2)
            at = QPointF(x, plot.bottom() + px(13))
            draw_text(painter, at, text, sizes.axis_font, theme.muted, "middle")
        if chart.model.bars:
            self._draw_names(painter)
        at = QPointF(plot.center().x(), plot.bottom() + px(38 if chart.model.bars else 34))
        draw_text(painter, at, chart.axis_text(), font(px(12)), theme.muted, "middle")

    def _draw_names(self, painter: QPainter) -> None:
        """Write the names below the lowest chart, in two lines where one has no room."""
        chart = self._chart
        px, theme, size = chart.sizes.px, chart.theme, chart.sizes.axis_font
        places = [x for x in chart.model.axis.values if chart.contains(chart.at(x, 0))]
        names = chart.model.marks(places)
        room = chart.place_width - px(6)
        for x, name in zip(places, names, strict=True):
            at = " · " if " · " in name else " "  # a session's letter is not cut
            parts = name.split(at, 1) if text_width(name, size) > room else [name]
            for row, text in enumerate(parts):
                shown = name_among(text, names, size, room)
                where = QPointF(chart.at(x, 0).x(), chart.plot_rect().bottom() + px(11 + 12 * row))
                draw_text(painter, where, shown, size, theme.soft, "middle")


def up(chart: Plot) -> Marks:
    height = max(1.0, chart.plot_rect().height() / chart.sizes.scale)
    _, _, low, high = chart.limits
    zoomed = len(chart.showing.zoom) > 0
    if chart.log:
        room, least, most = _ROW * (high - low) / height, max(low, chart.zero[1]), 10**high
        if chart.quantity is Quantity.TIME and 10**least < chart.model.timeout_ms:
            most = min(most, chart.model.timeout_ms)  # no point can be beyond
        marks = scales.close_log_ticks(10**least, most, room)
        if low < chart.zero[1]:
            marks = [0.0, *(mark for mark in marks if log10(mark) - chart.zero[1] >= room)]
    elif chart.metric == Quantity.ERRORS.value and not zoomed and not chart.model.bars:
        marks = [0, 25, 50, 75, 100] if height > 90 else [0, 50, 100]
    else:
        least = 5 if chart.quantity is Quantity.REPLIES and not zoomed else 2
        marks = _even(max(0.0, low), high, min(_MOST_MARKS, max(least, int(height / 30))))
    return list(zip(marks, _texts(chart, marks), strict=True))


def _texts(chart: Plot, marks: list[float]) -> list[str]:
    if chart.quantity is Quantity.TIME:
        return [time_text(mark) for mark in marks]
    metric = chart.model.metric(chart.metric)
    factor, _ = chart.in_unit(metric.unit if metric else "")
    texts = words.counts([mark * factor for mark in marks])
    percent = chart.metric == Quantity.ERRORS.value
    return [f"{text} %" for text in texts] if percent else texts


def across(chart: Plot) -> Marks:
    """Return marks below the bottom chart: few planned values, unless rates; else round ones."""
    axis, (low, last, _, _) = chart.model.axis, chart.limits
    if chart.model.bars:
        return []  # names are written, see `RateAxis`
    least, width = chart.sizes.px(_BETWEEN_MARKS), max(1.0, chart.plot_rect().width())
    planned = [x for x in axis.values if low <= chart.across(x) <= last]
    several = len(planned) > 1 or len(planned) == len(axis.values) == 1
    if not axis.per_second and several and len(planned) <= _MOST_VALUES:
        marks = scales.apart(planned, [chart.at(x, 1).x() for x in planned], least)
    elif chart.log_across:
        room = least / width * (last - low)
        marks = scales.close_log_ticks(10**low, 10**last, room, chart.model.round_values)
    else:
        whole = not axis.per_second and all(x.is_integer() for x in axis.values)
        most = max(2, min(10, int(width / least)))
        marks = _even(low, last, most, whole=whole)
    return list(zip(marks, chart.model.marks(marks), strict=True))


def _even(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return at most `most` + 1 marks; more where there would be a single one."""
    marks = scales.ticks(low, high, most, whole=whole)
    while len(marks) < 2 and most < 32 and low < high:
        most += 1
        marks = scales.ticks(low, high, most)
    return marks


_HEAD_GAP = 8.0
"""Unscaled, between a header and the edge."""
_INSET = 4.0
"""Unscaled, where titles begin: inside the focus ring."""


class Head(ChartAxis):
    """The header of a chart, as an axis at its top, and its hint."""

    side = "top"

    def __init__(self, chart: Plot) -> None:
        super().__init__(chart)
        self._fitted: tuple[object, tuple[str, str, float, float]] = (None, ("", "", 0.0, 0.0))
        self._explained: tuple[object, tuple[str, ...]] = (None, ())

    def room(self) -> QRectF:
        return QRectF(0, 0, self._chart.width(), self._chart.sizes.px(22))

    def texts(self) -> tuple[str, ...]:
        return (*self._head()[:2], self._hint())

    def draw(self, painter: QPainter) -> None:
        sizes, theme = self._chart.sizes, self._chart.theme
        title, unit, x, _ = self._head()
        y = sizes.px(11)
        draw_text(painter, QPointF(sizes.px(_INSET), y), title, self._title_font(), theme.text)
        draw_text(painter, QPointF(x, y), unit, font(sizes.px(12)), theme.muted)

    def box(self) -> QRectF:
        end = self._fitted[1][-1] or self._head()[-1]
        return QRectF(0.0, 0.0, end, self._chart.sizes.px(20))

    def _hint(self) -> str:
        """Return the text in place of lines; empty: there are lines, or will be in a moment."""
        chart = self._chart
        first, text = chart.quantity is chart.model.charts[0], ""
        if chart.is_empty:
            text = chart.model.hint if first else ""
        elif not chart.shown:
            text = "All servers are hidden. Press 0 to show them." if first else ""
        elif part := self._hint_of_zoom():
            text = part
        elif not len(chart.known()):
            text = chart.model.unknown(chart.metric)
        return text if text and chart.running_at() is None else ""

    def _hint_of_zoom(self) -> str:
        """Return the text where the zoom shows no line; empty: the first chart says it, or none."""
        chart = self._chart
        shown = chart.shown.values()
        if not chart.showing.zoom or not len(chart.known()) or any(len(c.seen()) for c in shown):
            return ""
        low, high, *_ = chart.limits
        x = chart.across(np.concatenate([c.values.x for c in shown]))
        if chart.quantity is not chart.model.charts[0] and not ((low <= x) & (x <= high)).any():
            return ""
        return "Nothing measured in this part. Double-click or Ctrl+0 shows all."

    def paint_hint(self, painter: QPainter) -> None:
        chart, text = self._chart, self._hint()
        if not text:
            return
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        size = font(px(13))
        box = QRectF(0, 0, text_width(text, size) + px(24), px(28))
        box.moveCenter(plot.center())
        if chart.has_ideal and not chart.is_empty:  # below the line y = x
            box.moveBottomRight(plot.bottomRight() - QPointF(px(12), plot.height() / 10))
        painter.fillRect(box, QColor(theme.card))
        draw_text(painter, box.center(), text, size, theme.muted, "middle")

    def _head(self) -> tuple[str, str, float, float]:
        """Return (title, text beside it, start, end), with the text from start to end in pixels."""
        chart = self._chart
        wanted = chart.model.version, len(chart.hidden), chart.frame
        if wanted != self._fitted[0]:
            self._fitted = wanted, self._fit_head()
        return self._fitted[1]

    def _fit_head(self) -> tuple[str, str, float, float]:
        """Leave out whole parts where there is no room, last what hollow markers mean."""
        px, (title, unit) = self._chart.sizes.px, self._chart.title_text()
        size = font(px(12))
        end = self._chart.sizes.px(_INSET) + text_width(title, self._title_font())
        x = end + px(8)
        room = self._chart.width() - px(_HEAD_GAP) - x
        keys, brief = self._marks(), unit.partition(",")[0]
        hollow = tuple(key for key in keys if key.startswith("hollow"))
        forms = (unit, *keys), (brief, *keys), (brief, *hollow), hollow
        texts = ("  ·  ".join(form) for form in forms if form)
        shown = next((each for each in texts if text_width(each, size) <= room), "")
        return title, shown, x, x + text_width(shown, size) if shown else end

    def _title_font(self) -> QFont:
        sizes = self._chart.sizes
        return font(sizes.px(sizes.head), Weight.DemiBold)

    def _marks(self) -> tuple[str, ...]:
        model, view = self._chart.model, self._chart.view_shown
        key = model, view, tuple(series.version for series in model.series.values())
        if self._explained[0] != key:
            self._explained = key, model.explains(self._chart.quantity, view)
        return self._explained[1]

"""Which values are marked on a chart's axes, and their text."""

from __future__ import annotations

from math import log10

from app.charts import scales, words
from app.charts.plot import Plot
from app.charts.series import Quantity

_BETWEEN_MARKS = 62.0
"""Unscaled, below the bottom chart, between the middles of two figures."""
_MOST_VALUES = 12
"""Values of an axis other than rates that are marked one by one."""
_MOST_MARKS = 10
"""On a linear axis of values."""
_ROW = 13.0
"""Unscaled, between two marks on a logarithmic axis of values; 30 on a linear one."""


def up(chart: Plot) -> list[tuple[float, str]]:
    """Return the marks on the axis of the values."""
    height = max(1.0, chart.plot_rect().height() / chart.sizes.scale)
    _, _, low, high = chart.limits
    zoomed = len(chart.showing.zoom) > 0
    if chart.log:
        least = max(low, chart.zero[1])
        most = 10**high
        if chart.quantity is Quantity.TIME and 10**least < chart.model.timeout_ms:
            most = min(most, chart.model.timeout_ms)  # no point can be beyond
        marks = scales.close_log_ticks(10**least, most, _ROW * (high - low) / height)
        if low < chart.zero[1]:
            room = _ROW * (high - low) / height
            marks = [0.0, *(mark for mark in marks if log10(mark) - chart.zero[1] >= room)]
    elif chart.metric == Quantity.ERRORS.value and not zoomed:
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


def across(chart: Plot) -> list[tuple[float, str]]:
    """Return the marks below the bottom chart: the planned values where they are no rates, few, and
    more than one of them is in view; otherwise round ones.
    """
    axis, (low, last, _, _) = chart.model.axis, chart.limits
    least, width = chart.sizes.px(_BETWEEN_MARKS), max(1.0, chart.plot_rect().width())
    planned = [x for x in axis.values if low <= chart.at_across(x) <= last]
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
    marks = scales.ticks(high, most, whole=whole, low=low)
    while len(marks) < 2 and most < 32 and low < high:
        most += 1
        marks = scales.ticks(high, most, low=low)
    return marks


def time_text(ms: float) -> str:
    """ "1.5 s", "20 ms", "50 µs"."""
    if ms <= 0:
        return "0"
    value, unit = (ms / 1000, "s") if ms >= 1000 else (ms, "ms") if ms >= 0.1 else (ms * 1e3, "µs")
    return f"{value:g} {unit}"

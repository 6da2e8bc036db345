"""The limits of a chart's axes: as tight as the data allow, and stable while data arrive."""

from __future__ import annotations

from math import log10

import numpy as np

from app.charts import scales
from app.charts.plot import Limits, Plot, second_percentile
from app.charts.series import Floats, Quantity
from app.charts.showing import ACROSS, Span

_BEFORE_FIRST = 0.04
"""Left of the first value on a logarithmic x axis; a linear one starts at 0."""
_BESIDE = 0.06
"""Above and below the values of a zoom."""
_ZERO, _BELOW_ZERO = 0.10, 0.04
"""From the end of a logarithmic axis to its zero, and below that."""
_FAR = 10.0
"""A published response time more than this factor from the measured ones does not widen an axis."""
_LABEL = 16.0
"""Unscaled, from the timeout to the upper end of a logarithmic axis."""
_LEAST_PCT = 1.0
"""Where an axis of errors ends that shows none."""


class Axes:
    """The limits of one chart."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._kept: Span | None = None
        """The limits that fit what is shown; they change as little as possible."""
        self._kept_of: object = None

    def forget(self) -> None:
        """Start again, for other data."""
        self._kept = None

    def fit(self) -> Limits:
        """Return the limits for the data known now; sets the chart's whole x axis and its zeros."""
        chart, model = self._chart, self._chart.model
        last = max(model.last_x, model.whole.last_x if model.whole else 0.0)
        across = chart.whole_across = self._across(last)
        zero_x = across[0]
        span = chart.showing.zoom.get(ACROSS)
        if span is not None:
            across = _part(span, across, log=chart.log_across)
        of = (
            span,
            frozenset(chart.hidden) if span else None,
            chart.metric,
            chart.log,
            chart.height(),
        )
        if of != self._kept_of:
            self._kept, self._kept_of = None, of
        low, high = self._part(span) if span else self._all(last)
        steady = chart.quantity is Quantity.TIME or chart.log or span is not None
        if self._kept is not None and steady:
            low, high = min(low, self._kept[0]), max(high, self._kept[1])
        self._kept = (low, high) if model.start is not None else None
        zero_y = low
        if chart.log and (self._spanned(span) <= 0).any():
            whole = high - low
            zero_y, low = low - _ZERO * whole, low - (_ZERO + _BELOW_ZERO) * whole
        chart.zero = zero_x, zero_y
        chart.whole_up = low, high
        if (values := chart.showing.zoom.get(chart.metric)) is not None:
            low, high = _part(values, (low, high), log=chart.log)
        return *_apart(*across), *_apart(low, high)

    def _all(self, last: float) -> Span:
        """Return where the values begin and end as drawn, without a zoom."""
        chart = self._chart
        if chart.log and chart.quantity is Quantity.TIME:
            low, high = self._log_limits()
            return log10(low), log10(high)
        if chart.log and chart.has_ideal and chart.log_across:
            low, high = self._across(last)
            known = self._spanned()
            return log10(known.min(initial=10**low, where=known > 0)), high + 0.03
        if chart.log:
            return self._positive(self._spanned())
        if chart.metric == Quantity.ERRORS.value:
            return -2.0, 102.0
        if chart.quantity is Quantity.REPLIES and chart.model.axis.calibrated:
            return 0.0, last
        return 0.0, self._highest()

    def _part(self, span: Span) -> Span:
        """Return the same for the values between two x."""
        chart, known = self._chart, self._spanned(span)
        if chart.log:
            known = known[known > 0]
            if not len(known):
                return self._all(chart.model.last_x)
            low, high = log10(known.min()), log10(known.max())
            beside = max(_BESIDE * (high - low), 0.08)
            return low - beside, high + beside
        least, most = (known.min(), known.max()) if len(known) else (0.0, 0.0)
        if chart.metric == Quantity.ERRORS.value:
            end = min(102.0, scales.end(max(most * 1.05, _LEAST_PCT)))
            return -0.02 * end, end
        beside = max(_BESIDE * (most - least), 0.005 * most, 1e-3)
        return max(0.0, least - beside), most + beside

    def _across(self, last: float) -> Span:
        if not self._chart.log_across:
            return 0.0, last
        high = log10(max(last, 1e-9))
        ends = self._chart.model.axis.bounds or self._chart.model.axis.values
        low = log10(min((x for x in ends if x > 0), default=last / 1000))
        return (low - _BEFORE_FIRST * (high - low) if low < high else high - 1.0), high

    def _spanned(self, span: Span | None = None) -> Floats:
        """The values that the axis is fitted to: known and expected ones."""
        chart, whole = self._chart, self._chart.model.whole
        if whole is None or (span is not None and chart.hidden):
            return chart.known(span)
        views = [chart.view_shown]
        views += [second_percentile(chart.view_shown)] if chart.has_band else []
        expected = (whole.values(chart.quantity, view, span) for view in views)
        return np.concatenate((chart.known(span), *expected))

    def _highest(self) -> float:
        known = self._spanned()
        return scales.end(max(known.max(initial=0.0) * 1.05, 1e-3)) if len(known) else 1.0

    @staticmethod
    def _positive(known: Floats) -> Span:
        """Return round logarithmic ends around the values that are not zero."""
        known = known[known > 0]
        if not len(known):
            return 0.0, 2.0
        low = log10(scales.round_down(known.min() * 0.95))
        return low, max(log10(scales.round_up(known.max())) + 0.03, low + 1)

    def _log_limits(self) -> Span:
        """Return limits fitted to a complete session; while running, wide enough that the axis
        stays stable.
        """
        model, known = self._chart.model, self._spanned()
        known = self._with_published(known[known > 0])
        low, high = 0.1, scales.round_up(max(1000.0, model.timeout_ms))
        if len(known):
            least, most = scales.round_down(known.min() * 0.9), scales.round_up(known.max() * 0.995)
            ended = model.over or model.whole is not None
            low, high = (least, most) if ended else (min(low, least), max(high, most))
        high = max(high, low * 10)
        # There is room above the timeout for its label.
        room = self._chart.sizes.px(_LABEL) / max(1.0, self._chart.plot_rect().height())
        beyond = (high / low) ** (min(room, 0.25) / (1 - min(room, 0.25)))
        return low, high * (beyond if high >= model.timeout_ms else 1.12)

    def _with_published(self, known: Floats) -> Floats:
        """Return response times with those of the source, unless they are far from them all."""
        if not len(known):
            return known
        least, most = known.min() / _FAR, known.max() * _FAR
        means = (figure.mean_ms for figure in self._chart.published())
        stated = [mean for mean in means if mean and least <= mean <= most]
        return np.concatenate((known, np.array(stated)))


def _apart(low: float, high: float) -> Span:
    """Return both ends of an axis; of one without length, as of a session of no duration, one on
    which something can be drawn.
    """
    return (low, high) if low < high else (low, low + 1.0)


def _part(span: Span, whole: Span, *, log: bool) -> Span:
    """Return what of an axis is shown, as drawn; of none of it, all."""
    low, high = (log10(max(value, 1e-12)) for value in span) if log else span
    low = max(low, whole[0]) if log else low
    return (low, high) if low < high else whole

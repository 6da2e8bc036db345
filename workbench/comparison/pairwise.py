"""Two servers at one rate, figure by figure, with the conclusion their passes allow on each
difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from workbench import formatting
from workbench.analysis import significance
from workbench.analysis.cost import CPU_PER_CALL, cpu_us_per_call
from workbench.analysis.results import Clock, Percentile, PointResult, known_us
from workbench.analysis.significance import MARGIN, Change, Finding
from workbench.comparison.contenders import Contender
from workbench.documents import PointStop
from workbench.formatting import duration, percent, span

ERRORS_MARGIN = 0.5
"""Percentage points: half of the errors that a sustained rate may have. Absolute, because 0 errors
have no ratio."""


@dataclass(frozen=True)
class Figure:
    """One figure of both servers. The difference is the first minus the second."""

    what: str
    first: str
    second: str
    """Both as formatted for people; empty: unknown."""
    difference: float | None
    """In `unit`; None: one of them is unknown."""
    low: float | None
    high: float | None
    """The interval of the difference over the passes; both None: a single pass has no spread."""
    unit: str
    text: str
    """ "slower by 8 to 12 %", "equal within 5 %", "+36 µs, no spread: ..."."""
    change: Change | None = None
    """Over the passes, as a share of the second; for errors in percentage points. None: as
    above."""
    finding: Finding | None = None
    """None: as above."""

    @property
    def name(self) -> str:
        """`what` as people read it."""
        return "RSS" if self.what == "memory" else self.what


def pairwise(
    a: Contender, b: Contender, rate: float, *, paired: bool = False, clock: Clock = "latency"
) -> list[Figure]:
    """At a rate offered to both; empty: there is no such rate. `paired`: their passes were
    interleaved; `clock`: of the response times."""
    first, second = a.result.at(rate), b.result.at(rate)
    if first is None or second is None:
        return []
    return [_figure(quantity, first, second, paired) for quantity in _quantities(clock)]


def to_data(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Plain data for `--json`."""
    return [
        {
            "what": each.what,
            "unit": each.unit,
            "difference": each.difference,
            "low": each.low,
            "high": each.high,
            "change": each.change
            and {
                "figure": each.change.figure,
                "low": each.change.low,
                "high": _finite(each.change.high),
                "passes": each.change.passes,
                "paired": each.change.paired,
            },
            "finding": each.finding,
            "text": each.text,
        }
        for each in figures
    ]


@dataclass(frozen=True)
class _Quantity:
    what: str
    unit: str
    whole: Callable[[PointResult], float | None]
    """Over all passes: counts added up, histograms merged."""
    single: Callable[[PointStop], float | None]
    """For one pass."""
    format: Callable[[float], str]
    """Formats values that are not negative."""
    more: str = "{} more"
    less: str = "{} less"
    step: float = 0.0
    """Resolution of the measurement, in `unit`."""
    absolute: bool = False
    """Compared by differences, because it may be 0, which has no ratio."""


def _quantities(clock: Clock) -> list[_Quantity]:
    return [_percentile("p50", clock), _percentile("p99", clock), *_QUANTITIES]


def _percentile(name: Percentile, clock: Clock) -> _Quantity:
    return _Quantity(
        name,
        "us",
        lambda at: known_us(at.times(clock), name),
        lambda stop: known_us(stop.latency_us if clock == "latency" else stop.service_us, name),
        duration,
        "slower by {}",
        "faster by {}",
        step=1.0,
    )


def _cpu(value: float) -> str:
    return f"{value:.1f} %" if value >= 10 else f"{value:.2f} %"


def _cost(stop: PointStop) -> float | None:
    return stop.values.get(CPU_PER_CALL)


def _microseconds(value: float) -> str:
    return formatting.figure(value, "µs")


def _memory(value: float) -> str:
    """With enough digits that a difference agrees with the two values beside it."""
    return f"{value / 1e6:,.1f} MB"


_QUANTITIES = (
    _Quantity(
        "errors",
        "%",
        lambda at: at.errors_pct,
        lambda stop: stop.errors_pct,
        percent,
        absolute=True,
    ),
    _Quantity(
        "CPU", "%", lambda at: at.cpu_pct or None, lambda stop: stop.server_cpu_pct or None, _cpu
    ),
    _Quantity("CPU per call", "us", cpu_us_per_call, _cost, _microseconds),
    _Quantity(
        "memory",
        "bytes",
        lambda at: float(at.rss_bytes) or None,
        lambda stop: float(stop.server_rss_bytes) or None,
        _memory,
    ),
)


def _figure(quantity: _Quantity, first: PointResult, second: PointResult, paired: bool) -> Figure:
    a, b = quantity.whole(first), quantity.whole(second)
    left, right = ("" if value is None else quantity.format(value) for value in (a, b))
    if a is None or b is None:
        return Figure(quantity.what, left, right, None, None, None, quantity.unit, "")
    change = _change(quantity, first, second, paired)
    if change is None:
        single = [len(_by_pass(quantity, at)) < 2 for at in (first, second)]
        whose = "each" if all(single) else "one"
        text = f"{_signed(quantity, a - b)}, no spread: {whose} has a single pass"
        text = "the same" if a == b else text
        return Figure(quantity.what, left, right, a - b, None, None, quantity.unit, text)
    return Figure(
        what=quantity.what,
        first=left,
        second=right,
        difference=a - b,
        low=change.low if quantity.absolute else b * change.low,
        high=_finite(change.high if quantity.absolute else b * change.high),
        unit=quantity.unit,
        text=_formatted(quantity, change),
        change=change,
        finding=change.found(_margin(quantity)),
    )


def _change(
    quantity: _Quantity, first: PointResult, second: PointResult, paired: bool
) -> Change | None:
    x, y = _by_pass(quantity, first), _by_pass(quantity, second)
    if quantity.absolute:
        return significance.difference(x, y, paired=paired)
    finest = quantity.step / min([*x.values(), *y.values()], default=1.0)
    return significance.ratio(x, y, paired=paired, resolution=finest)


def _by_pass(quantity: _Quantity, at: PointResult) -> dict[int, float]:
    """The known figures, by pass."""
    values = {stop.pass_number: quantity.single(stop) for stop in at.stops}
    return {number: value for number, value in values.items() if value is not None}


def _margin(quantity: _Quantity) -> float:
    return ERRORS_MARGIN if quantity.absolute else MARGIN


def _formatted(quantity: _Quantity, change: Change) -> str:
    def ends(low: float, high: float) -> str:
        if quantity.absolute:
            return f"{span(low, high)} percentage points"
        return f"{span(100 * low, 100 * high)} %"

    if change.low == change.high == 0:
        return "the same"
    match change.found(margin := _margin(quantity)):
        case "equal":
            return f"equal within {ends(margin, margin)}"
        case "more":
            return quantity.more.format(ends(change.low, change.high))
        case "less":
            return quantity.less.format(ends(-change.high, -change.low))
    if not quantity.absolute and change.most > 1:
        return "cannot be distinguished: could differ by more than 100 %"
    return f"cannot be distinguished: could differ by up to {ends(change.most, change.most)}"


def _signed(quantity: _Quantity, value: float) -> str:
    """With a minus sign; a difference of percentages is in percentage points."""
    text = quantity.format(abs(value)).replace(" %", " percentage points")
    return f"{'−' if value < 0 else '+'}{text}"


def _finite(value: float) -> float | None:
    return None if value == inf else value

"""Two servers at one rate, figure by figure, with what their passes say of each difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench import formatting
from workbench.analysis.cost import CPU_PER_CALL, cpu_us_per_call
from workbench.analysis.histogram import percentile_supported
from workbench.analysis.intervals import Interval, ranks
from workbench.analysis.results import PointResult
from workbench.comparison.contenders import Contender
from workbench.documents import PointStop
from workbench.formatting import duration, percent


@dataclass(frozen=True)
class Figure:
    """One quantity of both. The difference is the first minus the second."""

    what: str
    first: str
    second: str
    """As people read them; empty: not known."""
    difference: float | None
    """In `unit`; None: one of them is not known."""
    low: float | None
    high: float | None
    """Of the difference, by the passes; None, both: one pass has no spread."""
    unit: str
    text: str
    """ "+36 µs (10 to 52)", "indistinguishable", "+36 µs, no spread: ..."."""


def pairwise(a: Contender, b: Contender, rate: float) -> list[Figure]:
    """At a rate offered to both; empty: it was not."""
    first, second = a.result.at(rate), b.result.at(rate)
    if first is None or second is None:
        return []
    return [_figure(quantity, first, second) for quantity in _QUANTITIES]


def to_data(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """For `--json`."""
    return [
        {
            "what": each.what,
            "unit": each.unit,
            "difference": each.difference,
            "low": each.low,
            "high": each.high,
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
    """Of one pass."""
    format: Callable[[float], str]
    """What is not negative."""


def _percentile(name: str, q: float) -> _Quantity:
    def of(times: Any) -> float | None:
        known = times is not None and percentile_supported(times.count, q)
        return float(getattr(times, name)) if known else None

    return _Quantity(
        name, "us", lambda at: of(at.latency_us), lambda stop: of(stop.latency_us), duration
    )


def _cpu(value: float) -> str:
    return f"{value:.1f} %" if value >= 10 else f"{value:.2f} %"


def _cost(stop: PointStop) -> float | None:
    return stop.values.get(CPU_PER_CALL)


def _microseconds(value: float) -> str:
    return formatting.figure(value, "µs")


def _memory(value: float) -> str:
    """So fine that a difference is seen to be that of the two beside it."""
    return f"{value / 1e6:,.1f} MB"


_QUANTITIES = (
    _percentile("p50", 0.5),
    _percentile("p99", 0.99),
    _Quantity("errors", "%", lambda at: at.errors_pct, lambda stop: stop.errors_pct, percent),
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


def _figure(quantity: _Quantity, first: PointResult, second: PointResult) -> Figure:
    a, b = quantity.whole(first), quantity.whole(second)
    said, other = ("" if value is None else quantity.format(value) for value in (a, b))
    if a is None or b is None:
        return Figure(quantity.what, said, other, None, None, None, quantity.unit, "")
    x, y = _spread(quantity, first), _spread(quantity, second)
    if x is None or y is None:
        whose = "each" if x is None and y is None else "one"
        text = f"{_signed(quantity, a - b)}, no spread: {whose} has a single pass"
        text = "the same" if a == b else text
        return Figure(quantity.what, said, other, a - b, None, None, quantity.unit, text)
    low, high = x.low - y.high, x.high - y.low
    return Figure(
        quantity.what,
        said,
        other,
        a - b,
        low,
        high,
        quantity.unit,
        _formatted(quantity, a - b, low, high),
    )


def _formatted(quantity: _Quantity, difference: float, low: float, high: float) -> str:
    if low == high == 0:
        return "the same"
    if low <= 0 <= high:
        return "indistinguishable"
    if low == high:
        return _signed(quantity, difference)
    ends = [_signed(quantity, end) for end in (low, high)]
    return f"{_signed(quantity, difference)} ({ends[0]} to {ends[1]})"


def _signed(quantity: _Quantity, value: float) -> str:
    """With a real minus; a difference of percentages is one of points."""
    text = quantity.format(abs(value)).replace(" %", " points")
    return f"{'−' if value < 0 else '+'}{text}"


def _spread(quantity: _Quantity, at: PointResult) -> Interval | None:
    """Of the passes' own figures; None: fewer than two told one."""
    values = sorted(v for stop in at.stops if (v := quantity.single(stop)) is not None)
    if len(values) < 2:
        return None
    rank, coverage = ranks(len(values))
    return Interval(values[rank], values[-1 - rank], len(values), coverage)

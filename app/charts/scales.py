"""Axis limits and ticks on round figures. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, log10

_STEPS = (1.0, 2.0, 5.0)
_ENDS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)

_TWICE = 0.301
"""Decades from 1 to 2."""


def ticks(low: float, high: float, most: int, *, whole: bool = False) -> list[float]:
    """Return ticks from `low` to `high` in steps of 1, 2 or 5 times a power of ten, at most
    `most` + 1. `whole`: whole numbers only.
    """
    if high <= low or most < 1:
        return [low]
    span = high - low
    power = floor(log10(span / most))
    steps = (step * 10.0**exponent for exponent in (power, power + 1) for step in _STEPS)
    step = next(step for step in steps if span / step <= most * (1 + 1e-9))
    step = max(step, 1.0) if whole else step
    first, last = ceil(low / step - 1e-9), floor(high / step * (1 + 1e-9))
    return [round(i * step, 9) for i in range(first, last + 1)]


def round_down(value: float) -> float:
    """Return the next lower 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return max(step for step in _STEPS if step * power <= value * (1 + 1e-9)) * power


def round_up(value: float) -> float:
    """Return the next higher 1, 2, 5 or 10 times a power of ten."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return min(step for step in (*_STEPS, 10.0) if step * power >= value * (1 - 1e-9)) * power


def end(value: float) -> float:
    """Return the next higher round figure for a linear axis: in finer steps than `round_up`."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return min(step for step in _ENDS if step * power >= value * (1 - 1e-9)) * power


def apart(values: Sequence[float], places: Sequence[float], least: float) -> list[float]:
    """Return, ascending, those of ascending values that are far enough apart, by their ascending
    places, to be written below an axis: the last, the first, and from the last down what is left.
    """
    kept: dict[float, float] = {}
    pairs = list(zip(values, places, strict=True))
    for value, place in (*pairs[-1:], *pairs[:1], *reversed(pairs)):
        if value in kept or all(abs(place - other) >= least for other in kept.values()):
            kept[value] = place
    return sorted(kept)


def close_log_ticks(
    low: float, high: float, apart: float, even: Callable[[float, float, int], list[float]] = ticks
) -> list[float]:
    """Return `log_ticks`; where there are fewer than three, as in a part of a decade, those of
    `even`: at most a number of values and one between two.
    """
    marks = log_ticks(low, high, apart)
    if len(marks) >= 3:
        return marks
    kept: list[float] = []
    for mark in even(low, high, max(2, int(log10(high / low) / apart))):
        if mark > 0 and (not kept or log10(mark / kept[-1]) > 0.75 * apart):
            kept.append(mark)
    return max(marks, kept, key=len)


def log_ticks(low: float, high: float, apart: float = 0.25) -> list[float]:
    """Return the round ends of low..high, the powers of ten within, and 2 and 5 of each where there
    are few or all have room. Of two within `apart` decades the more useful stays: the top, then
    powers of ten.
    """
    powers = range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)
    tens = [10.0**power for power in reversed(powers)]
    wanted = [round_down(high), *tens, round_up(low)]
    decades = log10(high / low)
    if decades <= 2.2 or (decades <= 3.2 and apart <= _TWICE):
        wanted += [step * ten for ten in reversed(tens) for step in _STEPS[1:]]
    marks: list[float] = []
    for mark in wanted:
        inside = low * 0.999 <= mark <= high * 1.001
        if inside and all(abs(log10(mark / other)) > apart for other in marks):
            marks.append(mark)
    return sorted(marks)

"""Axis limits and ticks on round figures. No Qt."""

from __future__ import annotations

from math import ceil, floor, log10

_STEPS = (1.0, 2.0, 5.0)


def ticks(high: float, most: int) -> list[float]:
    """Return ticks from 0 to at most `high` in steps of 1, 2 or 5 times a power of ten, at most
    `most` + 1.
    """
    if high <= 0 or most < 1:
        return [0.0]
    power = floor(log10(high / most))
    steps = (step * 10.0**exponent for exponent in (power, power + 1) for step in _STEPS)
    step = next(step for step in steps if high / step <= most * (1 + 1e-9))
    return [round(i * step, 9) for i in range(floor(high / step * (1 + 1e-9)) + 1)]


def round_down(value: float) -> float:
    """Return the next lower 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return max(step for step in _STEPS if step * power <= value * (1 + 1e-9)) * power


def round_up(value: float) -> float:
    """Return the next higher 1, 2, 5 or 10 times a power of ten."""
    power = 10.0 ** floor(log10(value) + 1e-9)
    return min(step for step in (*_STEPS, 10.0) if step * power >= value * (1 - 1e-9)) * power


def log_ticks(low: float, high: float, apart: float = 0.25) -> list[float]:
    """Return the round ends of low..high, the powers of ten within, and 2 and 5 of each where there
    are few. Of two within `apart` decades the more useful stays: the top, then powers of ten.
    """
    powers = range(floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9) + 1)
    tens = [10.0**power for power in reversed(powers)]
    wanted = [round_down(high), *tens, round_up(low)]
    if log10(high / low) <= 2.2:
        wanted += [step * ten for ten in reversed(tens) for step in _STEPS[1:]]
    marks: list[float] = []
    for mark in wanted:
        inside = low * 0.999 <= mark <= high * 1.001
        if inside and all(abs(log10(mark / other)) > apart for other in marks):
            marks.append(mark)
    return sorted(marks)

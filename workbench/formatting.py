"""Formatting of figures for display."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby


def rate(rate_per_s: float) -> str:
    """Format a rate as on the charts: "4,700", "8,276" for 8,275.9, "2.5"."""
    return f"{rate_per_s:,.0f}" if rate_per_s >= 9.995 else f"{rate_per_s:.3g}"


def ordinal(number: int) -> str:
    """ "first", "second", "third", "4th"."""
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def continued(sentence: str) -> str:
    """A sentence as it continues another: in lower case, unless its first word is a name."""
    first = sentence.split(" ", 1)[0]
    named = first.startswith("Pongbench") or any(letter.isupper() for letter in first[1:])
    return sentence if named else sentence[:1].lower() + sentence[1:]


def capital(phrase: str) -> str:
    return phrase[:1].upper() + phrase[1:]


def known(names: Sequence[str], what: str) -> str:
    """List what exists: "There are a, b and c." or "There is only a." or "There is no plan yet"."""
    if len(names) < 2:
        return f"There is only {names[0]}." if names else f"There is no {what} yet."
    return f"There are {listed(names)}."


def duration(us: float | None) -> str:
    """Format a response time with three digits: "85 µs", "1.42 ms", "2.1 s"; empty: unknown."""
    if us is None:
        return ""
    if us < 999.5:
        return f"{us:.0f} µs"
    if us < 999_500:
        return f"{_three(us / 1e3)} ms"
    return f"{_three(us / 1e6)} s"


def clock(seconds: float) -> str:
    """Format a waiting time: "0:07", "18:58", "1:02:00"."""
    minutes, rest = divmod(round(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def in_unit(most: float, unit: str) -> tuple[float, str]:
    """The unit that suits values up to this, and their factor: (1000, "kB/s") for 0.03 MB/s."""
    return (1e3, "kB/s") if unit == "MB/s" and most < 1 else (1, unit)


def figure(value: float | None, unit: str = "") -> str:
    """Format a metric with three digits: "12.4 µs", "8,204", "30.7 kB/s"; empty: unknown."""
    if value is None:
        return ""
    factor, unit = in_unit(abs(value), unit)
    value *= factor
    text = f"{value:,.0f}" if abs(value) >= 99.95 or value == int(value) else f"{value:.3g}"
    return counted(text, f" {unit}".rstrip())


def counted(figure: str, suffix: str) -> str:
    """Join a figure and what it counts, in the singular after 1: "64 bytes", "1 byte", "1/s"."""
    word = suffix.strip()
    if figure != "1" or len(word) < 4 or not word.isalpha() or not word.endswith("s"):
        return f"{figure}{suffix}"
    if word.endswith("ies"):
        return f"{figure}{suffix.removesuffix('ies')}y"
    return f"{figure}{suffix.removesuffix('es' if word.endswith('sses') else 's')}"


def number_of(count: int, things: str) -> str:
    """ "2,000 calls", "1 call"."""
    return counted(f"{count:,}", f" {things}")


def per_second(value: float | None) -> str:
    """Format an extrapolated rate to three digits: "28,400/s"; empty: unknown."""
    if value is None:
        return ""
    digits = max(0, len(f"{value:.0f}") - 3)
    return f"{round(value, -digits):,.0f}/s"


def percent(share: float) -> str:
    """ "0 %", "0.04 %", "12.3 %"; never 0 for what is not nothing."""
    if share == 0:
        return "0 %"
    return "< 0.01 %" if share < 0.01 else f"{share:.2g} %" if share < 1 else f"{share:.1f} %"


def span(low: float, high: float) -> str:
    """Format two ends with two digits: "8 to 12", "0.3 to 1.4"; "10" where they read the same."""
    first, last = (f"{end:,.0f}" if end >= 9.95 else f"{end:.2g}" for end in (low, high))
    return first if first == last else f"{first} to {last}"


def size(count: int) -> str:
    """Format bytes in decimal units: "12 kB", "3.1 MB", "53 MB", "25.3 GB"."""
    if count < 999_500:
        return f"{count / 1e3:,.0f} kB" if count >= 1_000 else counted(str(count), " bytes")
    if count < 999_500_000:
        return f"{count / 1e6:.2g} MB" if count < 9_950_000 else megabytes(count)
    return f"{count / 1e9:,.1f} GB"


def megabytes(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"


def bits(per_s: float) -> str:
    """ "940 Mbit/s", "1.4 Gbit/s"."""
    for unit, name in ((1e9, "Gbit/s"), (1e6, "Mbit/s")):
        if per_s >= unit:
            return f"{per_s / unit:.3g} {name}"
    return f"{per_s / 1e3:,.3g} kbit/s"


def cores(numbers: Sequence[int]) -> str:
    """ "core 0", "cores 0, 2", "cores 0 to 31, 48"; empty: of none. `numbers`: ascending."""
    said: list[str] = []
    for _, run in groupby(enumerate(numbers), key=lambda place: place[1] - place[0]):
        row = [str(number) for _, number in run]
        said += [f"{row[0]} to {row[-1]}"] if len(row) > 2 else row
    return f"core{'s' * (len(numbers) > 1)} {', '.join(said)}" if numbers else ""


def listed(names: Sequence[str]) -> str:
    """ "a, b and c" """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def time_span(span_s: tuple[float, float]) -> str:
    """Format a range of time: "0.5 to 1.5 min", "2 s to 1.7 min"."""
    unit, name = _unit_of(span_s[1])
    if span_s[0] < 0.1 * unit:
        own, its_name = _unit_of(span_s[0])
        return f"{_two(span_s[0] / own)} {its_name} to {_two(span_s[1] / unit)} {name}"
    first, last = (_two(value / unit) for value in span_s)
    return f"{first} {name}" if first == last else f"{first} to {last} {name}"


def _unit_of(span_s: float) -> tuple[int, str]:
    return (3600, "h") if span_s >= 7200 else (60, "min") if span_s >= 60 else (1, "s")


def _two(value: float) -> str:
    """Format with two digits, below one with the first only."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.2g}" if value >= 0.95 else f"{value:.1g}"


def _three(value: float) -> str:
    return f"{value:.2f}" if value < 9.995 else f"{value:.1f}" if value < 99.95 else f"{value:.0f}"

"""Figures are formatted the same everywhere."""

from __future__ import annotations

import pytest

from workbench import formatting
from workbench.axis import RATE, Axis
from workbench.messages.base import place


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (1, "1 byte"),
        (5, "5 bytes"),
        (999, "999 bytes"),
        (1_000, "1 kB"),
        (999_499, "999 kB"),
        (999_500, "1 MB"),
        (3 << 20, "3.1 MB"),
        (9_949_999, "9.9 MB"),
        (9_950_000, "10 MB"),
        (53_000_000, "53 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.0 GB"),
        (25_276_000_000, "25.3 GB"),
    ],
)
def test_bytes_are_shown_in_powers_of_thousand(count: int, text: str) -> None:
    assert formatting.size(count) == text


SIZES = Axis(key="size", label="Size", unit="bytes")
WORKERS = Axis(key="processes", label="Workers", unit="processes")
WAITS = Axis(key="wait", label="Wait", unit="ms")


@pytest.mark.parametrize(
    ("axis", "x", "text"),
    [
        (SIZES, 1, "1 byte"),
        (SIZES, 1.5, "1.5 bytes"),
        (SIZES, 64, "64 bytes"),
        (WORKERS, 1, "1 process"),
        (WAITS, 1, "1 ms"),
        (RATE, 1, "1/s"),
    ],
)
def test_one_of_a_unit_is_in_the_singular(axis: Axis, x: float, text: str) -> None:
    assert axis.at(x) == place(x, axis.suffix) == text
    if not axis.per_second:
        assert formatting.figure(x, axis.unit) == text

"""Figures are written in one way wherever they are read."""

from __future__ import annotations

import pytest

from workbench import formatting


@pytest.mark.parametrize(
    ("count", "text"),
    [
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
def test_bytes_are_told_in_thousands(count: int, text: str) -> None:
    assert formatting.size(count) == text

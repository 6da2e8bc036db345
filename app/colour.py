"""Colour arithmetic."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QColor


def with_opacity(colour: str, opacity: float) -> QColor:
    """Return `colour` with an alpha from 0 to 1."""
    tint = QColor(colour)
    tint.setAlphaF(opacity)
    return tint


@lru_cache(maxsize=1024)
def mix(a: str, b: str, share: float) -> str:
    """Return a mix of `a` and `b` as a colour name; `share` is the part of `b`."""
    x, y = QColor(a), QColor(b)
    channels = zip(x.getRgb()[:3], y.getRgb()[:3], strict=True)
    return QColor(*(round(p + (q - p) * share) for p, q in channels)).name()


def contrast(a: str, b: str) -> float:
    """Return the WCAG contrast ratio of two colours, 1 to 21."""

    def luminance(colour: str) -> float:
        def linear(v: float) -> float:
            return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4

        c = QColor(colour)
        r, g, b = (linear(v) for v in (c.redF(), c.greenF(), c.blueF()))
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)

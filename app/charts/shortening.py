"""Shortens names to a width; no two different ones read the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import takewhile

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont

from app.charts.drawing import elided, metrics, text_width

_LEAST_LETTERS = 5
"""Of a shortened name, with its ellipsis."""


@lru_cache(maxsize=256)
def distinct_names(names: frozenset[str], font: QFont, width: float) -> dict[str, str]:
    """Return the text of each name within `width` pixels: its beginning; where several begin alike,
    the part from the first word that differs; else both of its ends. Where those are equal too, the
    differing word is tried again, since fewer names are left to distinguish.
    """
    written = {name: elided(name, font, width) for name in names}
    for shorten in (_from_first_difference, _both_ends, _from_first_difference):
        alike = defaultdict(list)
        for name, short in written.items():
            alike[short].append(name)
        for group in alike.values():
            if len(group) > 1:
                written.update(shorten(group, font, width))
    return written


def name_within(name: str, names: frozenset[str], font: QFont, width: float) -> str:
    """Return the text of one of `names` within `width` pixels; empty: too few letters would be left
    to recognise it.
    """
    short = distinct_names(names, font, width)[name]
    return short if short == name or len(short) > _LEAST_LETTERS else ""


def name_among(name: str, others: Iterable[str], font: QFont, width: float) -> str:
    """Return the text of a name within `width` pixels that reads unlike that of every other."""
    if text_width(name, font) <= width:
        return name
    return distinct_names(frozenset((name, *others)), font, width)[name]


def _from_first_difference(names: Sequence[str], font: QFont, width: float) -> dict[str, str]:
    words = [name.split() for name in names]
    bare = ([word.rstrip(",") for word in each] for each in words)
    start = len(list(takewhile(lambda each: len(set(each)) == 1, zip(*bare, strict=False))))
    tails = (" ".join(each[start:]) for each in words)
    return {
        name: elided(f"…{tail}" if start and tail else name, font, width)
        for name, tail in zip(names, tails, strict=True)
    }


def _both_ends(names: Sequence[str], font: QFont, width: float) -> dict[str, str]:
    middle = Qt.TextElideMode.ElideMiddle
    return {name: metrics(font).elidedText(name, middle, width) for name in names}

"""Which of the styles each server gets. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, count

STYLES = 24
"""The number of servers that can be distinguished, by colour and without it."""
HUES = 8
"""Of a theme. Styles at a distance of these have one hue, and differ in line pattern and marker."""


def style_places(ids: Iterable[str]) -> dict[str, int]:
    """Return the index of every server's style (`Theme.series`), by id or by key of a series.

    They follow one another, except that the versions of a server (tornado, tornado@0.2) share a
    hue. No place depends on those after it.
    """
    places: dict[str, int] = {}
    for id_ in dict.fromkeys(ids):
        of = id_.partition("@")[0]
        kin = [place for other, place in places.items() if other.partition("@")[0] == of]
        same_hue = range(kin[0] % HUES, STYLES, HUES) if kin else ()
        taken = set(places.values())
        places[id_] = next(place for place in chain(same_hue, count()) if place not in taken)
    return places

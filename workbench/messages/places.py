"""Points listed by server and position on the axis, for use in sentences."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from workbench import formatting
from workbench.axis import RATE

FEW = 5
"""Up to this many values of a server are listed individually."""
MOST_NAMES = 6
"""Up to this many servers are named."""


def places(where: Iterable[tuple[str, float]], suffix: str) -> str:
    """ "gevent at 18,000 and 20,000/s", "gevent and Trio at 8,400/s and Twisted at 4,000/s" """
    values: defaultdict[str, set[float]] = defaultdict(set)
    for name, x in where:
        values[name].add(x)
    sharing: defaultdict[tuple[float, ...], list[str]] = defaultdict(list)
    for name, xs in values.items():
        sharing[tuple(sorted(xs))].append(name)
    return formatting.listed(
        [f"{_names(names)} at {_values(xs, suffix)}" for xs, names in sharing.items()]
    )


def _names(names: Sequence[str]) -> str:
    """ "gevent, Trio, Twisted, Tornado, Eventlet and 37 others" """
    if len(names) > MOST_NAMES:
        named = names[: MOST_NAMES - 1]
        names = [*named, f"{len(names) - len(named):,} others"]
    return formatting.listed(names)


def _values(xs: Sequence[float], suffix: str) -> str:
    """`xs` ascend."""
    if len(xs) > FEW:
        return f"{len(xs):,} values from {RATE.figure(xs[0])} to {RATE.figure(xs[-1])}{suffix}"
    return f"{formatting.listed([*map(RATE.figure, xs)])}{suffix}"

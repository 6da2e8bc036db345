"""Which class the next user of a point is of."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from workbench.remote.agent.protocol import Load


def in_turn(classes: list[Any], load: Load) -> Iterator[Any]:
    """Yield the classes of a closed loop's users of this worker: first the fixed ones, then all by
    weight, spread as evenly as can be."""
    fixed = [each for each in classes for _ in range(each.fixed_count)]
    weighted = [each for each in classes if not each.fixed_count]
    every = itertools.chain(fixed, _by_weight(weighted or fixed))
    return itertools.islice(every, load.share, None, load.shares)


def _by_weight(classes: list[Any]) -> Iterator[Any]:
    total, credit = sum(each.weight for each in classes), dict.fromkeys(classes, 0.0)
    while True:
        for each in classes:
            credit[each] += each.weight
        chosen = max(classes, key=lambda each: credit[each])
        credit[chosen] -= total
        yield chosen


def drawn(classes: list[Any], load: Load) -> Iterator[Any]:
    """Yield the classes of arrivals, drawn by weight."""
    weights = list(itertools.accumulate(each.weight or 1 for each in classes))
    draw = random.Random(f"{load.seed}/{load.share}/{load.shares}/users").choices
    while True:
        yield from draw(classes, cum_weights=weights, k=100)

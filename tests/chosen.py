"""A seeded sample of many cases, or all of them in `make verify`."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
WHOLE = "PONGBENCH_VERIFY"
"""In the environment: every case is wanted, however long that takes."""


def chosen(cases: Sequence[T], few: int, *, seed: int = 1) -> list[T]:
    """All of `cases` in `make verify`, otherwise a `few` of them, always the same."""
    if os.environ.get(WHOLE):
        return list(cases)
    picked = random.Random(seed).sample(range(len(cases)), min(few, len(cases)))
    return [cases[index] for index in sorted(picked)]

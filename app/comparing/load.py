"""Reads the sessions of a comparison, in the engine's thread. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import BadInput
from workbench.results.comparison import MOST, TAGS, Side, read_side
from workbench.sessions import NewerSession


@dataclass
class Loaded:
    """The sessions read, tagged in their order, and a sentence about each file that could not be
    read.
    """

    sides: list[Side] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Sentences about sessions that were left out without harm."""
    newer: list[Path] = field(default_factory=list)
    """Written by a later Pongbench: refused, but this version can read them in part on request."""


async def load(
    paths: Sequence[Path], known: Mapping[Path, Side], newer: Collection[Path] = ()
) -> Loaded:
    """Read every file once; `known` ones are not read again. `newer` ones are read as far as
    possible.
    """
    return await asyncio.to_thread(_load, paths, known, newer)


def retagged(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with letters in their present order."""
    return [
        side if side.tag == tag else side.retagged(tag)
        for tag, side in zip(TAGS, sides, strict=False)
    ]


def _load(paths: Sequence[Path], known: Mapping[Path, Side], newer: Collection[Path]) -> Loaded:
    loaded = Loaded()
    left_out = 0
    taken: set[Path] = set()
    for path in paths:
        if path.resolve() in taken:
            loaded.remarks.append(f"{path.name} is already in the comparison.")
            continue
        taken.add(path.resolve())
        if len(loaded.sides) == MOST:
            left_out += 1
            continue
        try:
            tag = TAGS[len(loaded.sides)]
            loaded.sides.append(known.get(path) or read_side(path, tag, newer=path in newer))
        except NewerSession as error:
            loaded.refused.append(str(error))
            loaded.newer.append(path)
        except BadInput as error:
            loaded.refused.append(str(error))
    loaded.sides = retagged(loaded.sides)
    if left_out:
        some = "one session" if left_out == 1 else f"{left_out} sessions"
        loaded.remarks.append(f"A comparison has at most {MOST} sessions; {some} not added.")
    return loaded

"""Flame graphs: the stacks of a profile as boxes.

As Brendan Gregg drew them (*The Flame Graph*, ACM Queue 14(2), 2016), upside down: a box is a
function called by the one above it, its width the share of samples that saw it on the stack. The
widest callee is on the left.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from workbench.messages.outcomes import Profile

ALL = "all"
OTHER = "(other stacks)"
"""The name of the box of samples whose stacks were not recorded."""


@dataclass(eq=False)
class Box:
    """A function with the calls that led to it. Shares are of all samples."""

    name: str
    depth: int
    parent: Box | None
    samples: int = 0
    own: int = 0
    """Samples that saw the function itself work, and no callee of it."""
    start: float = 0.0
    """Where it begins, 0 to 1."""
    share: float = 0.0
    callees: list[Box] = field(default_factory=list)
    """The widest first."""

    def all(self) -> Iterator[Box]:
        """Itself, then all boxes below it."""
        waiting = [self]
        while waiting:
            box = waiting.pop()
            yield box
            waiting += reversed(box.callees)


def flame(profile: Profile) -> Box:
    root = Box(ALL, 0, None)
    known: dict[tuple[int, int], Box] = {}
    names = profile.names
    for count, calls in profile.each():
        box = root
        box.samples += count
        for call in calls:
            key = id(box), call
            if key not in known:
                known[key] = Box(names[call], box.depth + 1, box)
                box.callees.append(known[key])
            box = known[key]
            box.samples += count
        box.own += count
    if profile.other:
        root.samples += profile.other
        root.callees.append(Box(OTHER, 1, root, profile.other, profile.other))
    _place(root)
    return root


def _place(root: Box) -> None:
    root.share = 1.0 if root.samples else 0.0
    waiting = [root]
    while waiting:
        box = waiting.pop()
        box.callees.sort(key=lambda callee: (-callee.samples, callee.name))
        at = box.start
        for callee in box.callees:
            callee.start, callee.share = at, callee.samples / root.samples
            at += callee.share
        waiting += box.callees


HUES = 8


def hue(box: Box) -> int:
    """Return one of the `HUES` for a box: functions of one file share it."""
    return zlib.crc32(module(box.name).encode()) % HUES


def module(name: str) -> str:
    """Return where a function belongs, for its colour: "socket.py" of "send (socket.py)"."""
    _, bracket, rest = name.rpartition(" (")
    return rest.removesuffix(")") if bracket else name.partition(".")[0]

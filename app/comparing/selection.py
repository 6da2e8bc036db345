"""Reads the sessions that are compared, and remembers which of their servers are shown. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.errors import BadInput
from workbench.formatting import number_of
from workbench.results.comparison import MOST, TAGS, Comparison, Contender, Side, compare, read_side
from workbench.sessions import NewerSession


@dataclass
class Loaded:
    """The sessions read, tagged in their order, and a sentence about each file that could not be
    read.
    """

    sides: list[Side] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    """Sentences about sessions that were left out without harm, or read in part."""


async def load(paths: Sequence[Path], known: Mapping[Path, Side]) -> Loaded:
    """Read every file once; `known` ones are not read again."""
    return await asyncio.to_thread(_load, paths, known)


def retagged(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with letters in their present order."""
    return [
        side if side.tag == tag else side.retagged(tag)
        for tag, side in zip(TAGS, sides, strict=False)
    ]


def _load(paths: Sequence[Path], known: Mapping[Path, Side]) -> Loaded:
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
            loaded.sides.append(known.get(path) or _read(path, TAGS[len(loaded.sides)], loaded))
        except BadInput as error:
            loaded.refused.append(str(error))
    loaded.sides = retagged(loaded.sides)
    if left_out:
        some = "one session" if left_out == 1 else f"{left_out} sessions"
        loaded.remarks.append(f"A comparison has at most {MOST} sessions; {some} not added.")
    return loaded


def _read(path: Path, tag: str, loaded: Loaded) -> Side:
    try:
        return read_side(path, tag)
    except NewerSession:
        side = read_side(path, tag, newer=True)
        loaded.remarks.append(
            f"{path.name} is from a newer Pongbench. Unknown parts are not compared."
        )
        return side


MOST_LINES = 12
"""More can hardly be distinguished; servers that all sessions have are preferred."""


@dataclass
class Selection:
    """Remembers hidden servers by file, so that letters may change."""

    sides: list[Side] = field(default_factory=list)
    rate: float | None = None
    """The rate of the table; None: the highest rate that all sustain."""
    _hidden: set[tuple[str, str]] = field(default_factory=set)

    def clear(self) -> None:
        self.sides, self.rate = [], None
        self._hidden.clear()

    def paths(self) -> list[Path]:
        return [side.path for side in self.sides]

    def take(self, sides: Sequence[Side]) -> None:
        """Compare these sessions. Contenders of new sessions beyond `MOST_LINES` are hidden."""
        before = set(self.paths())
        self.sides = list(sides)
        self._hide_beyond([side for side in self.sides if side.path not in before])

    def remove(self, tag: str) -> None:
        self.sides = retagged([side for side in self.sides if side.tag != tag])
        self.rate = None

    def promote(self, tag: str) -> None:
        self.sides = retagged(sorted(self.sides, key=lambda side: side.tag != tag))

    def show(self, key: str, shown: bool) -> None:
        (self._hidden.discard if shown else self._hidden.add)(self._place(key))

    def is_shown(self, key: str) -> bool:
        return self._place(key) not in self._hidden

    def contenders(self) -> list[Contender]:
        return [contender for side in self.sides for contender in side.contenders]

    def shown(self) -> list[str]:
        return [each.key for each in self.contenders() if self.is_shown(each.key)]

    def comparison(self) -> Comparison:
        """Return the comparison of the visible contenders; a rate that they no longer share is
        dropped.
        """
        found = compare(self.sides, self.shown(), self.rate)
        if self.rate is not None and self.rate not in found.shared:
            self.rate = None
            found = compare(self.sides, self.shown())
        return found

    def arguments(self) -> list[str]:
        """Return the arguments of the command that compares the same."""
        servers = (argument for key in self.shown() for argument in ("--server", key))
        rate = [] if self.rate is None else [f"--rate={self.rate!r}"]
        paths = (str(path.absolute()) for path in self.paths())
        return ["compare", *paths, *servers, *rate, "--newer"]

    def describe(self) -> str:
        """ "4 servers in both sessions · 6 of 8 lines shown"."""
        if not self.sides:
            return "No sessions selected."
        shown, total = len(self.shown()), len(self.contenders())
        if len(self.sides) == 1:
            count = f"{shown} of {total} servers" if shown < total else number_of(total, "servers")
            return f"{count} · add another session to compare"
        found = compare(self.sides)
        common = set(found.common()) - {c.id for c in found.contenders if not c.measured}
        them = "both sessions" if len(self.sides) == 2 else f"all {len(self.sides)} sessions"
        count = number_of(len(common), "servers") if common else "No server measured"
        text = f"{count} in {them}"
        return f"{text} · {shown} of {total} lines shown" if shown < total else text

    def _place(self, key: str) -> tuple[str, str]:
        tag, _, server = key.partition("/")
        side = next(side for side in self.sides if side.tag == tag)
        return str(side.path), server

    def _hide_beyond(self, new: Sequence[Side]) -> None:
        if not new or len(self.contenders()) <= MOST_LINES:
            return
        if len(new) < len(self.sides):
            # Next to other sessions: the servers that are visible in those.
            old = [side for side in self.sides if side not in new]
            shown = {c.id for side in old for c in side.contenders if self.is_shown(c.key)}
        else:
            whole = compare(self.sides)
            common, ranked = whole.common(), [contender.id for contender in whole.ranked()]
            order = sorted(set(ranked), key=lambda id_: (id_ not in common, ranked.index(id_)))
            shown = set(order[: max(2, MOST_LINES // len(self.sides))])
        for side in new:
            for contender in side.contenders:
                if contender.id not in shown:
                    self.show(contender.key, False)

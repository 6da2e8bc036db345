"""Notes that the user puts on a session's charts.

A session file is never rewritten, so they stand beside it: those of `my.pong.yaml` in
`my.notes.yaml`.

    session: 683b3bb9a01c77e2
    notes:
    - x: 4500.0
      server: tornado
      text: The log grew here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import yaml

from workbench import stores
from workbench.config.yaml import loads_yaml, read_text
from workbench.errors import BadInput, why

LONGEST = 400
MOST = 99
_MOST_BYTES = 1 << 20
_MOST_NODES = 4_000
_WHAT = "notes on charts"


@dataclass(frozen=True)
class ChartNote:
    """A text at a value of the axis."""

    x: float
    text: str
    server: str = ""
    """The key of its series; empty: about all of them."""


class ChartNotes:
    """The notes of one session, by its file."""

    def __init__(self, session: Path) -> None:
        name = session.name.removesuffix(".yaml").removesuffix(".pong")
        self.path = session.with_name(f"{name}.notes.yaml")

    def read(self) -> list[ChartNote]:
        """Return the notes by x; without a file, none. Raises BadInput for an invalid file."""
        if not self.path.exists():
            return []
        text = read_text(self.path, what=_WHAT, most_bytes=_MOST_BYTES)
        data = loads_yaml(text, name=str(self.path), what=_WHAT, most_nodes=_MOST_NODES)
        listed = data.get("notes") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            raise self._invalid("it has no list of `notes`")
        return ordered(self._note(each) for each in listed)

    def put(self, session: str, note: ChartNote) -> list[ChartNote]:
        """Add a note, or replace the one at its place; an empty text removes that. Returns all.

        Raises BadInput, also for an invalid file, which is not changed.
        """
        try:
            with stores.locked(self.path):
                kept = [each for each in self.read() if _place(each) != _place(note)]
                text = _clean(note.text)
                if text:
                    kept.append(ChartNote(note.x, text, note.server))
                if len(kept) > MOST:
                    raise BadInput(f"{self.path.name} has {MOST} notes already; remove one first.")
                kept = ordered(kept)
                stores.write(self.path, _dumped(session, kept))
        except OSError as error:
            raise BadInput(f"The note cannot be saved in {self.path}: {why(error)}.") from None
        return kept

    def _note(self, data: object) -> ChartNote:
        if not isinstance(data, dict):
            raise self._invalid("a note has an `x` and a `text`")
        x, text, server = data.get("x"), data.get("text"), data.get("server", "")
        if isinstance(x, bool) or not isinstance(x, int | float) or not isfinite(x):
            raise self._invalid("the `x` of a note is a number")
        if not isinstance(text, str) or not isinstance(server, str):
            raise self._invalid("the `text` and the `server` of a note are texts")
        return ChartNote(float(x), _clean(text), server)

    def _invalid(self, problem: str) -> BadInput:
        return BadInput(f"{_WHAT} {self.path}: {problem}; fix the file or move it away.")


def ordered(notes: Iterable[ChartNote]) -> list[ChartNote]:
    """Return notes in the order in which charts number them."""
    return sorted(notes, key=_place)


def _place(note: ChartNote) -> tuple[float, str]:
    return note.x, note.server


def _clean(text: str) -> str:
    """Return the text on one line, without characters invalid in text files."""
    whole = " ".join(text.encode("utf-8", "replace").decode().split())
    return "".join(c for c in whole if c.isprintable())[:LONGEST].strip()


def _dumped(session: str, notes: Sequence[ChartNote]) -> str:
    listed = ({"x": n.x, "server": n.server, "text": n.text} for n in notes)
    kept = [{key: value for key, value in each.items() if value != ""} for each in listed]
    data = {"session": session, "notes": kept}
    return yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=100)

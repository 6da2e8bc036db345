"""Notes that the user puts on a session's charts.

A session file is never rewritten, so they stand beside it: those of `my.pong.yaml` in
`my.notes.yaml`.

    session: 683b3bb9a01c77e2
    notes:
    - x: 4500.0
      text: The log grew here.
      server: tornado
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench import stores
from workbench.config.yaml import convert, dumped, load_yaml
from workbench.errors import BadInput, why
from workbench.shapes import Number

LONGEST = 400
MOST = 99
_WHAT = "notes on charts"


class ChartNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text at a value of the axis."""

    x: Number
    text: str
    server: str = ""
    """The key of its series; empty: about all of them."""


class _File(msgspec.Struct):
    notes: list[ChartNote]


class ChartNotes:
    """The notes of one session, by its file."""

    def __init__(self, session: Path) -> None:
        name = session.name.removesuffix(".yaml").removesuffix(".pong")
        self.path = session.with_name(f"{name}.notes.yaml")

    def read(self) -> list[ChartNote]:
        """Return the notes by x; without a file, none. Raises BadInput for an invalid file."""
        if not self.path.exists():
            return []
        data = load_yaml(self.path, what=_WHAT)
        found = convert(data, _File, name=str(self.path), what=_WHAT).notes
        notes = (ChartNote(each.x, _clean(each.text), each.server) for each in found)
        return sorted(notes, key=_place)

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
                kept.sort(key=_place)
                data = {"session": session, "notes": msgspec.to_builtins(kept)}
                stores.write(self.path, dumped(data, width=100))
        except OSError as error:
            raise BadInput(f"The note cannot be saved in {self.path}: {why(error)}.") from None
        return kept


def _place(note: ChartNote) -> tuple[float, str]:
    """By which charts number them."""
    return note.x, note.server


def _clean(text: str) -> str:
    """Return the text on one line, without characters invalid in text files."""
    whole = " ".join(text.encode("utf-8", "replace").decode().split())
    return "".join(c for c in whole if c.isprintable())[:LONGEST].strip()

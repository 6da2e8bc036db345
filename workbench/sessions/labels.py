"""The titles and notes that the user gives to sessions.

A session file is never rewritten, so labels are stored beside the sessions, in `titles.yaml`, by
the session's identifier: a copy or a renamed file keeps its title.

    683b3bb9a01c77e2:
      title: Before the new kernel
      notes: The laptop was on battery.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench import paths, stores
from workbench.config.yaml import convert, dumped, loads_yaml, read_text
from workbench.errors import BadInput

LONGEST_TITLE = 120
LONGEST_NOTES = 10_000
_MOST_BYTES = 16 << 20
_MOST_NODES = 200_000


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """The user's title and notes of a session; empty: none."""

    title: str = ""
    notes: str = ""


UNLABELLED = Label()


class Titles:
    """The labels kept in a folder of sessions (None: the user's own)."""

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or paths.data_dir() / "sessions") / "titles.yaml"

    def read(self) -> dict[str, Label]:
        """Return the labels by session. An invalid file labels nothing; `write` says why."""
        try:
            return self._load()
        except BadInput:
            return {}

    def write(self, session: str, label: Label) -> Label:
        """Save a label, and return the one before. Raises BadInput; the file is unchanged then."""
        with stores.changing(
            self.path, f"The title cannot be saved in {self.path.parent}", BadInput
        ):
            labels = self._load()
            before = labels.pop(session, UNLABELLED)
            if label != UNLABELLED:
                labels[session] = Label(_text(label.title), _text(label.notes))
            stores.write(self.path, dumped(msgspec.to_builtins(labels), width=100))
        return before

    def _load(self) -> dict[str, Label]:
        if not self.path.exists():
            return {}
        text = read_text(self.path, what="titles", most_bytes=_MOST_BYTES)
        data = loads_yaml(text, name=str(self.path), what="titles", most_nodes=_MOST_NODES)
        return convert(data or {}, dict[str, Label], name=str(self.path), what="titles")


def _text(text: str) -> str:
    """Return the text without characters invalid in text files."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(c for c in whole if c.isprintable() or c in "\n\t").strip()

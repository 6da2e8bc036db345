"""What the user calls sessions and notes about them.

A session file is never rewritten, so this stands beside the sessions in `titles.yaml`, by the
session's identifier: a copy or a renamed file keeps its title.

    683b3bb9a01c77e2:
      title: Before the new kernel
      notes: The laptop was on battery.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import yaml

from workbench import paths
from workbench.errors import BadInput, why
from workbench.yamlio import loads_yaml, read_text

LONGEST_TITLE = 120
LONGEST_NOTES = 10_000
_MOST_BYTES = 16 << 20
_MOST_NODES = 200_000


@dataclass(frozen=True)
class Label:
    """The user's words about a session; empty: none."""

    title: str = ""
    notes: str = ""


UNLABELLED = Label()


class Titles:
    """The labels kept in a folder of sessions (None: the user's own)."""

    NAME: ClassVar[str] = "titles.yaml"
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or paths.data_dir() / "sessions") / self.NAME

    def read(self) -> dict[str, Label]:
        """By session. A file that makes no sense labels nothing: see `problem`."""
        try:
            return self._load()
        except BadInput:
            return {}

    def problem(self) -> str:
        """One sentence; empty: the file can be read, or there is none."""
        try:
            self._load()
        except BadInput as error:
            return str(error)
        return ""

    def write(self, session: str, label: Label) -> None:
        """Keep a label. Raises BadInput where that cannot be done; what was kept stays then."""
        with self._lock:
            labels = self._load()
            labels.pop(session, None)
            if label != UNLABELLED:
                labels[session] = Label(_text(label.title), _text(label.notes))
            self._save(labels)

    def _load(self) -> dict[str, Label]:
        if not self.path.exists():
            return {}
        text = read_text(self.path, what="titles", most_bytes=_MOST_BYTES)
        data = loads_yaml(text, name=str(self.path), what="titles", most_nodes=_MOST_NODES)
        if data is None:
            return {}
        if not isinstance(data, dict):
            raise BadInput(
                f"titles {self.path}: this is no mapping of sessions to titles and notes;"
                " mend the file or move it away."
            )
        return {
            str(session): Label(str(said.get("title") or ""), str(said.get("notes") or ""))
            for session, said in data.items()
            if isinstance(said, dict)
        }

    def _save(self, labels: dict[str, Label]) -> None:
        data = {
            session: {k: v for k, v in (("title", said.title), ("notes", said.notes)) if v}
            for session, said in labels.items()
        }
        text = yaml.safe_dump(data, allow_unicode=True, sort_keys=False, width=100)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".titles-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(name).replace(self.path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(name).unlink()
                raise
        except OSError as error:
            raise BadInput(
                f"The title cannot be kept in {self.path.parent}: {why(error)}."
            ) from None


def _text(text: str) -> str:
    """Without what cannot stand in a file of text."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(c for c in whole if c.isprintable() or c in "\n\t").strip()

"""What a user has written and not saved yet, of any number of servers. No Qt.

It lives with the settings, so that neither another page, another server nor the end of the program
loses it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from app.servers.known import Known

NEW_REQUIREMENTS = (
    "# Exact versions, one per line: name==version\n# server.yaml must name this file: "
    "requirements: requirements.txt\n"
)


@dataclass
class Edit:
    """A file that was changed."""

    text: str
    was: str
    """What it held when the change began; empty: it was not there."""


@dataclass
class Edits:
    """By the server's key and the file's name."""

    kept: dict[str, dict[str, Edit]] = field(default_factory=dict)

    def text(self, known: Known, name: str) -> str:
        edit = self.kept.get(known.key, {}).get(name)
        return edit.text if edit else known.texts.get(name, "")

    def write(self, known: Known, name: str, text: str) -> None:
        """What stands in the field now; back at what it was it counts as unchanged."""
        files = self.kept.setdefault(known.key, {})
        was = files[name].was if name in files else known.texts.get(name, "")
        if text == was and name in known.texts:
            self.forget(known, name)
        else:
            files[name] = Edit(text, was)

    def forget(self, known: Known, name: str) -> None:
        files = self.kept.get(known.key, {})
        files.pop(name, None)
        if not files:
            self.kept.pop(known.key, None)

    def rebase(self, known: Known, name: str, saved: str) -> None:
        """The file holds `saved` now; what differs from it is not saved."""
        if edit := self.kept.get(known.key, {}).get(name):
            edit.was = saved

    def of(self, known: Known) -> dict[str, Edit]:
        return dict(self.kept.get(known.key, {}))

    def texts(self, known: Known) -> dict[str, str]:
        """The files as they would be."""
        return {**known.texts, **{name: edit.text for name, edit in self.of(known).items()}}

    def plain(self) -> dict[str, Any]:
        """For the settings."""
        return {
            key: {name: [edit.text, edit.was] for name, edit in files.items()}
            for key, files in self.kept.items()
        }

    @classmethod
    def of_plain(cls, data: Any) -> Edits:
        """What makes no sense is left out."""
        made = cls()
        for key, files in data.items() if isinstance(data, dict) else ():
            for name, pair in files.items() if isinstance(files, dict) else ():
                if isinstance(pair, list) and len(pair) == 2:
                    made.kept.setdefault(key, {})[name] = Edit(str(pair[0]), str(pair[1]))
        return made

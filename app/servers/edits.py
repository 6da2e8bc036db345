"""The user's unsaved changes to any number of servers. No Qt.

They are stored with the settings, so that changing the page or the server, or closing the program,
does not lose them.
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
    """A changed file."""

    text: str
    was: str
    """Its content when the change began; empty: there was no file."""


@dataclass
class Edits:
    """Changes by the server's key and the file's name."""

    kept: dict[str, dict[str, Edit]] = field(default_factory=dict)

    def text(self, known: Known, name: str) -> str:
        edit = self.kept.get(known.key, {}).get(name)
        return edit.text if edit else known.texts.get(name, "")

    def write(self, known: Known, name: str, text: str) -> None:
        """Set the text of a field; text equal to the saved file is no change."""
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
        """Handle a saved file: what differs from `saved` is still unsaved."""
        if edit := self.kept.get(known.key, {}).get(name):
            edit.was = saved

    def of(self, known: Known) -> dict[str, Edit]:
        return dict(self.kept.get(known.key, {}))

    def texts(self, known: Known) -> dict[str, str]:
        """Return the files with their changes."""
        return {**known.texts, **{name: edit.text for name, edit in self.of(known).items()}}

    def plain(self) -> dict[str, Any]:
        """Return the changes for the settings."""
        return {
            key: {name: [edit.text, edit.was] for name, edit in files.items()}
            for key, files in self.kept.items()
        }

    @classmethod
    def of_plain(cls, data: Any) -> Edits:
        """Restore changes from the settings; invalid ones are left out."""
        made = cls()
        for key, files in data.items() if isinstance(data, dict) else ():
            for name, pair in files.items() if isinstance(files, dict) else ():
                if isinstance(pair, list) and len(pair) == 2:
                    made.kept.setdefault(key, {})[name] = Edit(str(pair[0]), str(pair[1]))
        return made

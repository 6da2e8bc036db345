"""The user's own servers: their unsaved changes, and how they are made, saved and deleted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.context import Desk
from app.dialogs import Dialog
from app.history import History, deletion
from app.servers.known import Known
from app.servers.rows import Rows
from app.widgets import Inline, button, column, label, row
from workbench.servers import user_servers
from workbench.servers.entry import ServerEntry
from workbench.trash import Trashed

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


class NewServer(Dialog):
    """Stays open, with a message, until the name is valid."""

    made = Signal(object)
    """The key of the server: the path of its folder."""

    def __init__(self, parent: QWidget, desk: Desk, like: Known | None, taken: set[str]) -> None:
        super().__init__(parent)
        self._desk, self._like = desk, like
        self.setWindowTitle("New server" if like is None else f"Duplicate {like.name}")
        self.setMinimumWidth(460)
        inside = column(self, margin=20, gap=10)
        about = (
            "Starts as a small program that answers every connection. Edit its files as you like."
            if like is None
            else f"A copy of {like.name}, with code and requirements, to edit and compare with "
            "the original."
        )
        inside.addWidget(label(about, tone="soft", wrap=True))
        self.field = QLineEdit()
        self.field.setAccessibleName("Name")
        self.field.setMaxLength(80)
        self.field.setText(free_name("My server" if like is None else f"{like.name} (copy)", taken))
        self.field.selectAll()
        name = label("Name", 12, tone="muted")
        name.setBuddy(self.field)
        inside.addWidget(name)
        inside.addWidget(self.field)
        self.wrong = Inline()
        inside.addWidget(self.wrong)
        foot = row()
        foot.addStretch(1)
        self.leave = button("Cancel", on_click=self.reject)
        self.make = button("Create", "plus", kind="primary", on_click=self._make)
        self.make.setDefault(True)
        foot.addWidget(self.leave)
        foot.addWidget(self.make)
        inside.addLayout(foot)
        self.field.textChanged.connect(lambda _: self._show_message(""))
        self.finished.connect(lambda _: self.deleteLater())
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make(self) -> None:
        name, like = self.field.text(), self._like
        entry = like.entry if like else None

        def work() -> ServerEntry:
            return user_servers.duplicate(entry, name) if entry else user_servers.new(name)

        self.make.setEnabled(False)
        self._desk.bridge.do(work, self._on_made, self._on_refused)

    def _on_made(self, entry: ServerEntry) -> None:
        self.made.emit(str(entry.folder))
        self.accept()

    def _on_refused(self, sentence: str) -> None:
        self._show_message(sentence)
        self.make.setEnabled(True)
        self.field.setFocus()

    def _show_message(self, sentence: str) -> None:
        """Show a message with room for all of its lines."""
        if sentence == self.wrong.text:
            return
        self.wrong.show_text(sentence)
        inside = self.layout()
        inside.activate()
        self.resize(self.width(), inside.totalHeightForWidth(self.width()))


def free_name(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken by one of the names in lower case."""
    names = [name, *(f"{name} {number}" for number in range(2, 1000))]
    return next(each for each in names if each.casefold() not in taken)


class Owning(QObject):
    """Asks the user where needed, and works in the engine's thread."""

    made = Signal(object)
    """The key of a new server."""
    saved = Signal(object)
    """A `Known` whose files or folder have changed."""
    refused = Signal(str)
    """One sentence."""
    removed = Signal()
    """A server was deleted."""

    def __init__(self, page: QWidget, desk: Desk, edits: Edits, rows: Rows) -> None:
        """`rows`: knows the names in use."""
        super().__init__(page)
        self._page, self._desk, self._edits, self._rows = page, desk, edits, rows
        self.history = History(desk.bridge, page)
        self.history.failed.connect(self.refused)

    def new(self) -> None:
        """Ask for a name, and create a server from the template."""
        self._ask_name(None)

    def duplicate(self, known: Known) -> None:
        """Ask for a name, and copy a server into the user's folder."""
        if known.copyable:
            self._ask_name(known)

    def _ask_name(self, like: Known | None) -> None:
        taken = {known.name.casefold() for known in self._rows.servers}
        dialog = NewServer(self._page, self._desk, like, taken)
        dialog.made.connect(self.made)
        dialog.open()

    def save(self, known: Known, then: Callable[[], object] = lambda: None) -> None:
        """Write every changed file of a server."""
        changed = self._edits.of(known)

        def work() -> None:
            for name, edit in changed.items():
                user_servers.save(known.folder, name, edit.text, was=edit.was)

        def done(_: object) -> None:
            for name, edit in changed.items():
                # Changes made in the meantime are not saved yet.
                if self._edits.text(known, name) == edit.text:
                    self._edits.forget(known, name)
                else:
                    self._edits.rebase(known, name, edit.text)
            self.saved.emit(known)
            then()

        self._desk.bridge.do(work, done, self.refused.emit)

    def delete(self, known: Known) -> None:
        """Move a server to the trash. Its unsaved changes come back with it."""
        if not known.own:
            return
        edits: dict[str, Edit] = {}

        def discard() -> Trashed:
            return user_servers.remove(known.folder)

        def done(kept: Trashed) -> None:
            edits.update(self._edits.kept.pop(known.key, {}))
            self.history.add(deletion(f"the server “{known.name}”", kept, discard, restored))
            self.saved.emit(known)
            self.removed.emit()

        def restored() -> None:
            if edits and known.folder.is_dir():
                self._edits.kept.setdefault(known.key, edits)
            self.saved.emit(known)

        self._desk.bridge.do(discard, done, self.refused.emit)

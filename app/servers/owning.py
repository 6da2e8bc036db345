"""Actions on the user's own servers: create, copy, save, delete."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from app.context import Desk
from app.question import ask
from app.servers.edits import Edits
from app.servers.known import Known
from app.servers.naming import NewServer
from app.servers.rows import Rows
from workbench.servers import user_servers


class Owning(QObject):
    """Asks the user where needed, and works in the engine's thread."""

    made = Signal(object)
    """The key of a new server."""
    saved = Signal(object)
    """A `Known` whose files or folder have changed."""
    refused = Signal(str)
    """One sentence."""
    answered = Signal()
    """A question was answered, with any answer."""

    def __init__(self, page: QWidget, desk: Desk, edits: Edits, rows: Rows) -> None:
        """`rows`: knows the names in use."""
        super().__init__(page)
        self._page, self._desk, self._edits, self._rows = page, desk, edits, rows
        self._question: QMessageBox | None = None

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

        def done(_: None) -> None:
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
        """Delete a server after a confirmation; its folder is moved aside."""
        if not known.own or self._question is not None:
            return
        self._question = ask(
            self._page,
            f"Delete the server “{known.name}”?",
            f"Its folder is moved to {user_servers.folder() / user_servers.REMOVED}; "
            "move it back to restore the server. Sessions are kept.",
            go="Delete",
            do=lambda: self._remove(known),
        )
        self._question.finished.connect(self._on_answered)

    def _remove(self, known: Known) -> None:
        def done(_: object) -> None:
            self._edits.kept.pop(known.key, None)
            self.saved.emit(known)

        self._desk.bridge.do(lambda: user_servers.remove(known.folder), done, self.refused.emit)

    def _on_answered(self) -> None:
        self._question = None
        self.answered.emit()

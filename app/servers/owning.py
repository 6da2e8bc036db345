"""Actions on the user's own servers: create, copy, save, delete."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.history import History, deletion, rewriting
from app.servers.edits import Edit, Edits
from app.servers.known import Known
from app.servers.naming import NewServer
from app.servers.rows import Rows
from workbench import stores
from workbench.servers import user_servers
from workbench.stores import Change
from workbench.trash import Trashed


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

        def work() -> list[Change]:
            with stores.recorded() as written:
                for name, edit in changed.items():
                    user_servers.save(known.folder, name, edit.text, was=edit.was)
            return written

        def swapped() -> None:
            for name in changed:
                self._edits.rebase(known, name, user_servers.read(known.folder).get(name, ""))
            self.saved.emit(known)

        def done(written: list[Change]) -> None:
            text = f"Saving of “{known.name}”"
            self.history.add(rewriting(text, written, user_servers.folder(), swapped))
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

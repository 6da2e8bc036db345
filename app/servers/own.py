"""The user's own servers: how they are made and deleted."""

from __future__ import annotations

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
            "Starts as a small program that answers every connection. Edit its files in its folder "
            "with any program; this page follows."
            if like is None
            else f"A copy of {like.name}, with code and requirements, to edit in its folder and to "
            "compare with the original."
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
    changed = Signal(object)
    """A `Known` whose folder has gone or come back."""
    refused = Signal(str)
    """One sentence."""
    removed = Signal()
    """A server was deleted."""

    def __init__(self, page: QWidget, desk: Desk, rows: Rows) -> None:
        """`rows`: knows the names in use."""
        super().__init__(page)
        self._page, self._desk, self._rows = page, desk, rows
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

    def delete(self, known: Known) -> None:
        """Move a server to the trash."""
        if not known.own:
            return

        def discard() -> Trashed:
            return user_servers.remove(known.folder)

        def restored() -> None:
            self.changed.emit(known)

        def done(kept: Trashed) -> None:
            self.history.add(deletion(f"the server “{known.name}”", kept, discard, restored))
            self.changed.emit(known)
            self.removed.emit()

        self._desk.bridge.do(discard, done, self.refused.emit)

"""A server's files, and their errors while they are edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QSizePolicy

from app.choices import Choice
from app.context import Desk
from app.servers.code import CodeView
from app.servers.known import Known
from app.servers.own import NEW_REQUIREMENTS, Edits
from app.theme import Weight
from app.widgets import Elided, button, column, hair, label, retone, row, tool
from workbench.servers.lint import Fault, proofread

_CHECK_AFTER_MS = 400
_NARROW = 400
_HEAD = 32
"""The height of the header, also where it has no controls."""
_NAME = 64
"""The least width of the name, beside the choice of files."""
_REQUIREMENTS = "requirements.txt"
_ADD = f"Add {_REQUIREMENTS}"


class CodePane(QFrame):
    """Read-only for a shipped server; the user's own is checked while it is edited. `reading`:
    always read-only.
    """

    edited = Signal()
    """The set of unsaved changes has changed."""
    save_requested = Signal(object)
    """A `Known`."""

    def __init__(self, desk: Desk, edits: Edits, name: str, *, reading: bool = False) -> None:
        super().__init__()
        self.setObjectName("card")
        self._desk, self._edits, self._reading = desk, edits, reading
        self.known: Known | None = None
        self._file = ""
        self._shown = ("", "")
        self._faults: Sequence[Fault] = ()
        self._request = 0
        inside = column(self)
        inside.addLayout(self._make_head(name))
        inside.addWidget(hair())
        self.code = CodeView()
        self.code.setAccessibleName(name)
        self.code.textChanged.connect(self._on_text)
        kept = self.code.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.code.setSizePolicy(kept)
        inside.addWidget(self.code, 1)
        # Errors stand there, too, so that no line of code moves while it is edited.
        inside.addWidget(self._make_foot())
        self._checking = QTimer(self, singleShot=True, interval=_CHECK_AFTER_MS)
        self._checking.timeout.connect(self._check)
        keys = QShortcut(QKeySequence.StandardKey.Save, self.code, self._ask_to_save)
        keys.setContext(Qt.ShortcutContext.WidgetShortcut)
        self.show_server(None)

    def _make_head(self, name: str) -> object:
        self.head = head = row(gap=2)
        head.setContentsMargins(14, 8, 8, 7)
        head.addStrut(_HEAD)
        self._name = Elided(13, Weight.DemiBold)
        self._about = Elided(12, tone="muted", droppable=True)
        self._about.setMinimumWidth(1)
        self._about.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._files = Choice(f"File of {name.lower()}")
        self._files.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._files.setMinimumWidth(84)
        self._files.setMaximumWidth(170)
        self._files.setStyleSheet("min-height: 26px; font-size: 12px;")
        self._files.activated.connect(self._on_file)
        self._name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        head.addWidget(self._name, 1000)
        head.addSpacing(6)
        head.addWidget(self._about, 1)
        head.addWidget(self._files)
        head.addSpacing(4)
        return head

    def _make_foot(self) -> QFrame:
        self._foot = QFrame()
        self._across = across = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._foot)
        across.setSpacing(8)
        across.setContentsMargins(14, 6, 8, 8)
        self._status = label("", 12, tone="muted", wrap=True)
        self._show = button("Show", on_click=self._go_to_fault)
        self._revert = button("Revert", "history", on_click=self.revert)
        self._save = button("Save", "save", on_click=self._ask_to_save)
        across.addWidget(self._status, 1)
        buttons = row()
        buttons.addStretch(1)
        for each in (self._show, self._revert, self._save):
            buttons.addWidget(each)
        across.addLayout(buttons)
        return self._foot

    def add_tool(self, name: str, icon: str, do: Callable[[], object]) -> QPushButton:
        """Add a button at the right of the header."""
        made = tool(name, icon, do)
        made.setProperty("kind", "ghost")
        made.setFixedWidth(28)
        self.head.addWidget(made)
        return made

    def show_server(self, known: Known | None, *, file: str = "") -> None:
        """Show its source first, or the file with the name shown before, if it has one."""
        same = known is not None and self.known is not None and known.key == self.known.key
        before = self._file
        self.known = known
        files = self._names()
        if not same or before not in files:
            file = file if file in files else (known.source if known else "")
        else:
            file = before
        self._name.show_text(known.name if known else "")
        self._name.setVisible(known is not None)
        self._name.setMinimumWidth(min(_NAME, self._name.sizeHint().width()))
        self.code.setVisible(known is not None)
        self._about.show_text(_about(known))
        self._fit()
        self._files.clear()
        self._files.addItems(files)
        if self._writable and _REQUIREMENTS not in files:
            self._files.addItem(_ADD)
        self._files.setVisible(bool(files))
        self._foot.setVisible(self._writable)
        self._faults = ()
        self._show_file(file or (files[0] if files else ""))
        self._check()

    def shows(self, known: Known) -> bool:
        """Whether this server is shown with its present text."""
        text = self._edits.text(known, self._file)
        return known == self.known and text == self.code.toPlainText()

    @property
    def _writable(self) -> bool:
        return not self._reading and self.known is not None and self.known.own

    def _may_write(self, file: str) -> bool:
        return self._writable and self.known is not None and file not in self.known.shared

    @property
    def file(self) -> str:
        return self._file

    @property
    def unsaved(self) -> bool:
        return self.known is not None and bool(self._edits.of(self.known))

    def revert(self) -> None:
        """Discard the changes of the visible file."""
        if self.known is not None:
            self._edits.forget(self.known, self._file)
            self.edited.emit()
            self.show_server(self.known)

    def go_to(self, file: str, line: int) -> None:
        if file in self._names():
            self._show_file(file)
        self.code.go_to(line)

    def _names(self) -> list[str]:
        """Return the source first, then its description, then other files."""
        if self.known is None:
            return []
        first = [self.known.source, "server.yaml", _REQUIREMENTS]
        texts = self._edits.texts(self.known)
        return [n for n in dict.fromkeys((*first, *texts)) if n in texts]

    def _show_file(self, name: str) -> None:
        self._file = name
        self._files.setCurrentText(name)
        text = self._edits.text(self.known, name) if self.known else ""
        shown = (self.known.key if self.known else "", name)
        # Editing keeps the cursor, and the undo history.
        if shown != self._shown or text != self.code.toPlainText():
            self.code.blockSignals(True)
            self.code.show_file(name, text)
            self.code.blockSignals(False)
        self._shown = shown
        self.code.set_writable(self._may_write(name))
        self._refresh()

    def _on_file(self, place: int) -> None:
        name = self._files.itemText(place)
        if name == _ADD and self.known is not None:
            self._edits.write(self.known, _REQUIREMENTS, NEW_REQUIREMENTS)
            self.edited.emit()
            self.show_server(self.known)
            name = _REQUIREMENTS
        self._show_file(name)
        self.code.setFocus()

    def _on_text(self) -> None:
        if self.known is None or not self._may_write(self._file):
            return
        self._edits.write(self.known, self._file, self.code.toPlainText())
        self._checking.start()
        self.edited.emit()
        self._refresh()

    def _ask_to_save(self) -> None:
        if self.unsaved:
            self.save_requested.emit(self.known)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        # A sentence beside three buttons would have a column of single words.
        narrow = self.width() < _NARROW
        direction = QBoxLayout.Direction
        self._across.setDirection(direction.TopToBottom if narrow else direction.LeftToRight)

    # Errors

    def _check(self) -> None:
        known = self.known
        self._request += 1
        if known is None or not self._writable or not known.texts:
            self._on_checked(self._request, [])
            return
        request, texts = self._request, self._edits.texts(known)
        self._desk.bridge.do(
            lambda: proofread(known.id, texts, known.others),
            lambda faults: self._on_checked(request, faults),
            lambda sentence: self._on_checked(request, [Fault("", 0, sentence)]),
        )

    def _on_checked(self, request: int, faults: Sequence[Fault]) -> None:
        if request == self._request:
            self._faults = faults
            self._refresh()

    @property
    def faults(self) -> Sequence[Fault]:
        return self._faults

    def _refresh(self) -> None:
        here = {f.line: f.sentence for f in self._faults if f.file == self._file and f.line}
        self.code.set_faults(here)
        first = self._faults[0] if self._faults else None
        self._show.setVisible(first is not None)
        if self.known is None or not self._writable:
            return
        changed = sorted(self._edits.of(self.known))
        texts = [_fault_text(first, self._file, len(self._faults)) if first else ""]
        texts += [f"Unsaved: {', '.join(changed)}."] if changed else []
        if not changed:
            texts.append("Saved, but it will not start." if first else "No errors.")
        self._status.setText(" ".join(filter(None, texts)))
        retone(self._status, "bad" if first else "muted")
        self._save.setEnabled(bool(changed))
        self._revert.setEnabled(self._file in changed)

    def _go_to_fault(self) -> None:
        if self._faults:
            self.go_to(self._faults[0].file, self._faults[0].line)


def _about(known: Known | None) -> str:
    if known is None:
        return ""
    if known.entry is None:
        return "unreadable"
    lines = f"{known.lines} line{'s' if known.lines != 1 else ''}" if known.lines else ""
    return ", ".join(filter(None, (known.entry.style, lines)))


def _fault_text(fault: Fault, file: str, count: int) -> str:
    where = "" if fault.file in {file, ""} else fault.file
    if fault.line:
        where = f"{where}, line {fault.line}" if where else f"Line {fault.line}"
    more = f" {count - 1} more." if count > 1 else ""
    return f"{where}: {fault.sentence}{more}" if where else f"{fault.sentence}{more}"

"""A server's files."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy

from app.choices import Choice
from app.servers.code import CodeView
from app.servers.known import Known
from app.theme import Weight
from app.widgets import Elided, column, hair, row, tool

_HEAD = 32
"""The height of the header, also where it has no controls."""
_NAME = 64
"""The least width of the name, beside the choice of files."""


class CodePane(QFrame):
    """Shows one file of a server; a choice leads to the others."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.known: Known | None = None
        self._file = ""
        self._shown = ("", "", "")
        inside = column(self)
        self._make_head()
        inside.addLayout(self.head)
        inside.addWidget(hair())
        self.code = CodeView()
        self.code.setAccessibleName("Code")
        kept = self.code.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        self.code.setSizePolicy(kept)
        inside.addWidget(self.code, 1)
        self.show_server(None)

    def _make_head(self) -> None:
        self.head = head = row(gap=2)
        head.setContentsMargins(14, 8, 8, 7)
        head.addStrut(_HEAD)
        self._name = Elided(13, Weight.DemiBold)
        self._about = Elided(12, tone="muted", droppable=True)
        self._about.setMinimumWidth(1)
        self._about.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._files = Choice("File of the server")
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

    def add_tool(self, name: str, icon: str, do: Callable[[], object]) -> QPushButton:
        """Add a button at the right of the header."""
        made = tool(name, icon, do)
        made.setProperty("kind", "ghost")
        made.setFixedWidth(28)
        self.head.addWidget(made)
        return made

    def show_server(self, known: Known | None) -> None:
        """Show its source first, or the file with the name shown before, if it has one."""
        same = known is not None and self.known is not None and known.key == self.known.key
        self.known = known
        files = _names(known)
        if known is not None and not (same and self._file in files):
            self._file = known.source
        self._name.show_text(known.name if known else "")
        self._name.setVisible(known is not None)
        self._name.setMinimumWidth(min(_NAME, self._name.sizeHint().width()))
        self.code.setVisible(known is not None)
        self._about.show_text(_about(known))
        self._files.clear()
        self._files.addItems(files)
        self._files.setVisible(bool(files))
        self.show_file(self._file if known else "")

    def show_file(self, name: str) -> None:
        """Show a file by its name in the folder; what is shown already keeps its place."""
        self._file = name
        self._files.setCurrentText(name)
        text = self.known.texts.get(name, "") if self.known else ""
        shown = (self.known.key if self.known else "", name, text)
        if shown != self._shown:
            self._shown = shown
            self.code.show_file(name, text)

    @property
    def file(self) -> str:
        return self._file

    def _on_file(self, place: int) -> None:
        self.show_file(self._files.itemText(place))
        self.code.setFocus()


def _names(known: Known | None) -> list[str]:
    """Return the source first, then its description, then other files."""
    if known is None:
        return []
    first = [known.source, "server.yaml", "requirements.txt"]
    return [n for n in dict.fromkeys((*first, *known.texts)) if n in known.texts]


def _about(known: Known | None) -> str:
    if known is None:
        return ""
    if known.entry is None:
        return "unreadable"
    lines = f"{known.lines} line{'s' if known.lines != 1 else ''}" if known.lines else ""
    return ", ".join(filter(None, (known.entry.style, lines)))

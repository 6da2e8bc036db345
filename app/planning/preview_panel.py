"""The card beside the form: the preview, or the plan's file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QStackedWidget, QWidget

from app.fields import Segments
from app.planning.preview import Preview
from app.scrolling import Scrolled
from app.theme import Weight, font
from app.widgets import button, column, label, row

if TYPE_CHECKING:
    from workbench.plan.editing import Draft

_COPIED_MS = 2_000
_TITLES = {"preview": "Run preview", "file": "Plan file"}
_STALE = "Last valid plan"


class Outlook(QFrame):
    """`show_draft` shows the preview; `show_text` the file."""

    switched = Signal()
    """The other one of them is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._names: dict[str, str] = {}
        self._stale = False
        inside = column(self, gap=12)
        inside.setContentsMargins(16, 12, 16, 14)
        head = row()
        self._title = label(_TITLES["preview"], 14, Weight.DemiBold)
        self._view = Segments("Preview or file", [("preview", "Preview"), ("file", "File")])
        self._view.edited.connect(self._switch)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._view)
        inside.addLayout(head)
        self._stack = QStackedWidget()
        self.preview = Preview()
        self._scroll = Scrolled(self.preview)
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self._make_file())
        inside.addWidget(self._stack, 1)

    @property
    def shows_preview(self) -> bool:
        """Whether the preview is shown, not the file."""
        return bool(self._view.value() == "preview")

    def set_names(self, names: dict[str, str]) -> None:
        """Set the servers' names by id."""
        self._names = names

    def show_draft(self, draft: Draft, faults: Mapping[str, QWidget | None]) -> None:
        """`faults`: the fields of the problems that are listed, by these."""
        self.preview.show_draft(draft, self._names, faults)
        if faults:
            self._scroll.verticalScrollBar().setValue(0)
        self._stale = self.preview.drawn and draft.budget is None
        self._retitle()

    def show_text(self, text: str) -> None:
        """Set the text of the plan file; empty: none yet."""
        self._text.setPlainText(text or "# Fix the problems first.\n")
        self._copy.setEnabled(bool(text))

    def show_file(self, shown: bool = True) -> None:
        """Show the file, or the preview."""
        self._view.set_value("file" if shown else "preview")
        self._switch()

    def _make_file(self) -> QWidget:
        page = QWidget()
        inside = column(page, gap=8)
        about = "Run it with pongbench run, share it, or drop it into this window."
        inside.addWidget(label(about, 12, tone="muted", wrap=True))
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        # The end of a long line would look like a key of its own.
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(font(12, mono=True))
        self._text.setAccessibleName("Plan as YAML")
        self._text.setTabChangesFocus(True)
        inside.addWidget(self._text, 1)
        foot = row()
        self._copy = button("Copy", "copy", on_click=self._copy_text)
        self._copied = label("", 12, tone="ok")
        foot.addWidget(self._copy)
        foot.addWidget(self._copied)
        foot.addStretch(1)
        inside.addLayout(foot)
        return page

    def _switch(self) -> None:
        shown = self._view.value()
        self._stack.setCurrentIndex(list(_TITLES).index(shown))
        self._retitle()
        self.switched.emit()

    def _retitle(self) -> None:
        shown = self._view.value()
        self._title.setText(_STALE if self._stale and shown == "preview" else _TITLES[shown])

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self._copied.setText("Copied")
        QTimer.singleShot(_COPIED_MS, self._copied, self._copied.clear)

"""The form's own inputs: numbers, text and YAML in fields of several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.dialogs import ask_file
from app.fields import TextArea, TextField, grouped
from app.theme import font
from app.widgets import button, row
from workbench.config.yaml import dumped, loads_yaml
from workbench.errors import BadInput
from workbench.plan.editing import number

_AROUND = 16
"""Border, padding and margin, above and below a text."""


class _Lines(TextArea):
    """A field of several lines."""

    edited = Signal()
    lines, px = 4, 13
    mono = figures = False

    def __init__(self, name: str) -> None:
        super().__init__(accessibleName=name, tabChangesFocus=True)
        self.setFont(font(self.px, mono=self.mono, figures=self.figures))
        self.setStyleSheet(f"QPlainTextEdit {{ font-size: {self.px}px; }}")
        self.textChanged.connect(self.edited)
        self.setFixedHeight(self.lines * self.fontMetrics().lineSpacing() + _AROUND)

    def value(self) -> Any:
        return self.toPlainText()

    def set_value(self, value: Any) -> None:
        if value != self.value():
            if not isinstance(value, str):
                value = dumped(value, default_flow_style=None, width=1_000) if value else ""
            self._fill(value.rstrip())

    def _fill(self, text: str) -> None:
        """Show a text that the user did not type."""
        with QSignalBlocker(self):
            self.setPlainText(text)


class Note(_Lines):
    """Prose."""


class FileField(QWidget):
    """The path of a file, typed or chosen."""

    edited = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(accessibleName=name)
        self.field = TextField(name)
        self.field.edited.connect(self.edited)
        self.value, self.set_value = self.field.value, self.field.set_value
        row(self, (self.field, 1), button("Browse…", "folder-open", on_click=self._browse))
        self.setFocusProxy(self.field)

    def _browse(self) -> None:
        ask_file(self.window(), self.accessibleName(), self.choose, start=Path(self.value()))

    def choose(self, path: Path) -> None:
        self.set_value(str(path))
        self.edited.emit()


class TextLines(_Lines):
    """Text as it is, line breaks included."""

    px, mono = 12, True


class DataField(TextLines):
    """A mapping or a list. `value` is the data, or the text where it is no YAML."""

    def __init__(self, name: str, empty: Any) -> None:
        self._empty = empty
        super().__init__(name)

    def value(self) -> Any:
        text = self.toPlainText()
        try:
            data = loads_yaml(text, name="", what="") if text.strip() else None
        except BadInput:
            return text
        return self._empty if data is None else data


class Numbers(_Lines):
    """Numbers separated by spaces, or by commas that cannot be thousands separators."""

    lines, figures = 2, True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.setProperty("kind", "figures")
        self.setToolTip("Separate with spaces: 1,000  2,000  4,000")

    def text(self) -> str:
        return self.toPlainText()

    def value(self) -> Any:
        return [each for each in _numbers(self.text()) if each is not None]

    def set_value(self, value: Any) -> None:
        text = "  ".join(grouped(each) for each in value) if isinstance(value, list) else ""
        if text != self.text():
            self._fill(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.set_value(self.value())
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.set_value(self.value())


def _numbers(text: str) -> Iterator[Any]:
    for part in re.split(r",?[;\s]+,?", text.strip(" ,;\n")):
        whole = number(part)
        yield from map(number, part.split(",")) if isinstance(whole, str) else [whole]

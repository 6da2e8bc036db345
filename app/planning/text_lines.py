"""Text of several lines, and YAML in such a field; both grow in lines."""

from __future__ import annotations

from typing import Any

import yaml
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QResizeEvent

from app.fields import TextArea
from app.theme import font
from workbench.config.yaml import loads_yaml
from workbench.errors import BadInput

_AROUND = 16
"""Border, padding and margin, above and below."""


class Growing(TextArea):
    """A field that grows in lines, so that all are visible, up to a limit."""

    edited = Signal()
    most_lines = 8

    def __init__(self, name: str, size: QFont) -> None:
        super().__init__()
        self._filling = False
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setFont(size)
        self.textChanged.connect(self._on_text)
        self._fit()

    def fill(self, text: str) -> None:
        """Show a text that the user did not type."""
        self._filling = True
        self.setPlainText(text)
        self._filling = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _on_text(self) -> None:
        self._fit()
        if not self._filling:
            self.edited.emit()

    def _fit(self) -> None:
        # Qt gives the height of plain text in lines.
        lines = max(1, round(self.document().size().height()))
        off, needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(needed if lines > self.most_lines else off)
        high = self.fontMetrics().lineSpacing() * min(lines, self.most_lines)
        self.setFixedHeight(high + _AROUND)


class TextLines(Growing):
    """Text as it is, line breaks included."""

    def __init__(self, name: str) -> None:
        super().__init__(name, font(12, mono=True))
        self.setStyleSheet("QPlainTextEdit { font-size: 12px; }")

    def value(self) -> Any:
        return self.toPlainText()

    def set_value(self, value: Any) -> None:
        if value != self.value():
            self.fill(value if isinstance(value, str) else _text(value))


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


def _text(value: Any) -> str:
    if not value:
        return ""
    lines = yaml.safe_dump(
        value, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1_000
    )
    return str(lines).rstrip()

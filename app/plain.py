"""Words in the window are plain text, whoever wrote them: what looks like markup is shown as it
stands, and nothing is loaded. Labels and tool tips come from here alone."""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QWidget

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""


class Label(QLabel):
    """A label that never takes its text for markup."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(safe(text))


def tip(text: str) -> str:
    """For tool tips, which have no such choice: Qt takes for HTML what looks like it."""
    shown = safe(text, _LONGEST_TIP)
    if not Qt.mightBeRichText(shown):
        return shown
    return f'<span style="white-space: pre-wrap">{escape(shown)}</span>'

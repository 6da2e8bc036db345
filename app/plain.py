"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

from html import escape

from PySide6.QtGui import Qt
from PySide6.QtWidgets import QLabel, QWidget

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""
_TIP_LINE = 80
"""Characters; longer tool tips are wrapped."""


class Label(QLabel):
    """A label that never interprets its text as markup."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(safe(text))


def tip(text: str) -> str:
    """Escape a text for a tool tip: Qt would interpret a text that looks like HTML."""
    shown = safe(text, _LONGEST_TIP)
    if len(shown) <= _TIP_LINE and not Qt.mightBeRichText(shown):
        return shown
    # Qt wraps rich text only.
    return f'<span style="white-space: pre-wrap">{escape(shown, quote=False)}</span>'

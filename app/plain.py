"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetrics, Qt, QTextLayout, QTextOption
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


def wrapped(text: str, size: QFont, width: float, most: int = 0) -> list[str]:
    """Return the lines of a text in this width in pixels. If it has more than `most` (0: no limit),
    the last one ends in an ellipsis.
    """
    layout = QTextLayout(text, size)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        lines.append(text[line.textStart() : line.textStart() + line.textLength()].rstrip())
    layout.endLayout()
    if most and len(lines) > most:
        right, rest = Qt.TextElideMode.ElideRight, " ".join(lines[most - 1 :])
        lines[most - 1 :] = [QFontMetrics(size).elidedText(rest, right, int(width))]
    return lines


def tip(text: str) -> str:
    """Escape a text for a tool tip: Qt would interpret a text that looks like HTML."""
    shown = safe(text, _LONGEST_TIP)
    if len(shown) <= _TIP_LINE and not Qt.mightBeRichText(shown):
        return shown
    from html import escape  # noqa: PLC0415 - not before the first paint

    # Qt wraps rich text only.
    return f'<span style="white-space: pre-wrap">{escape(shown, quote=False)}</span>'

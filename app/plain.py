"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

import re

from PySide6.QtGui import QFont, QFontMetrics, Qt, QTextLayout, QTextOption
from PySide6.QtWidgets import QLabel, QWidget

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""
_TIP_LINE = 80
"""Characters; longer tool tips are wrapped."""
NO_BREAK = "\u00a0"
_JOINER = "\u2060"
_UNIT = re.compile(r"(?<=\d) (?=(?:%|×|[nµm]?s|min|h|[kMG]i?B|B|[kMG]?bit/s|cores?)(?![\w-]))")
_PER = re.compile(r"(?<=\w)/(?=s\b)")


def glued(text: str) -> str:
    """Return a text with spaces before its units that break no line."""
    return _UNIT.sub(NO_BREAK, text)


def unbroken(text: str) -> str:
    """Return a text that Qt wraps without parting a number from its unit, such as 18,000/s."""
    return _PER.sub(f"/{_JOINER}", glued(text))


def loosened(text: str) -> str:
    """Return a line of an unbroken text as it was written."""
    return text.replace(NO_BREAK, " ").replace(_JOINER, "")


class Label(QLabel):
    """A label that never interprets its text as markup, and breaks no line before a unit."""

    _text = ""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        named, self._text = self.accessibleName() not in ("", self._text), safe(text)
        shown = unbroken(self._text) if self.wordWrap() else self._text
        super().setText(shown)
        if not named:  # what glues is not to be read aloud
            self.setAccessibleName(self._text if shown != self._text else "")

    def text(self) -> str:
        return self._text

    def clear(self) -> None:
        self.setText("")

    def setWordWrap(self, wrap: bool) -> None:
        super().setWordWrap(wrap)
        self.setText(self._text)


def wrapped(text: str, size: QFont, width: float, most: int = 0) -> list[str]:
    """Return the lines of a text in this width in pixels. If it has more than `most` (0: no limit),
    the last one ends in an ellipsis.
    """
    text = unbroken(text)
    layout = QTextLayout(text, size)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        lines.append(loosened(text[line.textStart() :][: line.textLength()]).rstrip())
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

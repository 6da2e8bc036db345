"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from PySide6 import QtCore, QtGui
from PySide6.QtWidgets import QLabel, QMenu

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""
_TIP_LINE = 80
"""Characters; longer tool tips are wrapped."""
_BREAK, _NO_BREAK = "\u200b", "\u00a0"
_AS_WRITTEN = str.maketrans({_BREAK: "", _NO_BREAK: " ", "\u2029": "\n", "\u2028": "\n"})
_LONG = r"\S{25,}"
_BETWEEN_PARTS = r"(?<=\w)([._])(?=\w{3})"
_WITHIN_A_PART = rf"[^{_BREAK}]{{24}}(?=[^{_BREAK}])"
_UNIT = r"(?<=\d) (?=(?:%|[nµm]?s|min|h|[kM]i?B|GB)(?![\w-]))"


def breakable(text: str) -> str:
    """Return a text whose long words, such as paths and hashes, Qt wraps too: between the parts of
    dotted names, and within what remains too long; no unit is parted from its figure.
    """
    parted = re.sub(_LONG, lambda word: _parted(word[0]), text)
    return re.sub(_UNIT, _NO_BREAK, parted)


@lru_cache(maxsize=1024)
def laid_out(text: str, font: QtGui.QFont) -> QtGui.QStaticText:
    """Return a line of text that is laid out once, not each time it is drawn."""
    made = QtGui.QStaticText(text)
    made.setTextFormat(QtCore.Qt.TextFormat.PlainText)
    made.prepare(QtGui.QTransform(), font)
    return made


def _parted(word: str) -> str:
    return re.sub(_WITHIN_A_PART, f"\\g<0>{_BREAK}", re.sub(_BETWEEN_PARTS, f"\\1{_BREAK}", word))


class Label(QLabel):
    """A label that never interprets its text as markup. If it wraps, it breaks words that are too
    long; what is selected is copied as it was written.
    """

    _text = ""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.setTextFormat(QtCore.Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        named, self._text = self.accessibleName() not in ("", self._text), safe(text)
        shown = breakable(self._text) if self.wordWrap() else self._text
        super().setText(shown)
        if not named:  # what parts is not to be read aloud
            self.setAccessibleName(self._text if shown != self._text else "")

    def text(self) -> str:
        return self._text

    def setWordWrap(self, wrap: bool) -> None:
        super().setWordWrap(wrap)
        self.setText(self._text)

    def selectedText(self) -> str:
        return super().selectedText().translate(_AS_WRITTEN)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if self.hasSelectedText() and event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if self.hasSelectedText() and QtGui.QGuiApplication.clipboard().supportsSelection():
            self._copy(QtGui.QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        if not self.textInteractionFlags() & QtCore.Qt.TextInteractionFlag.TextSelectableByMouse:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(QtCore.Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy", QtGui.QKeySequence.StandardKey.Copy, self._copy)
        copy.setEnabled(self.hasSelectedText())
        everything = len(super().text())
        menu.addAction(
            "Select all",
            QtGui.QKeySequence.StandardKey.SelectAll,
            lambda: self.setSelection(0, everything),
        )
        menu.popup(event.globalPos())

    def _copy(self, *where: QtGui.QClipboard.Mode) -> None:
        QtGui.QGuiApplication.clipboard().setText(self.selectedText(), *where)


def tip(text: str) -> str:
    """Escape a text for a tool tip: Qt would interpret a text that looks like HTML."""
    shown = safe(text, _LONGEST_TIP)
    rich = any(sign in shown for sign in "<&") and QtGui.Qt.mightBeRichText(shown)
    if len(shown) <= _TIP_LINE and not rich:
        return shown
    # Qt wraps rich text only.
    return f'<span style="white-space: pre-wrap">{escape(shown, quote=False)}</span>'

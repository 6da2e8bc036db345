"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from PySide6 import QtCore, QtGui
from PySide6.QtCore import QMimeData, QPoint
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""
_TIP_LINE = 80
"""Characters; longer tool tips are wrapped."""
NO_BREAK = "\u00a0"
_JOINER = "\u2060"
_BREAK = "\u200b"
_LONG = r"\S{25,}"
_BETWEEN_PARTS = r"(?<=\w)([._])(?=\w{3})"
_WITHIN_A_PART = rf"[^{_BREAK}]{{24}}(?=[^{_BREAK}])"
_UNIT = r"(?<=\d) (?=(?:%|×|[nµm]?s|min|h|[kMG]i?B|B|[kMG]?bit/s|cores?)(?![\w-]))"
_PER = r"(?<=\w)/(?=s\b)"
_OPTION = r"(?<![\w-])--?\w[\w-]*"
_AT_AN_END = r"(?<=[a-z]) (?=\d+(?:[.,]\d+)*(?:\u00a0?%|/\w+)?(?:[.,;:)]+(?:\s|$)|$))"
"""Before a figure that ends a clause: "core 1."."""
_NAMED = r"((?<=\s)--?[A-Za-z][\w-]*|\bp\d[\d.]*) (?=\d)"
"""Options and percentiles before their figures."""


def glued(text: str) -> str:
    """Return a text with spaces before its units that break no line."""
    return re.sub(_UNIT, NO_BREAK, text)


def unbroken(text: str) -> str:
    """Return a text that Qt wraps without parting a number from its unit, its option or its
    percentile, as in 18,000/s, -z 30 and p99 9 ms, or the name of an option, such as --num-conns,
    and that begins no line with the figure that ends a clause.
    """
    text = re.sub(_NAMED, f"\\1{NO_BREAK}", text)
    text = re.sub(_OPTION, lambda name: name[0].replace("-", f"-{_JOINER}"), text)
    return re.sub(_PER, f"/{_JOINER}", re.sub(_AT_AN_END, NO_BREAK, glued(text)))


def breakable(text: str) -> str:
    """Return a text whose long words, such as paths and hashes, Qt wraps too: between the parts of
    dotted names, and within what remains too long.
    """
    return re.sub(_LONG, lambda word: _parted(word[0]), text)


@lru_cache(maxsize=1024)
def laid_out(text: str, font: QtGui.QFont) -> QtGui.QStaticText:
    """Return a line of text that is laid out once, not each time it is drawn."""
    made = QtGui.QStaticText(text)
    made.setTextFormat(QtCore.Qt.TextFormat.PlainText)
    made.prepare(QtGui.QTransform(), font)
    return made


def _parted(word: str) -> str:
    return re.sub(_WITHIN_A_PART, f"\\g<0>{_BREAK}", re.sub(_BETWEEN_PARTS, f"\\1{_BREAK}", word))


def loosened(text: str) -> str:
    """Return what is shown of an unbroken or breakable text as it was written."""
    return text.replace(NO_BREAK, " ").replace(_JOINER, "").replace(_BREAK, "")


class Label(QLabel):
    """A label that never interprets its text as markup. If it wraps, it breaks no line before a
    unit or within an option, and breaks words that are too long; what is selected is copied as it
    was written.
    """

    _text = ""
    _grabbed: QPoint | None = None
    """Where the selected text was pressed on."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(QtCore.Qt.TextFormat.PlainText)
        if text:
            self.setText(text)

    def setText(self, text: str) -> None:
        named, self._text = self.accessibleName() not in ("", self._text), safe(text)
        shown = unbroken(breakable(self._text)) if self.wordWrap() else self._text
        super().setText(shown)
        if not named:  # what glues or parts is not to be read aloud
            self.setAccessibleName(self._text if shown != self._text else "")

    def text(self) -> str:
        return self._text

    def clear(self) -> None:
        self.setText("")

    def setWordWrap(self, wrap: bool) -> None:
        super().setWordWrap(wrap)
        self.setText(self._text)

    def selectedText(self) -> str:
        return loosened(super().selectedText()).replace("\u2029", "\n").replace("\u2028", "\n")

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        if self.hasSelectedText() and event.matches(QtGui.QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        before = self.selectedText()
        super().mousePressEvent(event)
        # Qt keeps a selection that is pressed on: it may be dragged.
        kept = bool(before) and self.selectedText() == before
        self._grabbed = event.position().toPoint() if kept else None

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        if self._grabbed is None:
            super().mouseMoveEvent(event)
        elif (
            event.position().toPoint() - self._grabbed
        ).manhattanLength() >= QApplication.startDragDistance():
            self._grabbed = None
            drag, dragged = QtGui.QDrag(self), QMimeData()
            dragged.setText(self.selectedText())
            drag.setMimeData(dragged)
            drag.exec(QtCore.Qt.DropAction.CopyAction)

    def mouseReleaseEvent(self, event: QtGui.QMouseEvent) -> None:
        self._grabbed = None
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


def wrapped(text: str, size: QtGui.QFont, width: float, most: int = 0) -> list[str]:
    """Return the lines of a text in this width in pixels. If it has more than `most` (0: no limit),
    the last one ends in an ellipsis.
    """
    text = unbroken(text)
    layout = QtGui.QTextLayout(text, size)
    option = QtGui.QTextOption()
    option.setWrapMode(QtGui.QTextOption.WrapMode.WordWrap)
    layout.setTextOption(option)
    layout.beginLayout()
    lines = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        lines.append(loosened(text[line.textStart() :][: line.textLength()]).rstrip())
    layout.endLayout()
    if most and len(lines) > most:
        right, rest = QtCore.Qt.TextElideMode.ElideRight, " ".join(lines[most - 1 :])
        lines[most - 1 :] = [QtGui.QFontMetrics(size).elidedText(rest, right, int(width))]
    return lines


def tip(text: str) -> str:
    """Escape a text for a tool tip: Qt would interpret a text that looks like HTML."""
    shown = safe(text, _LONGEST_TIP)
    rich = any(sign in shown for sign in "<&") and QtGui.Qt.mightBeRichText(shown)
    if len(shown) <= _TIP_LINE and not rich:
        return shown
    # Qt wraps rich text only.
    return f'<span style="white-space: pre-wrap">{escape(shown, quote=False)}</span>'

"""Plain text in the window, whatever its source: markup is shown as it was written, and nothing is
loaded. All labels and tool tips are created here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from PySide6.QtCore import QMimeData, QPoint
from PySide6.QtGui import (
    QClipboard,
    QContextMenuEvent,
    QDrag,
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QStaticText,
    Qt,
    QTextLayout,
    QTextOption,
    QTransform,
)
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from workbench.untrusted import safe

_LONGEST_TIP = 1_000
"""Characters; more would not fit on the screen."""
_TIP_LINE = 80
"""Characters; longer tool tips are wrapped."""
NO_BREAK = "\u00a0"
_JOINER = "\u2060"
_BREAK = "\u200b"
_LONG = re.compile(r"\S{25,}")
_BETWEEN_PARTS = re.compile(r"(?<=\w)([._])(?=\w{3})")
_WITHIN_A_PART = re.compile(rf"[^{_BREAK}]{{24}}(?=[^{_BREAK}])")
_UNIT = re.compile(r"(?<=\d) (?=(?:%|×|[nµm]?s|min|h|[kMG]i?B|B|[kMG]?bit/s|cores?)(?![\w-]))")
_PER = re.compile(r"(?<=\w)/(?=s\b)")
_OPTION = re.compile(r"(?<![\w-])--?\w[\w-]*")
_AT_AN_END = re.compile(r"(?<=[a-z]) (?=\d+(?:[.,]\d+)*(?:\u00a0?%|/\w+)?(?:[.,;:)]+(?:\s|$)|$))")
"""Before a figure that ends a clause: "core 1."."""
_NAMED = re.compile(r"((?<=\s)--?[A-Za-z][\w-]*|\bp\d[\d.]*) (?=\d)")
"""Options and percentiles before their figures."""


def glued(text: str) -> str:
    """Return a text with spaces before its units that break no line."""
    return _UNIT.sub(NO_BREAK, text)


def unbroken(text: str) -> str:
    """Return a text that Qt wraps without parting a number from its unit, its option or its
    percentile, as in 18,000/s, -z 30 and p99 9 ms, or the name of an option, such as --num-conns,
    and that begins no line with the figure that ends a clause.
    """
    text = _NAMED.sub(f"\\1{NO_BREAK}", text)
    text = _OPTION.sub(lambda name: name[0].replace("-", f"-{_JOINER}"), text)
    return _PER.sub(f"/{_JOINER}", _AT_AN_END.sub(NO_BREAK, glued(text)))


def breakable(text: str) -> str:
    """Return a text whose long words, such as paths and hashes, Qt wraps too: between the parts of
    dotted names, and within what remains too long.
    """
    return _LONG.sub(lambda word: _parted(word[0]), text)


@lru_cache(maxsize=1024)
def laid_out(text: str, font: QFont) -> QStaticText:
    """Return a line of text that is laid out once, not each time it is drawn."""
    made = QStaticText(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.prepare(QTransform(), font)
    return made


def _parted(word: str) -> str:
    return _WITHIN_A_PART.sub(f"\\g<0>{_BREAK}", _BETWEEN_PARTS.sub(f"\\1{_BREAK}", word))


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
        self.setTextFormat(Qt.TextFormat.PlainText)
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.hasSelectedText() and event.matches(QKeySequence.StandardKey.Copy):
            self._copy()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        before = self.selectedText()
        super().mousePressEvent(event)
        # Qt keeps a selection that is pressed on: it may be dragged.
        kept = bool(before) and self.selectedText() == before
        self._grabbed = event.position().toPoint() if kept else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._grabbed is None:
            super().mouseMoveEvent(event)
        elif (
            event.position().toPoint() - self._grabbed
        ).manhattanLength() >= QApplication.startDragDistance():
            self._grabbed = None
            drag, dragged = QDrag(self), QMimeData()
            dragged.setText(self.selectedText())
            drag.setMimeData(dragged)
            drag.exec(Qt.DropAction.CopyAction)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grabbed = None
        super().mouseReleaseEvent(event)
        if self.hasSelectedText() and QGuiApplication.clipboard().supportsSelection():
            self._copy(QClipboard.Mode.Selection)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if not self.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse:
            super().contextMenuEvent(event)
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        copy = menu.addAction("Copy", QKeySequence.StandardKey.Copy, self._copy)
        copy.setEnabled(self.hasSelectedText())
        everything = len(super().text())
        menu.addAction(
            "Select all",
            QKeySequence.StandardKey.SelectAll,
            lambda: self.setSelection(0, everything),
        )
        menu.popup(event.globalPos())

    def _copy(self, where: QClipboard.Mode = QClipboard.Mode.Clipboard) -> None:
        QGuiApplication.clipboard().setText(self.selectedText(), where)


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

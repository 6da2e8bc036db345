"""Code with colours and line numbers, to read."""

from __future__ import annotations

import warnings

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from PySide6.QtCore import QEvent, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.colour import mix
from app.theme import current, font
from app.widgets import read_only

LONGEST = 64 << 10
"""Longer texts are not coloured, which would delay their appearance. In characters."""

_LANGUAGES = {
    "py": "python",
    "js": "javascript",
    "mjs": "javascript",
    "ts": "typescript",
    "go": "go",
    "mod": "gomod",
    "rb": "ruby",
    "erl": "erlang",
    "hrl": "erlang",
    "scala": "scala",
    "sbt": "scala",
    "java": "java",
    "c": "c",
    "yaml": "yaml",
    "yml": "yaml",
    "json": "json",
    "xml": "xml",
    "html": "html",
    "sql": "postgresql",
    "toml": "toml",
    "ini": "ini",
    "conf": "nginx",
    "sh": "bash",
}
"""By file name ending: Pygments would search all packages for a file's lexer."""

_DARK = {"key": "#C792EA", "text": "#C3E88D", "name": "#82AAFF", "number": "#F2B84B"}
_LIGHT = {"key": "#7A2BBF", "text": "#236B27", "name": "#1F5FD1", "number": "#8A5600"}
_PAD = 12


def lexer_for(name: str) -> Lexer | None:
    """Return the lexer; None: an unknown language, shown without colours."""
    end = name.rpartition(".")[2].casefold()
    if name.endswith(".conf.py"):
        end = "py"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return get_lexer_by_name(_LANGUAGES.get(end, ""), ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None


def _named(kind: object) -> str:
    """Return the colour name of a token; empty: that of text."""
    for token, name in (
        (Token.Comment, "comment"),
        (Token.Keyword.Constant, "number"),
        (Token.Keyword, "key"),
        (Token.Operator.Word, "key"),
        (Token.Literal.String, "text"),
        (Token.Literal.Number, "number"),
        (Token.Name.Function, "name"),
        (Token.Name.Class, "name"),
        (Token.Name.Decorator, "name"),
        (Token.Name.Tag, "name"),
        (Token.Name.Attribute, "name"),
        (Token.Name.Builtin, "key"),
    ):
        if kind in token:
            return name
    return ""


def _utf16(text: str) -> int:
    """Return the length in UTF-16, as Qt counts."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class CodeView(QPlainTextEdit):
    """One file, which Tab leaves."""

    def __init__(self) -> None:
        super().__init__()
        read_only(self)
        self._file = ""
        self._numbers = _Numbers(self)
        self.setObjectName("code")
        self.document().setDefaultFont(font(12, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self.updateRequest.connect(self._on_update)

    def show_file(self, name: str, text: str) -> None:
        self._file = name
        self.setPlainText(text)
        self._colour()
        self._make_room()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._colour()
            self._make_room()

    def _colour(self) -> None:
        """Give the words of the language the colours of the theme."""
        text, lexer = self.toPlainText(), lexer_for(self._file)
        if lexer is None or len(text) > LONGEST:
            return
        theme = current()
        colours = {**(_DARK if theme.dark else _LIGHT), "comment": theme.muted}
        cursor, style = QTextCursor(self.document()), QTextCharFormat()
        cursor.beginEditBlock()
        at = 0
        for _, kind, value in lexer.get_tokens_unprocessed(text):
            end = at + _utf16(value)
            if name := _named(kind):
                cursor.setPosition(at)
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                style.setForeground(QColor(colours[name]))
                cursor.setCharFormat(style)
            at = end
        cursor.endEditBlock()

    # Line numbers

    @property
    def numbers_px(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        return 2 * _PAD + digits * self.fontMetrics().horizontalAdvance("9")

    def paint_numbers(self, painter: QPainter, room: QRect) -> None:
        theme, block = current(), self.firstVisibleBlock()
        painter.fillRect(room, QColor(theme.card))
        painter.setFont(font(12, mono=True))
        painter.setPen(QColor(mix(theme.muted, theme.card, 0.15)))
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            number = block.blockNumber() + 1
            after_all = not block.next().isValid() and not block.text() and number > 1
            if box.top() > room.bottom() or after_all:
                return
            number_box = QRectF(0, box.top(), room.width() - _PAD, box.height())
            painter.drawText(number_box, int(Qt.AlignmentFlag.AlignRight), str(number))
            block = block.next()

    def _make_room(self) -> None:
        self.setViewportMargins(self.numbers_px, 4, 0, 0)
        self._place_numbers()

    def _place_numbers(self) -> None:
        code = self.viewport().geometry()  # without the bar below it
        self._numbers.setGeometry(code.adjusted(-self.numbers_px, 0, -code.width(), 0))

    def _on_update(self, room: QRect, dy: int) -> None:
        if dy:
            self._numbers.scroll(0, dy)
        else:
            self._numbers.update(0, room.y(), self._numbers.width(), room.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_numbers()


class _Numbers(QWidget):
    def __init__(self, code: CodeView) -> None:
        super().__init__(code)
        self._code = code

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._code.paint_numbers(painter, self.rect())
        painter.end()

"""Code with colours and line numbers; editable where it is the user's."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.colour import mix, with_opacity
from app.fields import TextArea
from app.plain import tip
from app.theme import current, font

LONGEST = 64 << 10
"""Longer texts are not coloured, as this would delay every key. In characters."""

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


class Highlighter(QSyntaxHighlighter):
    """Reads the whole text again after each change, so that strings may span lines."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._lexer: Lexer | None = None
        self._read_at = (-1, -1)
        self._starts: list[int] = []
        self._tokens: list[tuple[int, int, QTextCharFormat, int]] = []
        self._formats: dict[str, QTextCharFormat] = {}
        self._dress()

    def set_file(self, name: str) -> None:
        self._lexer, self._read_at = lexer_for(name), (-1, -1)
        self.rehighlight()

    def renew(self) -> None:
        """Use the colours of another theme."""
        self._dress()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if self._lexer is None:
            return
        # A text that is replaced is cleared first, within the same revision.
        now = (self.document().revision(), self.document().characterCount())
        if self._read_at != now:
            self._read_at = now
            self._read()
        begin = self.currentBlock().position()
        end = begin + len(text)
        place = max(0, bisect_right(self._starts, begin) - 1)
        state = 0
        for start, stop, colour, kind in self._tokens[place:]:
            if start > end:
                break
            if stop > begin:
                self.setFormat(
                    max(start, begin) - begin, min(stop, end) - max(start, begin), colour
                )
                if stop > end:
                    state = kind
        # A changed state makes Qt colour the next line, too.
        self.setCurrentBlockState(state)

    def _read(self) -> None:
        text = self.document().toPlainText()
        self._tokens = []
        if self._lexer is not None and len(text) <= LONGEST:
            tokens = [(kind, value) for _, kind, value in self._lexer.get_tokens_unprocessed(text)]
            ends = accumulate((_utf16(value) for _, value in tokens), initial=0)
            for start, (kind, value) in zip(ends, tokens, strict=False):
                if name := _named(kind):
                    colour = self._formats[name]
                    number = 1 + list(self._formats).index(name)
                    self._tokens.append((start, start + _utf16(value), colour, number))
        self._starts = [start for start, *_ in self._tokens]

    def _dress(self) -> None:
        theme = current()
        colours = {**(_DARK if theme.dark else _LIGHT), "comment": theme.muted}
        for name, colour in colours.items():
            self._formats.setdefault(name, QTextCharFormat()).setForeground(QColor(colour))


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


_PAD = 12
_LEAST_PX = 80
"""The least room for an error behind its line."""
_INDENT = 4


class CodeView(TextArea):
    """One file. Tab leaves it if it is read-only; otherwise Tab indents and Esc leaves."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[int, str] = {}
        self._numbers = _Numbers(self)
        self._colours = Highlighter(self.document())
        self.setObjectName("code")
        self.setFont(font(12, mono=True))
        self.document().setDefaultFont(font(12, mono=True))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabStopDistance(_INDENT * self.fontMetrics().horizontalAdvance(" "))
        self.blockCountChanged.connect(lambda _: self._make_room())
        self.updateRequest.connect(self._on_update)
        self.set_writable(False)

    def show_file(self, name: str, text: str) -> None:
        self._faults = {}
        self.setPlainText(text)
        self._colours.set_file(name)
        self.document().setModified(False)
        self._mark()
        self._make_room()

    def set_writable(self, writable: bool) -> None:
        self.setReadOnly(not writable)
        self.setTabChangesFocus(not writable)
        self.setAccessibleDescription("Tab indents, Esc leaves" if writable else "Read only")
        if not writable:
            # Reading with keys needs a cursor, too.
            flags = Qt.TextInteractionFlag
            self.setTextInteractionFlags(
                flags.TextSelectableByMouse | flags.TextSelectableByKeyboard
            )

    def set_faults(self, faults: Mapping[int, str]) -> None:
        """Sentences by line, from 1."""
        if dict(faults) != self._faults:
            self._faults = dict(faults)
            self._mark()

    def fault(self, line: int) -> str:
        return self._faults.get(line, "")

    def go_to(self, line: int) -> None:
        """Move the cursor to the start of a line, from 1."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()
        self.setFocus()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._colours.renew()
            self._mark()
            self._make_room()

    # Line numbers

    @property
    def numbers_px(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        return 2 * _PAD + digits * self.fontMetrics().horizontalAdvance("9")

    def paint_numbers(self, painter: QPainter, room: QRect) -> None:
        theme, block = current(), self.firstVisibleBlock()
        painter.fillRect(room, QColor(theme.card))
        painter.setFont(font(12, mono=True))
        quiet = QColor(mix(theme.muted, theme.card, 0.15))
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > room.bottom():
                return
            number = block.blockNumber() + 1
            after_all = not block.next().isValid() and not block.text() and number > 1
            if after_all and self.isReadOnly():
                return  # there is no block after the last line
            wrong = number in self._faults
            if wrong:
                painter.fillRect(QRectF(0, box.top(), 3, box.height()), QColor(theme.bad))
            painter.setPen(QColor(theme.bad) if wrong else quiet)
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

    # Errors

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._faults:
            painter = QPainter(self.viewport())
            self._paint_faults(painter)
            painter.end()

    def _paint_faults(self, painter: QPainter) -> None:
        """Write every error behind its line, where there is room."""
        face = font(12)
        painter.setFont(face)
        painter.setPen(QColor(current().bad))
        for line, sentence in self._faults.items():
            block = self.document().findBlockByNumber(line - 1)
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if not block.isValid() or box.bottom() < 0 or box.top() > self.viewport().height():
                continue
            end = self.fontMetrics().horizontalAdvance(block.text().expandtabs(_INDENT))
            left = box.left() + end + 3 * _PAD
            room = QRectF(left, box.top(), self.viewport().width() - left - _PAD, box.height())
            if room.width() >= _LEAST_PX:
                right = Qt.TextElideMode.ElideRight
                text = QFontMetricsF(face).elidedText(sentence, right, room.width())
                painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            at = self.viewport().mapFromGlobal(event.globalPos())
            fault = self.fault(self.cursorForPosition(at).blockNumber() + 1)
            QToolTip.showText(event.globalPos(), tip(fault), self)
            return True
        return super().event(event)

    def _mark(self) -> None:
        marked = []
        for line in self._faults:
            block = self.document().findBlockByNumber(line - 1)
            if not block.isValid():
                continue
            each = QTextEdit.ExtraSelection()
            each.cursor = QTextCursor(block)  # type: ignore[attr-defined]
            style = each.format  # type: ignore[attr-defined]
            style.setBackground(with_opacity(current().bad, 0.13))
            style.setProperty(QTextFormat.Property.FullWidthSelection, True)
            marked.append(each)
        self.setExtraSelections(marked)
        self._numbers.update()

    # Editing

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.focusNextPrevChild(True)
            return
        if not self.isReadOnly():
            if event.matches(QKeySequence.StandardKey.InsertParagraphSeparator):
                self._break_line()
                return
            if event.key() == Qt.Key.Key_Tab and not event.modifiers():
                self.insertPlainText(" " * (_INDENT - self.textCursor().columnNumber() % _INDENT))
                return
        super().keyPressEvent(event)

    def _break_line(self) -> None:
        """Start a new line with the indentation of the last."""
        before = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
        self.insertPlainText("\n" + before[: len(before) - len(before.lstrip())])


class _Numbers(QWidget):
    def __init__(self, code: CodeView) -> None:
        super().__init__(code)
        self._code = code

    def sizeHint(self) -> QSize:
        return QSize(self._code.numbers_px, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._code.paint_numbers(painter, self.rect())
        painter.end()

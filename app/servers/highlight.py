"""Syntax highlighting, by Pygments."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from itertools import accumulate

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Token
from pygments.util import ClassNotFound
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextDocument

from app.theme import Theme

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

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._lexer: Lexer | None = None
        self._read_at = (-1, -1)
        self._starts: list[int] = []
        self._tokens: list[tuple[int, int, QTextCharFormat, int]] = []
        self._formats: dict[str, QTextCharFormat] = {}
        self._dress(theme)

    def set_file(self, name: str) -> None:
        self._lexer, self._read_at = lexer_for(name), (-1, -1)
        self.rehighlight()

    def set_theme(self, theme: Theme) -> None:
        self._dress(theme)
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

    def _dress(self, theme: Theme) -> None:
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

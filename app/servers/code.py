"""The files of a server, with the colours of their language, to read."""

from __future__ import annotations

import warnings

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.styles.default import DefaultStyle
from pygments.styles.gh_dark import GhDarkStyle
from pygments.util import ClassNotFound
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QPlainTextEdit

from app.fields import Options
from app.servers.known import Known
from app.theme import Theme, Weight, current
from app.widgets import Elided, beside, column, hair, reading

LONGEST = 64 << 10
"""Longer texts are not coloured, which would delay their appearance. In characters."""

_LANGUAGES = {
    **{"mjs": "js", "mod": "gomod", "erl": "erlang", "hrl": "erlang", "sbt": "scala"},
    **{"yml": "yaml", "conf": "nginx"},
}
"""File name endings that Pygments does not know as names of languages."""

_STYLES = {"dark": GhDarkStyle, "light": DefaultStyle}
"""The colours of tokens, by the theme."""
_HEAD = 32
"""The height of the header, also where it has no controls."""
_NAME = 64
"""The least width of the name, beside the choice of files."""


def lexer_for(name: str) -> Lexer | None:
    """Return the lexer; None: an unknown language, shown without colours."""
    end = name.rpartition(".")[2].casefold()
    if name.endswith(".conf.py"):
        end = "py"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return get_lexer_by_name(_LANGUAGES.get(end, end), ensurenl=False, stripnl=False)
    except ClassNotFound:
        return None


def _colour(code: QPlainTextEdit, lexer: Lexer) -> None:
    colours = _STYLES[current().name]
    cursor, style = QTextCursor(code.document()), QTextCharFormat()
    cursor.beginEditBlock()
    at = 0
    for _, kind, value in lexer.get_tokens_unprocessed(code.toPlainText()):
        # In UTF-16, as Qt counts.
        end = at + len(value.encode("utf-16-le", "surrogatepass")) // 2
        # A language may have kinds of its own.
        known = next(filter(colours.styles_token, reversed(kind.split())))
        colour = colours.style_for_token(known)["color"]
        style.setForeground(QColor(f"#{colour}" if colour else current().text))
        cursor.setPosition(at)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        cursor.setCharFormat(style)
        at = end
    cursor.endEditBlock()


class CodePane(QFrame):
    """Shows one file of a server; a choice leads to the others."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self.known: Known | None = None
        self.file = ""
        self._shown = ("", "", "")
        self._name = Elided(13, Weight.DemiBold)
        self._files = Options("File of the server", [])
        self._files.setMinimumWidth(84)
        self._files.setMaximumWidth(170)
        self._files.setStyleSheet("min-height: 26px; font-size: 12px;")
        self._files.edited.connect(lambda: self.show_file(self._files.value()))
        self.head = beside((self._name, 1), self._files, 4, margin=(14, 8, 8, 7), gap=2)
        self.head.addStrut(_HEAD)
        self.code = reading("Code")
        self.code.setObjectName("code")
        self.code.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.code.setTabStopDistance(4 * self.code.fontMetrics().horizontalAdvance(" "))
        self.code.document().setDocumentMargin(10)
        column(self, self.head, hair(), (self.code, 1))
        self.show_server(None)

    def show_server(self, known: Known | None) -> None:
        """Show its source first, or the file with the name shown before, if it has one."""
        same = known is not None and self.known is not None and known.key == self.known.key
        self.known = known
        # Its source first, then its description, then other files.
        first = (known.source, "server.yaml", "requirements.txt") if known else ()
        texts = known.texts if known else {}
        files = [name for name in dict.fromkeys((*first, *texts)) if name in texts]
        if known is not None and not (same and self.file in files):
            self.file = known.source
        self._name.show_text(known.name if known else "")
        self._name.setMinimumWidth(min(_NAME, self._name.sizeHint().width()))
        self._files.offer([(name, name) for name in files], self.file)
        self._files.setVisible(bool(files))
        self.show_file(self.file if known else "")

    def show_file(self, name: str) -> None:
        """Show a file by its name in the folder; what is shown already keeps its place."""
        self.file = name
        self._files.set_value(name)
        text = self.known.texts.get(name, "") if self.known else ""
        shown = (self.known.key if self.known else "", name, text)
        if shown != self._shown:
            self._shown = shown
            self.code.setPlainText(text)
            self._colour_code()

    def set_theme(self, theme: Theme) -> None:
        self._colour_code()

    def _colour_code(self) -> None:
        _, name, text = self._shown
        if len(text) <= LONGEST and (lexer := lexer_for(name)) is not None:
            _colour(self.code, lexer)

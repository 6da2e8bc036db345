"""The program's log, in a drawer at the bottom of the window."""

from __future__ import annotations

import logging

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QFrame, QPushButton

from app.choices import Choice
from app.log import MOST, Line, LogBook
from app.plain import tip
from app.theme import Weight, current
from app.widgets import button, column, label, reading, row
from workbench.formatting import number_of

_SHOWN = (
    ("All", logging.DEBUG),
    ("Notes, warnings and errors", logging.INFO),
    ("Warnings and errors", logging.WARNING),
    ("Errors", logging.ERROR),
)
_NARROW, _NARROWEST = 760, 520
"""Below the first width buttons have no text; below the second one entries are not counted."""


class LogDrawer(QFrame):
    """Shows the lines of a book; `add` appends one."""

    closed = Signal()
    HEIGHT = 240

    def __init__(self, book: LogBook) -> None:
        super().__init__()
        self.setObjectName("drawer")
        self._book = book
        self.setMinimumHeight(140)
        inside = column(self)
        head = row(gap=8)
        head.setContentsMargins(20, 8, 12, 8)
        head.addWidget(label("Log", 14, Weight.DemiBold))
        self.level = Choice("Level shown")
        for text, level in _SHOWN:
            self.level.addItem(text, level)
        self.level.setCurrentIndex(1)
        self.level.currentIndexChanged.connect(self.refresh)
        head.addWidget(self.level)
        self._count = label("", 12, tone="muted")
        head.addWidget(self._count)
        head.addStretch()
        self._buttons: list[tuple[QPushButton, str]] = []
        for text, icon, do in (
            ("Copy", "copy", self.copy),
            ("Close", "x", self.closed.emit),
        ):
            made = button(text, icon, kind="ghost", on_click=do)
            made.setAccessibleName(f"{text} the log")
            made.setToolTip(tip(made.accessibleName()))
            self._buttons.append((made, text))
            head.addWidget(made)
        inside.addLayout(head)
        self.body = reading("Lines of the log")
        self.body.setMaximumBlockCount(MOST * 10)
        self.body.setProperty("kind", "log")
        inside.addWidget(self.body, 1)
        self.hide()

    def add(self, line: Line) -> None:
        """Append a line. The view stays where it is unless it shows the end."""
        if self.isHidden() or line.level < self.level.currentData():
            return
        if not self._entries:
            self.body.clear()
        self._entries += 1
        self._append(line)
        self._show_count()

    def refresh(self) -> None:
        shown = [line for line in self._book.lines() if line.level >= self.level.currentData()]
        self.body.clear()
        self._entries, self._length = len(shown), 1
        for line in shown:
            self._append(line)
        if not shown:
            self.body.setPlainText("No entries at this level.")
        self._show_count()
        self.show_latest()

    def show_latest(self) -> None:
        """Scroll to the end, but never below the first line of the latest entry."""
        self.body.moveCursor(QTextCursor.MoveOperation.End)
        cursor = self.body.textCursor()
        for _ in range(self._length - 1):
            cursor.movePosition(QTextCursor.MoveOperation.PreviousBlock)
        self.body.setTextCursor(cursor)

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and not self.isHidden():
            self.refresh()  # in the colours of another theme

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for each, text in self._buttons:
            each.setText("" if self.width() < _NARROW else text)
        self._count.setVisible(self.width() >= _NARROWEST)

    def showEvent(self, event: object) -> None:
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    _entries = 0
    _length = 1
    """The number of lines of the latest entry."""

    def _text(self) -> str:
        """Return the text of the visible lines."""
        return self.body.toPlainText()

    def _show_count(self) -> None:
        self._count.setText(number_of(self._entries, "entries"))

    def _append(self, line: Line) -> None:
        theme = current()
        tone = theme.soft
        if line.level >= logging.ERROR:
            tone = theme.bad
        elif line.level >= logging.WARNING:
            tone = theme.warn
        elif line.level < logging.INFO:
            tone = theme.muted
        bar = self.body.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        style = QTextCharFormat()
        style.setForeground(QColor(tone))
        cursor = QTextCursor(self.body.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.body.document().isEmpty():
            cursor.insertBlock()
        cursor.insertText(str(line), style)
        self._length = str(line).count("\n") + 1
        if at_end:
            bar.setValue(bar.maximum())

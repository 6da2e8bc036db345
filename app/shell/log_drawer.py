"""The program's log, in a drawer at the bottom of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame

from app.log import MOST, Line, LogBook
from app.theme import Theme, Weight, current
from app.widgets import beside, button, column, label, reading


class LogDrawer(QFrame):
    """Shows the lines of a book; `add` appends one."""

    closed = Signal()
    HEIGHT = 240

    def __init__(self, book: LogBook) -> None:
        super().__init__(objectName="drawer", minimumHeight=140)
        self._book = book
        head = beside(label("Log", 14, Weight.DemiBold), None, margin=(20, 8, 12, 8))
        for text, icon, do in (("Copy", "copy", self.copy), ("Close", "x", self.closed.emit)):
            made = button(text, icon, kind="ghost", on_click=do)
            made.setAccessibleName(f"{text} the log")
            head.addWidget(made)
        self.body = reading("Lines of the log")
        self.body.setMaximumBlockCount(MOST * 10)
        self.body.setPlaceholderText("No entries.")
        self.body.setProperty("kind", "log")
        column(self, head, (self.body, 1))
        self.hide()

    def refresh(self) -> None:
        self.body.clear()
        for line in self._book.lines():
            self.add(line)
        self.body.moveCursor(QTextCursor.MoveOperation.End)

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.body.toPlainText())

    def set_theme(self, theme: Theme) -> None:
        self.refresh()

    def showEvent(self, event: object) -> None:
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def add(self, line: Line) -> None:
        """Append a line. The view stays where it is unless it shows the end."""
        bar = self.body.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        style = QTextCharFormat()
        style.setForeground(QColor(getattr(current(), line.tone)))
        cursor = QTextCursor(self.body.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        if not self.body.document().isEmpty():
            cursor.insertBlock()
        cursor.insertText(str(line), style)
        if at_end:
            bar.setValue(bar.maximum())

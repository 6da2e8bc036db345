"""A title with a hint beside it, or below it where there is no room."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.plain import tip, wrapped
from app.theme import Weight
from app.widgets import label

_GAP = 6


class Heading(QWidget):
    """A long hint is wrapped. Another text may take its place for a while, in the same room, so
    that nothing below moves.
    """

    def __init__(self, title: str = "", *, tone: str = "muted") -> None:
        super().__init__()
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._line.setContentsMargins(0, 0, 0, 0)
        self._title = label(title, 12, Weight.DemiBold)
        self._hint = label("", 12, tone=tone, wrap=True)
        self._hint.setMinimumWidth(1)
        self._line.addWidget(self._title)
        self._line.addWidget(self._hint, 1)
        self._text = self._instead = ""

    def show_title(self, text: str) -> None:
        self._title.setText(text)
        self._fit()

    def show_text(self, text: str) -> None:
        """Set the hint."""
        self._text, self._instead = text, ""
        self._fit()

    def show_instead(self, text: str) -> None:
        """Show another text in the room of the hint; empty: the hint."""
        self._instead = text
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        size, beside = self._hint.font(), self._title.sizeHint().width() + _GAP
        needed = self._hint.fontMetrics().horizontalAdvance(self._text) + 2
        below = bool(self._text) and beside + needed > self.width()
        directions = QBoxLayout.Direction
        self._line.setDirection(directions.TopToBottom if below else directions.LeftToRight)
        self._line.setSpacing(0 if below else _GAP)
        width = self.width() - (0 if below else beside)
        room = len(wrapped(self._text, size, width)) if below else 1
        whole = self._instead or self._text
        lines = wrapped(whole, size, width, room)
        self._hint.setText("\n".join(lines))
        self._hint.setAccessibleName(whole)
        self._hint.setToolTip(tip(whole if " ".join(lines) != whole else ""))
        self._hint.setFixedHeight(room * self._hint.fontMetrics().lineSpacing())

"""The bar above the page, for messages that belong to no page."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame

from app.widgets import Sign, button, label, retone, row, set_icon


class NoticeBar(QFrame):
    """Shows one sentence at a time until it is dismissed; others wait in a queue."""

    log_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("notice")
        self._waiting: deque[tuple[str, str]] = deque()
        inside = row(self, gap=8)
        inside.setContentsMargins(20, 8, 12, 8)
        self._sign = Sign()
        inside.addWidget(self._sign)
        self._text = label("", wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._log = button("Show log", "terminal", on_click=self.log_requested.emit)
        self._away = button("Dismiss", "x", kind="ghost", on_click=self.put_away)
        inside.addWidget(self._text, 1)
        inside.addWidget(self._log)
        inside.addWidget(self._away)
        self.hide()

    def show_text(self, text: str, tone: str = "bad") -> None:
        """Show a sentence, unless it equals the one before."""
        latest = self._waiting[-1][0] if self._waiting else self.text
        if text and latest != text:
            self._waiting.append((text, tone))
            if self.isHidden():
                self._next()
            self._name()

    def withdraw(self, text: str) -> None:
        """Take a sentence back that no longer holds."""
        self._waiting = deque(each for each in self._waiting if each[0] != text)
        if text and self.text == text:
            self.put_away()
        self._name()

    def put_away(self) -> None:
        self._text.setText("")
        self.hide()
        self._next()

    def offer_log(self, offered: bool) -> None:
        """Set whether the log can be opened; it cannot while it is shown."""
        self._log.setVisible(offered)

    @property
    def text(self) -> str:
        return self._text.text()

    def _next(self) -> None:
        if self._waiting:
            text, tone = self._waiting.popleft()
            self._text.setText(text)
            self.setAccessibleName(text)
            retone(self, tone)
            self._sign.show_tone(tone)
            self.show()
        self._name()

    def _name(self) -> None:
        more = len(self._waiting)
        text = f"Next ({more} more)" if more else "Dismiss"
        self._away.setText(f" {text}")
        self._away.setAccessibleName(text)
        set_icon(self._away, "chevron-right" if more else "x")

"""A field for several numbers that grows in lines, so that all are visible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent

from app.fields import TextArea, grouped
from app.theme import font
from workbench.plan.editing import number

_MOST_LINES = 4
_AROUND = 16
"""Border, padding and margin, above and below."""
_BETWEEN = "  "


class Figures(TextArea):
    """Numbers separated by spaces, or by commas that cannot be thousands separators."""

    edited = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self._filling = False
        self.setProperty("kind", "figures")
        self.setAccessibleName(name)
        self.setToolTip("Separate with spaces: 1,000  2,000  4,000")
        self.setFont(font(13, figures=True))
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._on_text)
        self._fit()

    def text(self) -> str:
        return self.toPlainText()

    def value(self) -> Any:
        return [each for each in _read(self.text()) if each is not None]

    def set_value(self, value: Any) -> None:
        values = value if isinstance(value, list) else []
        text = _BETWEEN.join(grouped(each) for each in values)
        if text != self.text():
            self._filling = True
            self.setPlainText(text)
            self._filling = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.set_value(self.value())
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.set_value(self.value())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _on_text(self) -> None:
        self._fit()
        if not self._filling:
            self.edited.emit()

    def _fit(self) -> None:
        # Qt gives the height of plain text in lines.
        lines = max(1, round(self.document().size().height()))
        off, needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setVerticalScrollBarPolicy(needed if lines > _MOST_LINES else off)
        high = self.fontMetrics().lineSpacing() * min(lines, _MOST_LINES)
        self.setFixedHeight(high + _AROUND)


def _read(text: str) -> Iterator[Any]:
    for part in re.split(r",?[;\s]+,?", text.strip(" ,;\n")):
        whole = number(part)
        yield from map(number, part.split(",")) if isinstance(whole, str) else [whole]

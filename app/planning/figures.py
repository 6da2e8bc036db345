"""A field for several numbers that grows in lines, so that all are visible."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent

from app.fields import grouped
from app.planning.text_lines import Growing
from app.theme import font
from workbench.plan.editing import number

_BETWEEN = "  "


class Figures(Growing):
    """Numbers separated by spaces, or by commas that cannot be thousands separators."""

    most_lines = 4

    def __init__(self, name: str) -> None:
        super().__init__(name, font(13, figures=True))
        self.setProperty("kind", "figures")
        self.setToolTip("Separate with spaces: 1,000  2,000  4,000")

    def text(self) -> str:
        return self.toPlainText()

    def value(self) -> Any:
        return [each for each in _read(self.text()) if each is not None]

    def set_value(self, value: Any) -> None:
        values = value if isinstance(value, list) else []
        text = _BETWEEN.join(grouped(each) for each in values)
        if text != self.text():
            self.fill(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.set_value(self.value())
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.set_value(self.value())


def _read(text: str) -> Iterator[Any]:
    for part in re.split(r",?[;\s]+,?", text.strip(" ,;\n")):
        whole = number(part)
        yield from map(number, part.split(",")) if isinstance(whole, str) else [whole]

"""The appearance of a picture or a page: its colours and its size."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.choices import Choice
from app.export.report import SIZE
from app.widgets import row

_PICTURES = {
    "1600 × 1200": SIZE,
    "1920 × 1080, a slide": (1920, 1080),
    "1280 × 960": (1280, 960),
    "2400 × 1800, a poster": (2400, 1800),
}
"""In pixels."""
_PAGES = {
    "A4 landscape": (1123, 794),
    "A3 landscape": (1587, 1123),
    "A slide, 16 : 9": (1920, 1080),
}
"""In pixels of 1/96 inch."""


class AppearanceFields(QWidget):
    """Colours and size; the sizes are of paper for PDF."""

    def __init__(self, theme: str) -> None:
        super().__init__()
        line = row(self, gap=8)
        self._theme, self._size = Choice("Colours"), Choice("Size")
        self._size.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToContents)
        for each in ("light", "dark"):
            self._theme.addItem(f"{each.capitalize()} colours", each)
        self._theme.setCurrentIndex(self._theme.findData(theme))
        for choice in (self._theme, self._size):
            line.addWidget(choice)
        line.addStretch(1)

    @property
    def theme(self) -> str:
        chosen: str = self._theme.currentData()
        return chosen

    @property
    def size_px(self) -> tuple[int, int]:
        chosen: tuple[int, int] = self._size.currentData()
        return chosen

    def offer(self, kind: str) -> None:
        """Offer the sizes of a kind of file; the choice is kept if the sizes are the same."""
        sizes = _PAGES if kind == ".pdf" else _PICTURES
        if self._size.itemText(0) != next(iter(sizes)):
            self._size.clear()
            for text, size in sizes.items():
                self._size.addItem(text, size)

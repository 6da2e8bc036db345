"""Presets, form and preview beside one another."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.scrolling import Scrolled
from app.widgets import GAP, column, frame

_NARROW, _WIDE, _WIDEST = 1_080, 1_500, 2_400
_LEAST, _MOST = 462, 700
"""Of the form's width; on larger screens this share of the page."""
_SHARE = 0.34


class Columns(QHBoxLayout):
    """In a narrow window the presets are a drawer over the preview."""

    def __init__(self, gallery: QWidget, form: QWidget, outlook: QWidget) -> None:
        super().__init__()
        self.setSpacing(GAP)
        self._gallery, self._outlook = gallery, outlook
        self._card = card = frame()
        self._scroll = Scrolled(form)
        column(card, margin=1).addWidget(self._scroll)
        card.setMinimumWidth(_LEAST)
        self.addWidget(gallery)
        self.addWidget(card, 5)
        self.addWidget(outlook, 4)

    def fit(self, width: int, *, drawn: bool) -> bool:
        """Arrange them for a page of this width in pixels; `drawn`: the drawer is open. Returns
        whether there is a drawer.
        """
        narrow = width < _NARROW
        self._gallery.setVisible(not narrow or drawn)
        self._outlook.setVisible(not (narrow and drawn))
        self._gallery.setFixedWidth(400 if width > _WIDEST else 288 if width > _WIDE else 264)
        self._card.setMaximumWidth(max(_MOST, int(_SHARE * width)))
        return narrow

    def show_whole(self, part: QWidget) -> None:
        """Scroll a part of the form into view."""
        self._scroll.ensureWidgetVisible(part)

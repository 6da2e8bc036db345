"""Presets, form and preview beside one another."""

from __future__ import annotations

from PySide6.QtWidgets import QBoxLayout, QWidget

from app.scrolling import Scrolled
from app.stacking import lay, stacked, widen
from app.widgets import GAP, column, frame

_NARROW, _WIDE, _WIDEST = 1_080, 1_500, 2_400
_LEAST, _MOST = 462, 700
"""Of the form's width; on larger screens this share of the page."""
_SHARE = 0.34
_PART_PX, _FORM_PX = 420, 320
"""The least heights of what stands one below another; the foot of the form is in view."""


class Columns(QBoxLayout):
    """In a narrow window the presets are a drawer over the preview. In a narrower one they are
    above the form, and the preview is below it.
    """

    def __init__(self, gallery: QWidget, form: QWidget, foot: QWidget, outlook: QWidget) -> None:
        super().__init__(QBoxLayout.Direction.LeftToRight)
        self.setSpacing(GAP)
        self._gallery, self._outlook = gallery, outlook
        self._card = card = frame()
        self._scroll = Scrolled(form)
        inside = column(card, margin=1)
        inside.addWidget(self._scroll)
        inside.addWidget(foot)
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
        below = stacked(width)
        lay(self, below=below)
        drawer = 400 if width > _WIDEST else 288 if width > _WIDE else 264
        widen(self._gallery, drawer, below=below)
        self._card.setMaximumWidth(max(_MOST, int(_SHARE * width)))
        for part, high in (
            (self._gallery, _PART_PX),
            (self._card, _FORM_PX),
            (self._outlook, _PART_PX),
        ):
            part.setMinimumHeight(high if below else 0)
        return narrow

    def show_whole(self, part: QWidget) -> None:
        """Scroll a part of the form into view."""
        self._scroll.ensureWidgetVisible(part)

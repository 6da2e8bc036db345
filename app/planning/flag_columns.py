"""Check boxes in columns."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from app.fields import Flag
from app.widgets import empty

_LEAST, _MOST_ACROSS, _APART = 150, 4, 12


class FlagColumns(QWidget):
    """A name that is longer than a column takes several; one longer than a row is cut."""

    def __init__(self) -> None:
        super().__init__()
        self._flags: Sequence[Flag] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 0)
        self._grid.setHorizontalSpacing(_APART)

    def show_flags(self, flags: Sequence[Flag]) -> None:
        """Show these in place of those before."""
        empty(self._grid)
        self._flags = flags
        for flag in flags:
            flag.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()

    def _arrange(self) -> None:
        width = self.width() + _APART
        across = max(1, min(_MOST_ACROSS, width // (_LEAST + _APART)))
        for place in range(_MOST_ACROSS):
            self._grid.setColumnStretch(place, int(place < across))
        line = at = 0
        for flag in self._flags:
            needed = (flag.sizeHint().width() + _APART) * across
            span = min(across, -(-needed // width))
            if at + span > across:
                line, at = line + 1, 0
            self._grid.addWidget(flag, line, at, 1, span)
            at += span

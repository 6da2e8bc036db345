"""The header of a sortable table."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHeaderView, QStyleOptionHeader


class SortedHead(QHeaderView):
    """Its arrow points up for ascending order, which Fusion draws the other way round."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        super().initStyleOptionForIndex(option, section)
        arrow = QStyleOptionHeader.SortIndicator
        turned = {arrow.SortUp: arrow.SortDown, arrow.SortDown: arrow.SortUp}
        option.sortIndicator = turned.get(option.sortIndicator, option.sortIndicator)  # type: ignore[attr-defined]

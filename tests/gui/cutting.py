"""Which texts of a page have less room than they need."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QLabel,
    QRadioButton,
    QToolButton,
    QWidget,
)

from app.widgets import Elided
from tests.gui.windows import name_of


def is_cut(each: QWidget) -> bool:
    """Whether its text needs more room than it has. Elided texts end in an ellipsis, and have a
    tool tip."""
    if isinstance(each, Elided):
        return False
    if isinstance(each, QLabel):
        if not each.text() or not each.pixmap().isNull():
            return False
        if each.wordWrap():
            return each.heightForWidth(each.width()) > each.height() + 1
        return each.sizeHint().width() > each.width() + 1
    if isinstance(each, QCheckBox | QRadioButton):
        # Both elide what does not fit, with a tool tip.
        return each.sizeHint().width() > each.width() + 1 and not each.toolTip()
    if isinstance(each, QToolButton):
        return each.fontMetrics().horizontalAdvance(each.text()) > each.width()
    if isinstance(each, QAbstractButton):
        return bool(each.text()) and each.minimumSizeHint().width() > each.width() + 1
    return False


def cut(page: QWidget) -> list[str]:
    kinds = (QLabel, QAbstractButton, QComboBox)
    parts = [each for kind in kinds for each in page.findChildren(kind)]
    return [
        f"{type(each).__name__} {name_of(each) or each.text()!r}"
        for each in parts
        if each.isVisible() and is_cut(each)
    ]

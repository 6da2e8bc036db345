"""The base of all dialogs: on a small screen, or with large text, their contents scroll and their
buttons stay in view.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtGui import QScreen, QShowEvent
from PySide6.QtWidgets import QDialog, QLayout, QVBoxLayout, QWidget

from app.scrolling import Whole

_FRAME = QSize(16, 48)
"""For the window manager's borders and title."""


def room_on(screen: QScreen) -> QSize:
    """Return the size that a dialog may have on a screen."""
    return screen.availableGeometry().size() - _FRAME


class Dialog(QDialog):
    """Its layout is a column whose last part are the buttons."""

    def given(self) -> Any:
        """Return the answer once it is closed; here whether it was accepted."""
        return self.result() == QDialog.DialogCode.Accepted

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        room = room_on(self.screen())
        layout = self.layout()
        if isinstance(layout, QVBoxLayout):
            least = layout.totalMinimumSize().expandedTo(self.minimumSize())
            width = min(max(self.width(), least.width()), room.width())
            high = max(least.height(), layout.totalHeightForWidth(width))
            if least.width() > room.width() or high > room.height():
                focused = self.focusWidget()
                body = _scroll(layout)
                if focused is not None:
                    focused.setFocus()
                self.setMinimumSize(0, 0)
                self.setMaximumSize(room)
                bar = body.verticalScrollBar().sizeHint().width()
                self.resize(QSize(width + bar, high).boundedTo(room))
                return
        if self.size().boundedTo(room) != self.size():
            self.resize(self.size().boundedTo(room))


def _scroll(layout: QVBoxLayout) -> Whole:
    """Put all parts of a layout but the last into a scroll area, and return it."""
    layout.setSizeConstraint(QLayout.SizeConstraint.SetDefaultConstraint)
    body = QWidget()
    inside = QVBoxLayout(body)
    inside.setContentsMargins(0, 0, 0, 0)
    inside.setSpacing(layout.spacing())
    while layout.count() > 1:
        stretch = layout.stretch(0)
        part = layout.takeAt(0)
        if (widget := part.widget()) is not None:
            hidden = widget.isHidden()
            inside.addWidget(widget, stretch, part.alignment())
            widget.setHidden(hidden)
        elif (nested := part.layout()) is not None:
            nested.setParent(None)
            inside.addLayout(nested, stretch)
        else:
            inside.addItem(part)
    area = Whole(body)
    layout.insertWidget(0, area, 1)
    return area

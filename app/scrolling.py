"""Scroll areas that show the background they stand on, and what pages do in a window too narrow for
parts side by side: they put them one below another, and scroll.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QApplication, QBoxLayout, QFrame, QPlainTextEdit, QScrollArea, QWidget

NARROWEST = 578
"""The least width of a page: that of a screen of 1280 pixels at 200 %, without rail and scroll bar.
"""
LEAST = QSize(853, 520)
"""Of a window; below this size its contents scroll."""
ANY = 16_777_215
"""Qt's largest size."""
_STACKED = 720
"""Below this width of a page its parts stand one below another."""


def stacked(width: int) -> bool:
    """Return whether the parts of a page of this width stand one below another."""
    return width < _STACKED


def lay(parts: QBoxLayout, *, below: bool) -> None:
    """Lay out parts side by side, or one below another."""
    way = QBoxLayout.Direction
    parts.setDirection(way.TopToBottom if below else way.LeftToRight)


def widen(part: QWidget, wide: int, *, below: bool) -> None:
    """Give a part this width beside others, and all of the width below them."""
    part.setMinimumWidth(0 if below else wide)
    part.setMaximumWidth(ANY if below else wide)


class Scrolled(QScrollArea):
    """A scroll area that shows `body` at full width and without a background of its own. What gets
    the focus by keys is brought into view, also from outside, where Qt does not, and stays there
    when the body grows, unless somebody scrolled since.
    """

    def __init__(self, body: QWidget, name: str = "") -> None:
        """With a `name` the area takes the keys itself; without one its contents do."""
        super().__init__(widgetResizable=True, frameShape=QFrame.Shape.NoFrame, accessibleName=name)
        self.setWidget(body)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setStyleSheet("QScrollArea { background: transparent; }")
        # Qt gives both a ground, the body when it is set.
        self.viewport().setAutoFillBackground(False)
        body.setAutoFillBackground(False)
        if not name:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)
        self._followed: tuple[QWidget | None, int] = (None, 0)
        # Only when the body has been laid out.
        again = Qt.ConnectionType.QueuedConnection
        self.verticalScrollBar().rangeChanged.connect(self._follow_again, again)

    def _follow_again(self) -> None:
        now, at = self._followed
        unmoved = self.verticalScrollBar().value() == at
        if now is not None and QApplication.focusWidget() is now and unmoved:
            self._follow(None, now)

    def _follow(self, before: QWidget | None, now: QWidget | None) -> None:
        if now is None or not self.widget().isAncestorOf(now):
            return
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return
        sideways = self.horizontalScrollBar()
        was, begins = sideways.value(), now.mapTo(self.viewport(), QPoint()).x()
        shown = now.size().boundedTo(self.viewport().size())
        if shown == now.size() or isinstance(now, QPlainTextEdit):  # which has a cursor
            self.ensureWidgetVisible(now)
            self._followed = now, self.verticalScrollBar().value()
        else:
            # Qt would show the middle of what is larger than the view, such as a page.
            at = QRect(now.mapTo(self.widget(), QPoint()), shown).center()
            self.ensureVisible(at.x(), at.y(), shown.width() // 2, shown.height() // 2)
        if 0 <= begins <= self.viewport().width() // 2:
            sideways.setValue(was)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Leave it to `_follow` to bring into view what gets the focus, and do not do it again as
        Qt does, which shows the middle of what is larger than the view.
        """
        return QWidget.focusNextPrevChild(self, forward)


class Whole(Scrolled):
    """The contents of a window that may be smaller than they need."""

    def __init__(self, body: QWidget) -> None:
        super().__init__(body)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

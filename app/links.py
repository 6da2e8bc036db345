"""Addresses that a click opens in the browser."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from app.plain import tip
from app.theme import font
from workbench.untrusted import one_line


class Link(QPushButton):
    """An address, elided in the middle where it does not fit."""

    def __init__(self, address: str, about: str, report: Callable[[str], object]) -> None:
        """`about`: what the address is the source of. `report` gets the sentence about an address
        that nothing opens.
        """
        super().__init__()
        self._shown = one_line(address).partition("://")[2] or one_line(address)
        self._address, self._report = address, report
        self.setProperty("kind", "link")
        self.setFont(font(11))
        self.setAccessibleName(f"Source of {about}")
        self.setAccessibleDescription(one_line(address))
        self.setToolTip(tip(one_line(address)))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(True)  # Enter presses it like Space
        # An entry of one's own may name anything.
        self.setEnabled(address.startswith(("https://", "http://")))
        self.clicked.connect(self._open)

    def minimumSizeHint(self) -> QSize:
        return QSize(24, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room, middle = self.width() - 4, Qt.TextElideMode.ElideMiddle
        self.setText(self.fontMetrics().elidedText(self._shown, middle, room).replace("&", "&&"))

    def _open(self) -> None:
        if not QDesktopServices.openUrl(QUrl(self._address)):
            self._report(f"No browser was found. The address is {one_line(self._address)}.")

"""The page for spectators, from the window: who may open it, its link, and a code to photograph."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.context import Sharing
from app.dialogs import Dialog
from app.fields import Choice
from app.plain import Label
from app.theme import Weight
from app.widgets import Inline, beside, button, column, label, row

_CODE_PX = 220
_PLACES = {"Everyone in this network": "0.0.0.0", "Only this computer": "127.0.0.1"}
_ABOUT = (
    "Whoever has the link sees the charts, the ranking and the answer, and can change nothing."
    " The link is not encrypted: it is for one room, not for the internet."
)


def code(link: str, px: int) -> QPixmap:
    """Return a link as a QR code, black on white, of at most that many pixels."""
    import segno  # noqa: PLC0415 - not when the window starts

    made, data = segno.make(link, error="m"), BytesIO()
    made.save(data, kind="png", scale=max(1, px // made.symbol_size()[0]))
    found = QPixmap()
    found.loadFromData(data.getvalue())
    return found


class ShareDialog(Dialog):
    def __init__(self, parent: QWidget, sharing: Sharing, session: Path) -> None:
        super().__init__(parent)
        self._sharing, self._session = sharing, session
        self.setWindowTitle("Share with spectators")
        self.setMinimumWidth(460)
        title = label("Share with spectators", 17, Weight.DemiBold)
        about = label(_ABOUT, tone="soft", wrap=True)
        self.message = Inline()
        self.place = Choice("Who can open it")
        for text, address in _PLACES.items():
            self.place.addItem(text, address)
        self.port = QLineEdit(placeholderText="a free one", accessibleName="Port")
        self._choices = QWidget()
        row(self._choices, self.place, label("Port"), (self.port, 1))
        self.code = label()
        self.code.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.code.setAccessibleName("Code of the link")
        self.link = label("", mono=True, selectable=True, wrap=True)
        parts = title, about, self.message, self._choices, self.code, self.link, self._buttons()
        column(self, *parts, margin=20, gap=12)
        sharing.changed.connect(self._show)
        self._show()

    def _buttons(self) -> QHBoxLayout:
        self._close = button("Close", on_click=self.reject)
        self._copy = button("Copy the link", "copy", on_click=self._on_copy)
        self._stop = button("Stop sharing", "square", kind="danger", on_click=self._sharing.end)
        self._go = button("Share", "share-2", kind="primary", on_click=self.share)
        return beside(None, self._close, self._stop, self._copy, self._go)

    def share(self) -> None:
        where, port = self.place.currentData(), self.port.text().strip()
        self._go.setEnabled(False)
        self._sharing.begin(self._session, f"{where}:{port}" if port else where)

    def _show(self) -> None:
        link = self._sharing.link
        self.message.show_text("" if link else self._sharing.problem)
        self._choices.setVisible(not link)
        self._go.setVisible(not link)
        self._go.setEnabled(True)
        for each in (self.code, self.link, self._stop, self._copy):
            each.setVisible(bool(link))
        self.code.setPixmap(code(link, _CODE_PX) if link else QPixmap())
        self.link.setText(link)
        (self._copy if link else self._go).setFocus()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._sharing.link)


def ask(parent: QWidget, sharing: Sharing, session: Path) -> ShareDialog:
    dialog = ShareDialog(parent, sharing, session)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


class Poster(Label):
    """The code over a presentation, large enough for the back row; hidden until it is asked for."""

    def __init__(self, parent: QWidget, link: Callable[[], str]) -> None:
        super().__init__()
        self.setParent(parent)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._link = link
        self.setObjectName("poster")
        self.setStyleSheet("#poster { background: white; color: black; padding: 24px; }")
        self.hide()

    def toggle(self) -> None:
        """Show it in the middle, or hide it; without a link nothing is shown."""
        link, over = self._link(), self.parentWidget()
        if self.isVisible() or not link or over is None:
            self.hide()
            return
        side = min(over.width(), over.height()) * 2 // 3
        self.setPixmap(code(link, side))
        self.setAccessibleName(link)
        self.adjustSize()
        self.move(over.rect().center() - self.rect().center())
        self.show()
        self.raise_()

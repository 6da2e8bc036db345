"""Asks whether a user's program, such as a locustfile, may run on the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.theme import Theme, Weight
from app.widgets import button, column, dress, label, row

if TYPE_CHECKING:
    from workbench.foreign import ForeignCode

_TITLE = "Run this program on the clients?"


class ForeignCodeDialog(QDialog):
    """Only its button agrees; the focus is on the answer that changes nothing."""

    def __init__(self, parent: QWidget, code: ForeignCode, theme: Theme | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_TITLE)
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(_TITLE, 15, Weight.DemiBold))
        inside.addWidget(label(f"{code.text}.", tone="soft", wrap=True))
        about = "It can read and send what you can. Agree only if you know what it does."
        inside.addWidget(label(about, 12, tone="muted", wrap=True))
        foot = row()
        foot.addStretch(1)
        safe = button("Cancel", "x", on_click=self.reject)
        safe.setDefault(True)
        foot.addWidget(safe)
        foot.addWidget(button("Run", on_click=self.accept))
        inside.addLayout(foot)
        if theme is not None:
            dress(self, theme)
        safe.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> bool:
        return self.result() == QDialog.DialogCode.Accepted

    def forget(self) -> None:
        """There is nothing secret here."""

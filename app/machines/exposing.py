"""Asks whether servers without security fixes may listen where other machines reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.dialogs import Dialog
from app.theme import Theme, Weight
from app.widgets import button, column, dress, label, row

if TYPE_CHECKING:
    from workbench.exposure import Exposure

_TITLE = "Expose old servers to the network?"


class ExposureDialog(Dialog):
    """Only its button agrees; the focus is on the answer that changes nothing."""

    def __init__(self, parent: QWidget, exposure: Exposure, theme: Theme | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(_TITLE)
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(_TITLE, 15, Weight.DemiBold))
        inside.addWidget(label(f"{exposure.text}.", tone="soft", wrap=True))
        about = "On an untrusted network, run the client on the same machine instead."
        inside.addWidget(label(about, 12, tone="muted", wrap=True))
        foot = row()
        foot.addStretch(1)
        safe = button("Cancel", "x", on_click=self.reject)
        safe.setDefault(True)
        foot.addWidget(safe)
        foot.addWidget(button("Expose and run", on_click=self.accept))
        inside.addLayout(foot)
        if theme is not None:
            dress(self, theme)
        safe.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> bool:
        return self.result() == QDialog.DialogCode.Accepted

    def forget(self) -> None:
        """There is nothing secret here."""

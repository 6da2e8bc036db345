"""Asks whether something that may do harm shall be done."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.dialogs import Dialog
from app.theme import Theme, Weight
from app.widgets import button, column, dress, label, row


class Agreement(Dialog):
    """Only its button agrees; the focus is on the answer that changes nothing."""

    def __init__(
        self,
        parent: QWidget,
        theme: Theme | None,
        *,
        title: str,
        what: str,
        about: str,
        yes: str,
    ) -> None:
        """`what`: would be done; `about`: what to consider; `yes`: the button's text."""
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(title, 15, Weight.DemiBold))
        inside.addWidget(label(f"{what}.", tone="soft", wrap=True))
        inside.addWidget(label(about, 12, tone="muted", wrap=True))
        foot = row()
        foot.addStretch(1)
        safe = button("Cancel", "x", on_click=self.reject)
        safe.setDefault(True)
        foot.addWidget(safe)
        foot.addWidget(button(yes, on_click=self.accept))
        inside.addLayout(foot)
        if theme is not None:
            dress(self, theme)
        safe.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> bool:
        return self.result() == QDialog.DialogCode.Accepted

    def forget(self) -> None:
        """There is nothing secret here."""

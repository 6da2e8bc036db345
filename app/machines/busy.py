"""Asks what to do where another run is on the same machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QWidget

from app.dialogs import Dialog
from app.theme import Theme, Weight
from app.widgets import button, column, dress, label, row

if TYPE_CHECKING:
    from workbench.run.claims import Answer, Claim

_TITLE = "Another run is on these machines"
_ABOUT = "Side by side, each disturbs the other; both sessions would note it."


class BusyDialog(Dialog):
    """Waits, runs anyway, or cancels; the focus is on waiting, which disturbs nobody."""

    def __init__(self, parent: QWidget, other: Claim, theme: Theme | None) -> None:
        super().__init__(parent)
        self._answer: Answer = "cancel"
        self.setWindowTitle(_TITLE)
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(_TITLE, 15, Weight.DemiBold))
        inside.addWidget(label(f"{other.text}.", tone="soft", wrap=True))
        inside.addWidget(label(_ABOUT, 12, tone="muted", wrap=True))
        foot = row()
        foot.addStretch(1)
        foot.addWidget(button("Cancel", "x", on_click=self.reject))
        foot.addWidget(button("Run anyway", on_click=lambda: self._answered("anyway")))
        wait = button("Wait", kind="primary", on_click=lambda: self._answered("wait"))
        wait.setDefault(True)
        foot.addWidget(wait)
        inside.addLayout(foot)
        if theme is not None:
            dress(self, theme)
        wait.setFocus(Qt.FocusReason.OtherFocusReason)

    def _answered(self, answer: Answer) -> None:
        self._answer = answer
        self.accept()

    def given(self) -> Answer:
        return self._answer if self.result() == QDialog.DialogCode.Accepted else "cancel"

    def forget(self) -> None:
        """There is nothing secret here."""

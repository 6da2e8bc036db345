"""Asks whether something that may do harm shall be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.dialogs import Dialog
from app.theme import Weight
from app.widgets import button, column, label, row
from workbench.consent import Exposure, ForeignCode, OfRunning
from workbench.run.claims import Claim


class Confirmation(Dialog):
    """Only a button gives its answer; the focus is on the one that does no harm."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        body: Sequence[QWidget],
        answers: Sequence[tuple[str, str, Any]],
        *,
        harmless: int = 0,
    ) -> None:
        """`answers`: text, icon and what `given` returns; the first is also that of Escape.
        `harmless`: the place of the answer with the focus.
        """
        super().__init__(parent)
        self._given = answers[0][2]
        self.setWindowTitle(title)
        self.setMinimumWidth(480)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(title, 15, Weight.DemiBold))
        for each in body:
            inside.addWidget(each)
        foot = row()
        foot.addStretch(1)
        buttons = [
            button(text, icon, on_click=lambda answer=answer: self._give(answer))
            for text, icon, answer in answers
        ]
        for each in buttons:
            foot.addWidget(each)
        buttons[harmless].setDefault(True)
        inside.addLayout(foot)
        buttons[harmless].setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> Any:
        return self._given

    def _give(self, answer: Any) -> None:
        self._given = answer
        self.accept()


def _texts(what: str, about: str) -> list[QWidget]:
    """`what`: would be done; `about`: what to consider."""
    said = label(f"{what}.", tone="soft", wrap=True)
    return [said, label(about, 12, tone="muted", wrap=True)]


def exposing(parent: QWidget, /, *, exposure: Exposure) -> Confirmation:
    """Ask whether servers without security fixes may listen where other machines reach them."""
    about = "On an untrusted network, run the client on the same machine instead."
    return Confirmation(
        parent,
        "Expose old servers to the network?",
        _texts(exposure.text, about),
        [("Cancel", "x", False), ("Expose and run", "", True)],
    )


def running_foreign(parent: QWidget, /, *, code: ForeignCode) -> Confirmation:
    """Ask whether a user's program, such as a locustfile, may run on the clients."""
    about = "It can read and send what you can. Agree only if you know what it does."
    return Confirmation(
        parent,
        "Run this program on the clients?",
        _texts(code.text, about),
        [("Cancel", "x", False), ("Run", "", True)],
    )


def loading(parent: QWidget, /, *, asked: OfRunning) -> Confirmation:
    """Ask whether a server that is running already may get a plan's load."""
    about = "Pongbench asks each time, and remembers no answer."
    return Confirmation(
        parent,
        "Load this running server?",
        _texts(asked.text, about),
        [("Cancel", "x", False), ("Load", "", True)],
    )


def disturbing(parent: QWidget, /, *, other: Claim) -> Confirmation:
    """Ask what to do where another run is on the same machines; the answer is an `Answer`."""
    about = "Side by side, each disturbs the other; both sessions would note it."
    return Confirmation(
        parent,
        "Another run is on these machines",
        _texts(other.text, about),
        [("Cancel", "x", "cancel"), ("Run anyway", "", "anyway"), ("Wait", "", "wait")],
        harmless=2,
    )

"""Asks whether a user's program, such as a locustfile, may run on the clients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.machines.agreeing import Agreement
from app.theme import Theme

if TYPE_CHECKING:
    from workbench.foreign import ForeignCode

_TITLE = "Run this program on the clients?"
_ABOUT = "It can read and send what you can. Agree only if you know what it does."


class ForeignCodeDialog(Agreement):
    def __init__(self, parent: QWidget, code: ForeignCode, theme: Theme | None) -> None:
        super().__init__(parent, theme, title=_TITLE, what=code.text, about=_ABOUT, yes="Run")

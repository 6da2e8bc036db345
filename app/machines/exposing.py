"""Asks whether servers without security fixes may listen where other machines reach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.machines.agreeing import Agreement
from app.theme import Theme

if TYPE_CHECKING:
    from workbench.exposure import Exposure

_TITLE = "Expose old servers to the network?"
_ABOUT = "On an untrusted network, run the client on the same machine instead."


class ExposureDialog(Agreement):
    def __init__(self, parent: QWidget, exposure: Exposure, theme: Theme | None) -> None:
        yes = "Expose and run"
        super().__init__(parent, theme, title=_TITLE, what=exposure.text, about=_ABOUT, yes=yes)

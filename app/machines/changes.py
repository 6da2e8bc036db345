"""Kernel settings of one machine as a table: their names, now, for the run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.theme import Weight, font
from app.widgets import empty, label
from workbench.formatting import number_of

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
_LARGEST = str(2**63 - 1)
_HEADS = ("Setting", "Now", "For the run")
_SIDES = (Qt.AlignmentFlag.AlignTop, _RIGHT, _RIGHT)
_PLACES = (0, 1, 3)
"""Their columns; the one between two values keeps these apart."""


class ChangesTable(QWidget):
    """Highlights settings that would change."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnMinimumWidth(2, 16)

    def display(self, changes: Sequence[Sequence[str]], nofile: int = 0) -> None:
        """Show `changes`: (setting, now, for the run); now empty: this kernel has no such setting.
        `nofile`: the descriptor limit of the run's processes; 0: unchanged.
        """
        empty(self._grid)
        for head, place, side in zip(_HEADS, _PLACES, _SIDES, strict=True):
            self._grid.addWidget(label(head, 11, tone="muted"), 0, place, side)
        for key, now, wanted in changes:
            changed = bool(now) and now != wanted
            stays = "stays" if now else "excluded"
            shown = _value(key, wanted) if changed else stays
            values = (key, _value(key, now) or "not available", shown)
            self._add(values, changed=changed)
        if nofile:
            self._add(("descriptors per process", "", f"{nofile:,}"), changed=True)

    def show_text(self, text: str) -> None:
        """Show a sentence instead of settings."""
        empty(self._grid)
        self._grid.addWidget(label(text, tone="soft", wrap=True), 0, 0, 1, 4)

    def _add(self, values: Sequence[str], *, changed: bool) -> None:
        line = self._grid.rowCount()
        for value, place, side in zip(values, _PLACES, _SIDES, strict=True):
            self._grid.addWidget(_cell(value, place, changed=changed), line, place, side)


def count(changes: Sequence[Sequence[str]]) -> str:
    """Describe how many settings would change."""
    needed = sum(bool(now) and now != wanted for _, now, wanted in changes)
    return number_of(needed, "changes") if needed else "no changes needed"


def _cell(value: str, place: int, *, changed: bool) -> QLabel:
    """Return a cell; the name of a setting wraps where there is too little room."""
    made = label(value, tone="" if changed else "muted", wrap=place == 0)
    weight = Weight.DemiBold if changed and place == _PLACES[-1] else Weight.Normal
    made.setFont(font(12, weight, mono=True))
    made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return made


def _value(key: str, text: str) -> str:
    """Write a value for people: the largest number is what the kernel shows where there is no
    limit, and two ports are a range.
    """
    if text == _LARGEST:
        return "no limit"
    if key.endswith("_port_range"):
        return "–".join(text.split())
    return f"{int(text):,}" if text.isdecimal() else text

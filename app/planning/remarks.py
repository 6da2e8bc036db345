"""Messages about a plan: problems, warnings, or that all is well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.scrolling import Scrolled
from app.theme import LIGHT, Theme, icon_pixmap
from app.widgets import button, column, empty, label, row

_ICONS = {"bad": "circle-x", "warn": "triangle-alert", "ok": "circle-check"}
_TALLEST = 168


class Remarks(Scrolled):
    """As high as its messages, up to a limit; then it scrolls."""

    def __init__(self) -> None:
        self._list = column(holder := QWidget(), gap=6)
        super().__init__(holder, "Remarks")
        self._theme = LIGHT
        self._remarks: list[tuple[str, str]] = []
        self._fields: Mapping[str, QWidget | None] = {}

    def show_text(
        self,
        remarks: Sequence[tuple[str, str]],
        fields: Mapping[str, QWidget | None] = MappingProxyType({}),
    ) -> None:
        """Show messages, each with a tone (bad, warn, ok, muted). `fields`: those that messages
        lead to.
        """
        self._remarks, self._fields = list(remarks), fields
        empty(self._list)
        for tone, text in remarks:
            holder = QWidget()
            line = row(holder, gap=8)
            sign = label()
            icon = _ICONS.get(tone, "info")
            sign.setPixmap(icon_pixmap(icon, getattr(self._theme, tone), 16))
            line.addWidget(sign, 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(label(text, 12, tone="soft", wrap=True), 1)
            if (field := fields.get(text)) is not None:
                line.addWidget(_link(text, field), 0, Qt.AlignmentFlag.AlignTop)
            self._list.addWidget(holder)
            holder.show()  # Qt would do that later, and until then it has no height.
        self._list.addStretch(1)
        self._fit()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.show_text(self._remarks, self._fields)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        wide = self.viewport().width()
        self.setFixedHeight(min(_TALLEST, max(20, self._list.totalHeightForWidth(wide) + 2)))


def _link(text: str, field: QWidget) -> QPushButton:
    """Return a button that leads to the field of a problem."""
    reason = Qt.FocusReason.TabFocusReason  # so that it scrolls into view
    made = button("Show", kind="link", on_click=lambda: field.setFocus(reason))
    made.setAccessibleName(f"Show the field: {text}")
    return made

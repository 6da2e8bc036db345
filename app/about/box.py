"""The About box: the program, the versions of its parts, and their licences."""

from __future__ import annotations

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QListView,
    QListWidget,
    QListWidgetItem,
    QSizePolicy,
    QWidget,
)

from app.about import licences
from app.about.licences import Component
from app.context import Desk
from app.dialogs import Dialog
from app.theme import Weight
from app.widgets import Inline, button, column, label, reading, row
from workbench import __version__


class AboutBox(Dialog):
    """A dialog whose text can be selected and copied."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("About Pongbench")
        self.setAccessibleName("About Pongbench")
        self.resize(940, 640)
        self._components: list[Component] = []
        inside = column(self, margin=20, gap=10)
        inside.addWidget(label(f"Pongbench {__version__}", 20, Weight.DemiBold))
        inside.addWidget(label("Which server sustains which rate?", tone="soft"))
        where = f"Qt {qVersion()} ({QGuiApplication.platformName()}) on {platform.platform()}"
        self._where = label(where, 12, tone="muted", wrap=True)
        self._where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside.addWidget(self._where)
        self.message = Inline()
        inside.addWidget(self.message)
        across = row(gap=12)
        self.parts = QListWidget()
        self.parts.setAccessibleName("Components")
        self.parts.setMaximumWidth(270)
        self.parts.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.parts.setResizeMode(QListView.ResizeMode.Adjust)
        self.parts.setWordWrap(True)
        self.parts.setProperty("kind", "framed")
        self.parts.currentRowChanged.connect(self._show)
        self.text = reading("Licence")
        for each, share in ((self.parts, 3), (self.text, 5)):
            # On a small screen both give up room, so that the whole box does not scroll.
            each.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
            each.setMinimumSize(140, 90)
            across.addWidget(each, share)
        inside.addLayout(across, 1)
        foot = row()
        self._copy = button("Copy versions", "copy", on_click=self.copy)
        self._copy.setEnabled(False)
        close = button("Close", kind="primary", on_click=self.accept)
        close.setDefault(True)
        foot.addWidget(self._copy)
        foot.addStretch()
        foot.addWidget(close)
        inside.addLayout(foot)
        close.setFocus()
        # The box may be closed before they are read.
        desk.bridge.do(licences.components, self._on_read, self._on_failed)
        self.finished.connect(self._on_finished)

    def versions(self) -> str:
        """Return one line for each part."""
        lines = [f"{part.name} {part.version}  {part.licence}" for part in self._components]
        return "\n".join([self._where.text(), *lines])

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self.versions())
        self.message.show_text("Versions copied.", "ok")

    def _on_read(self, components: list[Component]) -> None:
        if self._gone:
            return
        self._components = components
        for part in components:
            item = QListWidgetItem(f"{part.name} {part.version}\n{part.licence}")
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, part.licence)
            self.parts.addItem(item)
        self.parts.setCurrentRow(0)
        self._copy.setEnabled(True)

    def _on_failed(self, sentence: str) -> None:
        if not self._gone:
            self.message.show_text(sentence)

    def _on_finished(self) -> None:
        self._gone = True

    def _show(self, row: int) -> None:
        if 0 <= row < len(self._components):
            self.text.setPlainText(self._components[row].text)

    _gone = False

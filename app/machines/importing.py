"""Imports machines from ~/.ssh/config."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.choices import Tick
from app.context import Desk
from app.dialogs import Dialog
from app.machines import work
from app.scrolling import Scrolled
from app.widgets import Inline, button, column, dress, label, row

if TYPE_CHECKING:
    from workbench.machines.aliases import Alias
    from workbench.stores import Change


class Importing(Dialog):
    """A check box for every host without a profile."""

    brought = Signal(list, list)
    """The names of the new profiles, and the files that changed."""

    def __init__(self, parent: QWidget, desk: Desk, hosts: Sequence[Alias]) -> None:
        super().__init__(parent)
        self._desk = desk
        self.setWindowTitle("Machines from ~/.ssh/config")
        inside = column(self, margin=20, gap=12)
        about = (
            "Adds a profile for each selected host. Connection settings stay in ~/.ssh/config "
            "and follow its changes."
            if hosts
            else "~/.ssh/config has no further hosts. Host patterns with * or ? are ignored."
        )
        inside.addWidget(label(about, tone="soft", wrap=True))
        self._ticks = {host.name: Tick(f"{host.name}   {host.where}") for host in hosts}
        body = QWidget()
        lines = column(body, gap=2)
        for name, tick in self._ticks.items():
            tick.setAccessibleName(name)
            tick.toggled.connect(lambda _: self._fit())
            lines.addWidget(tick)
        lines.addStretch(1)
        scroll = Scrolled(body)
        scroll.setVisible(bool(hosts))
        inside.addWidget(scroll, 1)
        self.wrong = Inline()
        inside.addWidget(self.wrong)
        foot = row()
        foot.addStretch(1)
        foot.addWidget(button("Cancel" if hosts else "Close", on_click=self.reject))
        self.bring = button("Add", "plus", kind="primary", on_click=self._bring)
        self.bring.setVisible(bool(hosts))
        foot.addWidget(self.bring)
        inside.addLayout(foot)
        self.resize(480, min(520, 190 + 28 * len(hosts)))
        self.finished.connect(lambda _: self.deleteLater())
        self._fit()
        dress(self, desk.theme)

    def _chosen(self) -> list[str]:
        return [name for name, tick in self._ticks.items() if tick.isChecked()]

    def _fit(self) -> None:
        count = len(self._chosen())
        self.bring.setEnabled(bool(count))
        self.bring.setText(f" Add {count}" if count else " Add")

    def _bring(self) -> None:
        self.bring.setEnabled(False)
        self._desk.bridge.submit(work.bring_in(self._chosen()), self._on_brought, self._on_refused)

    def _on_brought(self, result: tuple[list[str], list[Change]]) -> None:
        self.brought.emit(*result)
        self.accept()

    def _on_refused(self, sentence: str) -> None:
        self.wrong.show_text(sentence)
        self._fit()

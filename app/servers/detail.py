"""The selected server: its code, facts and test."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QMenu,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from app.context import Desk
from app.servers.about import About
from app.servers.known import Known
from app.servers.own import Owning
from app.servers.pane import CodePane
from app.servers.trial import Trial
from app.stacking import lay, widen
from app.widgets import GAP, column, row


class FactsCard(QFrame):
    """Its width is set by the page."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setObjectName("card")
        inside = column(self, gap=10)
        inside.setContentsMargins(14, 10, 10, 12)
        tabs = row(gap=4)
        self._tabs = QButtonGroup(self)
        for place, name in enumerate(("About", "Test")):
            tab = QPushButton(name)
            tab.setCheckable(True)
            tab.setProperty("kind", "tab")
            tab.setAccessibleName(f"{name} (page)")
            self._tabs.addButton(tab, place)
            tabs.addWidget(tab)
        tabs.addStretch(1)
        inside.addLayout(tabs)
        self.about, self.trial = About(), Trial(desk)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.about)
        self._pages.addWidget(self.trial)
        inside.addWidget(self._pages, 1)
        self._tabs.idClicked.connect(self._pages.setCurrentIndex)
        self._tabs.button(0).setChecked(True)

    def show_server(self, known: Known | None) -> None:
        self.about.show_server(known)
        self.trial.show_server(known)

    def show_trial(self) -> None:
        self._tabs.button(1).setChecked(True)
        self._pages.setCurrentIndex(1)


_FACTS_PX, _FACTS_MOST_PX = 312, 480
_FACTS_NARROW_PX, _FACTS_HIGH_PX, _CODE_HIGH_PX = 280, 240, 200


class Detail(QWidget):
    """Its tools apply to the selected server; only the user's own can be deleted."""

    reveal_requested = Signal()

    def __init__(self, desk: Desk, own: Owning) -> None:
        super().__init__()
        self._own = own
        self._narrow = self._stacked = False
        self.pane = pane = CodePane()
        pane.setMinimumWidth(220)
        self._duplicate = pane.add_tool("Duplicate to edit", "copy", self.duplicate)
        self._delete = pane.add_tool("Delete server (Del)", "trash-2", self.delete)
        reveal = self.reveal_requested.emit
        self._reveal = pane.add_tool("Open folder", "folder-open", reveal)
        self._facts = FactsCard(desk)
        self.trial = self._facts.trial
        across = self._across = row(self, gap=GAP)
        across.addWidget(self.pane, 1)
        across.addWidget(self._facts)

    def show_server(self, known: Known | None) -> None:
        self.pane.show_server(known)
        self._facts.show_server(known)
        self._duplicate.setVisible(known is not None and known.copyable)
        self._delete.setVisible(known is not None and known.own)
        self._reveal.setVisible(known is not None)

    def run_test(self) -> None:
        """Show the test and start it."""
        self._facts.show_trial()
        self.trial.start()

    def duplicate(self) -> None:
        """Ask for a name, and copy the chosen server into the user's folder."""
        if self.pane.known is not None:
            self._own.duplicate(self.pane.known)

    def delete(self) -> None:
        """Move the server to the trash."""
        if self.pane.known is not None:
            self._own.delete(self.pane.known)

    def menu(self, known: Known) -> QMenu:
        """Return the menu of the selected server; it is deleted when it is closed."""
        made = QMenu(self)
        made.addAction("Test", self.run_test).setEnabled(self.trial.go.isEnabled())
        made.addSeparator()
        made.addAction("Duplicate…", self.duplicate).setEnabled(known.copyable)
        made.addAction("Open folder", self.reveal_requested.emit)
        made.addAction("Delete", self.delete).setEnabled(known.own)
        made.aboutToHide.connect(made.deleteLater)
        return made

    def set_narrow(self, narrow: bool, *, stacked: bool) -> None:
        """`stacked`: facts and test stand below the code."""
        self._narrow, self._stacked = narrow, stacked
        lay(self._across, below=stacked)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _fit(self) -> None:
        least = _FACTS_NARROW_PX if self._narrow else _FACTS_PX
        wide = max(least, min(self.width() // 4, _FACTS_MOST_PX))
        widen(self._facts, wide, below=self._stacked)
        self._facts.setMinimumHeight(_FACTS_HIGH_PX * self._stacked)
        self.pane.setMinimumHeight(_CODE_HIGH_PX * self._stacked)

"""The selected server: its code, beside another server's, and its facts and test."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QWidget,
)

from app.context import Desk
from app.plain import tip
from app.servers.about import About
from app.servers.known import Known
from app.servers.own import Edits, Owning
from app.servers.pane import CodePane
from app.servers.trial import Trial
from app.stacking import lay, widen
from app.widgets import GAP, column, label, row


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
    """Its tools apply to the selected server; only the user's own can be edited."""

    beside_changed = Signal()
    """The code on the right has changed, or was closed."""
    reveal_requested = Signal()
    filled = Signal()
    """The code takes the whole page, or no longer does."""

    def __init__(self, desk: Desk, edits: Edits, own: Owning, beside: str) -> None:
        """`beside`: the key of the server to show on the right; empty: none."""
        super().__init__()
        self._own, self.beside = own, beside
        self._narrow = self._stacked = False
        self.pane = pane = CodePane(desk, edits, "Code")
        self._duplicate = pane.add_tool("Duplicate to edit", "copy", self.duplicate)
        self._delete = pane.add_tool("Delete server (Del)", "trash-2", self.delete)
        reveal = self.reveal_requested.emit
        self._reveal = pane.add_tool("Open folder", "folder-open", reveal)
        self._pin = pane.add_tool("Pin the code on the right (B)", "panel-right", self.pin)
        self._fill = pane.add_tool("Fill the window (F12)", "maximize", self.toggle_fill)
        self.fills = False
        self.other = CodePane(desk, edits, "Pinned code", reading=True)
        self.other.add_tool("Close the pinned code", "x", lambda: self.set_beside(None))
        self.other.hide()
        self._panes = QSplitter(Qt.Orientation.Horizontal)
        self._panes.setChildrenCollapsible(False)
        self._panes.setHandleWidth(GAP)
        for each in (self.pane, self.other):
            each.setMinimumWidth(220)
            self._panes.addWidget(each)
        self._same = label("", 12, tone="muted", wrap=True)
        self._same.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._same.setMinimumWidth(220)
        self._same.hide()
        self._panes.addWidget(self._same)
        self._facts = FactsCard(desk)
        self.trial = self._facts.trial
        pane.save_requested.connect(own.save)
        self.trial.unsaved = lambda known: bool(edits.of(known))
        self.trial.save_requested.connect(
            lambda known: own.save(known, lambda: self.trial.go_on(known))
        )
        across = self._across = row(self, gap=GAP)
        across.addWidget(self._panes, 1)
        across.addWidget(self._facts)

    def show_server(self, known: Known | None) -> None:
        self.pane.show_server(known)
        self._facts.show_server(known)
        self._show_beside()
        self._duplicate.setVisible(known is not None and known.copyable)
        self._delete.setVisible(known is not None and known.own)
        for each in (self._reveal, self._pin, self._fill):
            each.setVisible(known is not None)

    def set_beside(self, known: Known | None) -> None:
        """Show a server's code on the right; None: close it."""
        self.beside = known.key if known else ""
        self.other.show_server(known)
        self._show_beside()
        self.beside_changed.emit()

    def _show_beside(self) -> None:
        """Show the code on the right unless it is the same as on the left."""
        chosen, pinned = self.pane.known, self.other.known
        was = self.other.isHidden() and self._same.isHidden()
        same = pinned is not None and chosen is not None and chosen.key == pinned.key
        self.other.setVisible(pinned is not None and not same)
        self._same.setVisible(same)
        if pinned is not None:
            self._same.setText(f"{pinned.name} is pinned. Choose another server to see both.")
            if was:
                self._panes.setSizes([500, 500, 500])

    def find_beside(self, servers: Sequence[Known]) -> None:
        """Return the server on the right in its present state, if it still exists."""
        self.set_beside(next((known for known in servers if known.key == self.beside), None))

    def pin(self) -> None:
        """Keep the visible code on the right, next to the server selected next."""
        known = self.pane.known
        if known is not None:
            self.set_beside(None if known.key == self.beside else known)

    def toggle_fill(self) -> None:
        self.fill(not self.fills)

    def fill(self, on: bool) -> None:
        """Give all room of the page to the code, or end that."""
        if on == self.fills or (on and self.pane.known is None):
            return
        self.fills = on
        name = "Show the table again (F12)" if on else "Fill the window (F12)"
        self._fill.setAccessibleName(name.partition(" (")[0])
        self._fill.setToolTip(tip(name))
        self._facts.setVisible(not on)
        self.filled.emit()
        self.pane.code.setFocus()

    def run_test(self) -> None:
        """Show the test and start it."""
        self.fill(False)
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
        made.addAction("Pin code on the right", self.pin)
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
        self._panes.setMinimumHeight(_CODE_HIGH_PX * self._stacked)

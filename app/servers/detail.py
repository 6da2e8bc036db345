"""The selected server: its code, facts and test."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QStackedWidget, QWidget

from app.context import Desk
from app.scrolling import lay, stacked, widen
from app.servers.about import About
from app.servers.code import CodePane
from app.servers.known import Known
from app.servers.trial import Trial
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
        self.about, self.trial = About(), Trial(desk)
        pages = QStackedWidget()
        for place, (name, page) in enumerate({"About": self.about, "Test": self.trial}.items()):
            tab = QPushButton(name)
            tab.setCheckable(True)
            tab.setProperty("kind", "tab")
            tab.setAccessibleName(f"{name} (page)")
            self._tabs.addButton(tab, place)
            tabs.addWidget(tab)
            pages.addWidget(page)
        tabs.addStretch(1)
        inside.addLayout(tabs)
        inside.addWidget(pages, 1)
        self._tabs.idToggled.connect(lambda place, on: pages.setCurrentIndex(place) if on else None)
        self._tabs.button(0).setChecked(True)

    def show_server(self, known: Known | None) -> None:
        self.about.show_server(known)
        self.trial.show_server(known)

    def show_trial(self) -> None:
        self._tabs.button(1).setChecked(True)


class Tool(NamedTuple):
    """What can be done with the selected server."""

    name: str
    icon: str
    do: Callable[[], object]
    possible: Callable[[Known], bool]


_FACTS_PX, _FACTS_MOST_PX = 296, 480
_FACTS_HIGH_PX, _CODE_HIGH_PX = 240, 200


class Detail(QWidget):
    """Its tools apply to the selected server."""

    def __init__(self, desk: Desk, tools: list[Tool]) -> None:
        super().__init__()
        self.pane = pane = CodePane()
        pane.setMinimumWidth(220)
        self._tools = [(pane.add_tool(t.name, t.icon, t.do), t) for t in tools]
        self._facts = FactsCard(desk)
        self.trial = self._facts.trial
        across = self._across = row(self, gap=GAP)
        across.addWidget(self.pane, 1)
        across.addWidget(self._facts)

    def show_server(self, known: Known | None) -> None:
        self.pane.show_server(known)
        self._facts.show_server(known)
        for button, each in self._tools:
            button.setVisible(known is not None and each.possible(known))

    def run_test(self) -> None:
        """Show the test and start it."""
        self._facts.show_trial()
        self.trial.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window, facts and test stand below the code."""
        below = stacked(self.width())
        lay(self._across, below=below)
        wide = max(_FACTS_PX, min(self.width() // 4, _FACTS_MOST_PX))
        widen(self._facts, wide, below=below)
        self._facts.setMinimumHeight(_FACTS_HIGH_PX * below)
        self.pane.setMinimumHeight(_CODE_HIGH_PX * below)

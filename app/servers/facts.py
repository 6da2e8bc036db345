"""The facts about the selected server, and its test: two tabs."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QStackedWidget

from app.context import Desk
from app.servers.about import About
from app.servers.known import Known
from app.servers.trial import Trial
from app.widgets import column, row


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

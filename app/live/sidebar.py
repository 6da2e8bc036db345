"""The column beside the charts: the legend, the server's machine, the notes."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QWidget

from app.charts.trio import Trio
from app.live.event_log import Happened
from app.live.legend import Legend
from app.live.peaks import Peaks
from app.live.vitals import Vitals
from app.theme import Theme
from app.widgets import GAP, column, row

_LOWER, _BOTH = 234, 430
"""Heights the two lower cards need: one of them, both."""
_LOW = 420
"""Below this height there is room for one card only."""
_TITLES = ("Servers", "Machine", "Events", "Peak under SLO")


class Side(QFrame):
    """Shows tabs where there is no space for all cards."""

    WIDTH = 330

    def __init__(self, trio: Trio, theme: Theme, *, live: bool) -> None:
        super().__init__()
        self.setObjectName("side")
        self._theme = theme
        self._drawer = False
        self.legend = Legend(trio, theme, live=live)
        self.vitals = Vitals(theme)
        self.happened = Happened(theme)
        self.peaks = Peaks(trio, theme)
        self._trio = trio
        self._searched = False
        self._inside = inside = column(self, gap=GAP)
        self._tabs = QWidget()
        across = row(self._tabs, gap=4)
        self._group = QButtonGroup(self)
        for place, title in enumerate(_TITLES):
            tab = QPushButton(title)
            tab.setCheckable(True)
            tab.setProperty("kind", "tab")
            tab.setAccessibleName(title)
            self._group.addButton(tab, place)
            across.addWidget(tab)
        across.addStretch(1)
        inside.addWidget(self.legend)
        inside.addWidget(self._tabs)
        inside.addWidget(self.vitals, 3)
        inside.addWidget(self.happened, 2)
        inside.addWidget(self.peaks, 3)
        self._chosen = 1 if live else 2
        self._group.idClicked.connect(self._choose)
        self.legend.grown.connect(self._arrange)
        trio.highlighted.connect(self.vitals.point_to)
        self._arrange()

    def set_drawer(self, drawer: bool) -> None:
        """Switch to a drawer, which lies over the charts and has a background of its own."""
        self._drawer = drawer
        margin = GAP if drawer else 0
        self._inside.setContentsMargins(margin, margin, margin, margin)
        self.setFixedWidth(self.WIDTH + 2 * margin)
        self.set_theme(self._theme)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        ground = f"background: {theme.bg}; border: 1px solid {theme.line2}; border-radius: 10px;"
        self.setStyleSheet(f"QFrame#side {{ {ground if self._drawer else ''} }}")

    def clear(self) -> None:
        self.happened.clear()
        self.vitals.clear()

    def refresh(self) -> None:
        self.legend.refresh()
        self.vitals.refresh()
        self.happened.refresh()
        self.peaks.refresh()
        if self._searched != bool(self._trio.model.axis.bounds):
            self._searched = not self._searched
            self._chosen = 3 if self._searched else 2
            self._arrange()
        self._name_tab()

    def _name_tab(self) -> None:
        """Set the tab of the notes, with the number that a reader must know; shorter beside two
        others.
        """
        grave, title = self.happened.grave, _TITLES[2]
        warnings = f"{grave} warning{'s' if grave != 1 else ''}"
        heard = f"{title}, {warnings}" if grave else title
        said = warnings if self.height() < _LOW else f"{title} · {warnings}"
        tab = self._group.button(2)
        if (tab.text(), tab.accessibleName()) != (said if grave else title, heard):
            tab.setText(said if grave else title)
            tab.setAccessibleName(heard)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        self._name_tab()

    def _choose(self, place: int) -> None:
        self._chosen = place
        self._arrange()

    def _legend_height(self) -> int:
        """Return what the legend may have: the peaks of a search need the room more."""
        legend = self.legend
        return legend.least_height() if self._searched else legend.whole_height()

    def _arrange(self) -> None:
        low = self.height() < _LOW
        left = self.height() - 2 * self._inside.contentsMargins().top() - GAP
        least = max(card.minimumSizeHint().height() for card in (self.vitals, self.happened))
        lower = max(_LOWER, self._tabs.sizeHint().height() + 2 * GAP + least)
        legend = left - 30 if low else min(self._legend_height(), max(60, left - lower))
        both = not low and left - legend >= _BOTH and not self._searched
        self.legend.setFixedHeight(max(60, legend))
        self._tabs.setVisible(not both)
        self._group.button(0).setVisible(low)
        chosen = self._chosen if low else max(1, self._chosen)
        self._group.button(chosen).setChecked(True)
        self.legend.setVisible(not low or chosen == 0)
        self.vitals.setVisible(both or chosen == 1)
        self.happened.setVisible(both or chosen == 2)
        self.peaks.setVisible(chosen == 3)
        self._group.button(3).setVisible(self._searched)
        # With one card the tabs stand above it.
        at = self._inside.indexOf(self._tabs)
        wanted = 0 if low else 1
        if at != wanted:
            self._inside.removeWidget(self._tabs)
            self._inside.insertWidget(wanted, self._tabs)

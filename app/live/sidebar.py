"""The column beside the charts: the legend, the server's machine, the notes, the audits."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QWidget

from app.charts.trio import Trio
from app.live.checklist import Checklist
from app.live.event_log import EventLog
from app.live.legend import Legend
from app.live.peaks import Peaks
from app.live.then import Then
from app.live.tools import Tools
from app.live.vitals import Vitals
from app.plain import tip
from app.theme import Theme, icon
from app.widgets import GAP, column, row

_LOWER, _BOTH = 234, 464
"""Heights the two lower cards need: one of them, both."""
_ROOMY = 3
"""More tabs would be cut if they were not closer together."""
_LOW = 420
"""Below this height there is room for one card only."""
_TITLES = ("Servers", "Machine", "Events", "Peak", "Audits", "Published", "Tools")
_SERVERS, _MACHINE, _EVENTS, _PEAK, _AUDITS, _THEN, _TOOLS = range(7)
_NAMES = {_PEAK: "Peak under SLO", _THEN: "Published, and now", _TOOLS: "Load tools"}
"""Of tabs whose titles are shorter."""


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
        self.events = EventLog(theme)
        self.peaks = Peaks(trio, theme)
        self.checklist = Checklist(theme)
        self.then = Then(trio, theme)
        self.tools = Tools(trio)
        self._trio = trio
        self._searched = False
        self._inside = inside = column(self, gap=GAP)
        self._tabs = QWidget()
        self._rows = [row(gap=4), row(gap=4)]
        lines = column(self._tabs, gap=4)
        for each in self._rows:
            lines.addLayout(each)
        self._group = QButtonGroup(self)
        for place, title in enumerate(_TITLES):
            tab = QPushButton(title)
            tab.setCheckable(True)
            tab.setProperty("kind", "tab")
            tab.setAccessibleName(_NAMES.get(place, title))
            tab.setToolTip(tip(_NAMES.get(place, "")))
            self._group.addButton(tab, place)
            self._rows[0].addWidget(tab)
        for each in self._rows:
            each.addStretch(1)
        inside.addWidget(self.legend)
        inside.addWidget(self._tabs)
        inside.addWidget(self.vitals, 3)
        inside.addWidget(self.events, 2)
        inside.addWidget(self.peaks, 3)
        inside.addWidget(self.checklist, 2)
        inside.addWidget(self.then, 3)
        inside.addWidget(self.tools, 3)
        self._chosen = _MACHINE if live else _EVENTS
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
        for place in (_EVENTS, _AUDITS):
            self._group.button(place).setAccessibleName("")  # so that its sign is made anew
        self.setStyleSheet(f"QFrame#side {{ {ground if self._drawer else ''} }}")

    def clear(self) -> None:
        self.events.clear()
        self.vitals.clear()
        self.checklist.display(())

    def refresh(self) -> None:
        self.legend.refresh()
        self.vitals.refresh()
        self.events.refresh()
        self.peaks.refresh()
        self.checklist.refresh()
        known = self.then.known, self.tools.known
        self.then.refresh()
        self.tools.refresh()
        if known != (self.then.known, self.tools.known):
            self._arrange()
        if self._searched != bool(self._trio.model.axis.bounds):
            self._searched = not self._searched
            self._chosen = _PEAK if self._searched else _EVENTS
            self._arrange()
        self._name_tabs()

    def _name_tabs(self) -> None:
        """Mark the tabs behind which there is something that a reader must know: by a sign, and by
        how many, where there is space.
        """
        count, failed = self.events.warnings, self.checklist.failed
        self._name(_EVENTS, count, f"{count} warning{'s' * (count != 1)}", "triangle-alert", "warn")
        self._name(_AUDITS, failed, f"{failed} failed", "circle-x", "bad")

    def _name(self, place: int, count: int, problems: str, sign: str, tone: str) -> None:
        title, tab = _TITLES[place], self._group.button(place)
        many = self._searched or (self.then.known and self.tools.known)
        tight = self.height() < _LOW or many
        text = f"{title} · {count}" if count and not tight else title
        accessible = f"{title}, {problems}" if count else title
        if (tab.text(), tab.accessibleName()) == (text, accessible):
            return
        tab.setText(text)
        tab.setAccessibleName(accessible)
        tab.setToolTip(tip(problems if count else ""))
        tab.setIcon(icon(sign, getattr(self._theme, tone), 14) if count else QIcon())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        self._name_tabs()

    def _break(self, tabs: Sequence[QPushButton]) -> None:
        """Put tabs that have no room side by side into two rows."""
        first, second = self._rows
        room = self.width() - 2 * self._inside.contentsMargins().left()
        needed = sum(tab.sizeHint().width() + first.spacing() for tab in tabs)
        upper = tabs if needed <= room else tabs[: -(-len(tabs) // 2)]
        for place, tab in enumerate(tabs):
            line, at = (first, place) if tab in upper else (second, place - len(upper))
            if line.indexOf(tab) != at:
                first.removeWidget(tab)
                second.removeWidget(tab)
                line.insertWidget(at, tab)

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
        least = max(card.minimumSizeHint().height() for card in (self.vitals, self.events))
        lower = max(_LOWER, self._tabs.sizeHint().height() + 2 * GAP + least)
        legend = left - 30 if low else min(self._legend_height(), max(60, left - lower))
        both = not low and left - legend >= _BOTH and not self._searched
        self.legend.setFixedHeight(max(60, legend))
        self._group.button(_SERVERS).setVisible(low)
        self._group.button(_MACHINE).setVisible(not both)
        self._group.button(_PEAK).setVisible(self._searched)
        self._group.button(_THEN).setVisible(self.then.known)
        self._group.button(_TOOLS).setVisible(self.tools.known)
        tabs = [tab for tab in self._group.buttons() if not tab.isHidden()]
        for tab in tabs:
            tab.setStyleSheet("padding: 0 5px;" if len(tabs) > _ROOMY else "")
        self._break(tabs)
        least = _SERVERS if low else _EVENTS if both else _MACHINE
        chosen = max(least, self._chosen)
        if self._group.button(chosen).isHidden():
            chosen = _EVENTS
        self._group.button(chosen).setChecked(True)
        self.legend.setVisible(not low or chosen == _SERVERS)
        self.vitals.setVisible(both or chosen == _MACHINE)
        self.events.setVisible(chosen == _EVENTS)
        self.peaks.setVisible(chosen == _PEAK)
        self.checklist.setVisible(chosen == _AUDITS)
        self.then.setVisible(chosen == _THEN)
        self.tools.setVisible(chosen == _TOOLS)
        # The tabs stand above the cards that they choose from.
        at = self._inside.indexOf(self._tabs)
        index = 0 if low else 2 if both else 1
        if at != index:
            self._inside.removeWidget(self._tabs)
            self._inside.insertWidget(index, self._tabs)

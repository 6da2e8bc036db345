"""The column beside the charts: the legend, the server's machine, the events."""

from __future__ import annotations

from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QPushButton, QWidget

from app.charts.trio import Trio
from app.live.events import EventLog
from app.live.host_panel import HostPanel
from app.live.legend import Legend
from app.live.published_panel import PublishedPanel, ToolsPanel
from app.plain import tip
from app.theme import Theme, current, icon
from app.widgets import GAP, column, row

_LOWER = 234
"""The height that a lower card needs."""
_ROOMY = 3
"""More tabs would be cut if they were not closer together."""
_LOW = 420
"""Below this height there is room for one card only."""
_TITLES = ("Servers", "Machine", "Events", "Published", "Tools")
_SERVERS, _MACHINE, _EVENTS, _PUBLISHED, _TOOLS = range(5)
_NAMES = {_PUBLISHED: "Published, and now", _TOOLS: "Load tools"}
"""Of tabs whose titles are shorter."""


class Side(QFrame):
    """Shows tabs where there is no space for all cards."""

    WIDTH = 330

    def __init__(self, trio: Trio, *, live: bool) -> None:
        super().__init__(objectName="side")
        self._drawer = False
        self.legend = Legend(trio, live=live)
        self.vitals = HostPanel()
        self.events = EventLog()
        self.published = PublishedPanel(trio)
        self.tools = ToolsPanel(trio)
        self._trio = trio
        self._begun = False
        """Whether there is anything to tell besides the servers."""
        self._cards: dict[int, QWidget] = {
            _MACHINE: self.vitals,
            _EVENTS: self.events,
            _PUBLISHED: self.published,
            _TOOLS: self.tools,
        }
        self._tabs = QWidget()
        self._group = QButtonGroup(self)
        for place, title in enumerate(_TITLES):
            tab = QPushButton(title, checkable=True, accessibleName=_NAMES.get(place, title))
            tab.setProperty("kind", "tab")
            tab.setToolTip(tip(_NAMES.get(place, "")))
            self._group.addButton(tab, place)
        row(self._tabs, *self._group.buttons(), None, gap=4)
        cards = ((card, 1) for card in self._cards.values())
        self._inside = column(self, self.legend, self._tabs, *cards, gap=GAP)
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
        self.set_theme(current())

    def set_theme(self, theme: Theme) -> None:
        ground = f"background: {theme.bg}; border: 1px solid {theme.line2}; border-radius: 10px;"
        self._group.button(_EVENTS).setAccessibleName("")  # so that its sign is made anew
        self.setStyleSheet(f"QFrame#side {{ {ground if self._drawer else ''} }}")

    def clear(self) -> None:
        self.events.clear()
        self.vitals.clear()

    def refresh(self) -> None:
        cards = self.legend, self.vitals, self.events, self.published, self.tools
        for each in cards:
            each.refresh()
        before = self._offered
        model = self._trio.model
        self._begun = model.over or model.sweeping is not None or self.events.warnings > 0
        self._offered = self._begun, self.published.known, self.tools.known
        if self._offered != before:
            self._arrange()
        self._name_events()

    def _name_events(self) -> None:
        """Mark the tab behind which there is something that a reader must know: by a sign, and by
        how much, where there is space.
        """
        count, title, tab = self.events.warnings, _TITLES[_EVENTS], self._group.button(_EVENTS)
        many = self.published.known and self.tools.known
        text = f"{title} · {count}" if count and self.height() >= _LOW and not many else title
        problems = f"{count} warning{'s' * (count != 1)}" if count else ""
        accessible = ", ".join(filter(None, (title, problems)))
        if (tab.text(), tab.accessibleName()) == (text, accessible):
            return
        tab.setText(text)
        tab.setAccessibleName(accessible)
        tab.setToolTip(tip(problems))
        tab.setIcon(icon("triangle-alert", current().warn, 14) if count else QIcon())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._arrange()
        self._name_events()

    def _choose(self, place: int) -> None:
        self._chosen = place
        self._arrange()

    def _arrange(self) -> None:
        low = self.height() < _LOW
        left = self.height() - 2 * self._inside.contentsMargins().top() - GAP
        least = max(card.minimumSizeHint().height() for card in (self.vitals, self.events))
        lower = max(_LOWER, self._tabs.sizeHint().height() + 2 * GAP + least)
        legend = left - 30 if low else min(self.legend.whole_height(), max(60, left - lower))
        legend = legend if self._begun else left + GAP
        self.legend.setFixedHeight(max(60, legend))
        self._group.button(_SERVERS).setVisible(low)
        self._group.button(_PUBLISHED).setVisible(self.published.known)
        self._group.button(_TOOLS).setVisible(self.tools.known)
        tabs = [tab for tab in self._group.buttons() if not tab.isHidden()]
        for tab in tabs:
            tab.setStyleSheet("padding: 0 5px;" if len(tabs) > _ROOMY else "")
        chosen = max(_SERVERS if low else _MACHINE, self._chosen)
        if self._group.button(chosen).isHidden():
            chosen = _EVENTS
        self._group.button(chosen).setChecked(True)
        self.legend.setVisible(not low or chosen == _SERVERS or not self._begun)
        self._tabs.setVisible(self._begun)
        for place, card in self._cards.items():
            card.setVisible(self._begun and chosen == place)
        # The tabs stand above the cards that they choose from.
        at = self._inside.indexOf(self._tabs)
        index = 0 if low else 1
        if at != index:
            self._inside.removeWidget(self._tabs)
            self._inside.insertWidget(index, self._tabs)

    _offered: tuple[bool, ...] = ()
    """What the tabs depend on."""

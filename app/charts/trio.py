"""The linked trio: successful replies, response time and errors over one offered rate; its menu."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf, isnan, nan

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.charts import note_text, words
from app.charts.accessible_table import PointsTable
from app.charts.crosshair import Crosshair
from app.charts.model import ChartModel
from app.charts.plot import second_percentile
from app.charts.pointing import LOG_KEYS, HoverCard, Pointing
from app.charts.series import Quantity
from app.charts.sizes import Sizes
from app.charts.stack import Stack
from app.charts.view_state import ACROSS, Look, Showing
from app.charts.zooming import Zooming
from app.painted import Painted
from app.theme import Theme, icon
from app.widgets import button, tool
from workbench.analysis.results import PERCENTILES, Clock, View


class Trio(Stack):
    """A stack with one cursor: a point is selected by mouse and keys, and shown in a card."""

    note_wanted = Signal(str, float)
    """A server (empty: all) and an x, to add a note there or to edit it."""
    menu_wanted = Signal(QPoint)
    """At a place on the screen."""

    def __init__(
        self,
        model: ChartModel,
        theme: Theme,
        sizes: Sizes | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(model, theme, sizes, parent)
        self.notable = False
        """Notes can be put on these charts."""
        self.pointing = Pointing(self)
        self.crosshair = Crosshair(self, self.pointing)
        for chart in self.charts.values():
            chart.hovered.connect(self._on_hovered)
            chart.crossed.connect(self.crosshair.cross)
            chart.picked.connect(self._on_picked)
            chart.menu_wanted.connect(self.menu_wanted)
        self.zooming = Zooming(list(self.charts.values()), self)
        self.zooming.wanted.connect(self.show_part)
        self.zooming.undone.connect(self.pointing.unpick)
        self._ring = _Ring(self, theme)
        self.spoken = PointsTable(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Charts: arrow keys move between servers and points")

    def _on_hovered(self, server: str, rate: float) -> None:
        self.pointing.hover(server, rate)
        self.crosshair.give_way(server)

    def _on_picked(self, server: str, rate: float) -> None:
        self.crosshair.hide()
        self.pointing.pick(server, rate)

    @property
    def card(self) -> HoverCard:
        """Of the selected point."""
        return self.pointing.card

    def highlight(self, server: str, rate_per_s: float = nan) -> None:
        """Highlight a server's line and dim the others (empty: none); with a rate, show that point
        in the card and put the cursor there.
        """
        self.pointing.pin(server, rate_per_s)

    def go_to(self, server: str, rate_per_s: float) -> None:
        """Highlight a point from elsewhere: show its server, and everything if a zoom leaves it
        out. NaN: the server as a whole.
        """
        self.set_shown(server, True)
        low, high = self.showing.zoom.get(ACROSS, (-inf, inf))
        seen = isnan(rate_per_s) or low <= rate_per_s <= high
        if not seen or self.showing.zoom.keys() - {ACROSS}:
            self.zooming.reset()
        self.crosshair.hide()
        self.highlight(server, rate_per_s)

    def refresh(self) -> bool:
        drawn = super().refresh()
        if drawn:
            self.spoken.renew()
            self.pointing.again()
            self.crosshair.again()
        return drawn

    def set_model(self, model: ChartModel) -> None:
        self.pointing.forget()
        self.crosshair.hide()
        super().set_model(model)

    def project(self, look: Look) -> None:
        server = self.pointing.server
        self.pointing.pin("")
        super().project(look)
        self.pointing.pin(server)

    def set_shown(self, server: str, shown: bool) -> None:
        if not shown:
            self.pointing.leave(server)
        super().set_shown(server, shown)
        self.spoken.renew()

    def set_view(self, view: View) -> None:
        super().set_view(view)
        self.spoken.renew()
        self.pointing.point_to(self.pointing.server, self.pointing.rate)
        self.crosshair.again()

    def show_part(self, showing: Showing) -> None:
        super().show_part(showing)
        # The card may cover what it did not before.
        self.pointing.place_card()
        self.crosshair.again()

    def set_theme(self, theme: Theme) -> None:
        self._ring.set_theme(theme)
        super().set_theme(theme)
        self.pointing.renew_card()
        self.crosshair.renew()

    def set_sizes(self, sizes: Sizes) -> None:
        super().set_sizes(sizes)
        self.pointing.renew_card()
        self.crosshair.renew()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ring.setGeometry(self.rect())
        # The positions of the lines are known only after the next event.
        QTimer.singleShot(0, self, self.pointing.place_card)
        QTimer.singleShot(0, self, self.crosshair.again)

    def target(self) -> tuple[str, float] | None:
        """Return where on the model's own axis the cursor is: a server (empty: none) and an x;
        None: nowhere.
        """
        if self.drawn is not self.model:
            return None
        first = self.charts[Quantity.REPLIES]
        return None if isnan(first.cursor_rate) else (first.highlighted, first.cursor_rate)

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key, wherever the focus is; False: it has no meaning here."""
        target = self.target() if self.notable else None
        if event.key() == Qt.Key.Key_N and target and not event.modifiers():
            self.note_wanted.emit(*target)
            return True
        if self.zooming.key(event) or self.crosshair.key(event):
            return True
        known = self.pointing.key(event)
        self.spoken.choose(self.pointing.server, self.pointing.rate)
        self.crosshair.follow()
        return known

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Of the keyboard: the mouse's comes from a chart."""
        middle = self.charts[Quantity.REPLIES].geometry().center()
        self.menu_wanted.emit(self.mapToGlobal(middle))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # With nothing pinned, left and right go to the page first: they step through a film.
        sideways = event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        mine = (
            self.pointing.server or not sideways or event.modifiers() or not isnan(self.crosshair.x)
        )
        if mine and self.key(event):
            self._ring.setVisible(self.hasFocus())
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        reason = Qt.FocusReason
        by_key = (reason.TabFocusReason, reason.BacktabFocusReason, reason.ShortcutFocusReason)
        self._ring.setVisible(event.reason() in by_key)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._ring.hide()


class _Ring(Painted):
    """Draws the focus ring of the charts."""

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        super().__init__(theme, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paint(self, painter: QPainter) -> None:
        painter.setPen(QPen(QColor(self.theme.focus), 2))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)


CLOCKS: dict[Clock, str] = {
    "latency": "Latency (from scheduled time)",
    "service": "Service time (from send)",
}


def open_menu(trio: Trio, at: QPoint) -> QMenu:
    """Open the menu at a place on the screen."""
    menu = QMenu(trio)
    menu.setAccessibleName("Charts")
    zooming = trio.zooming

    def add(text: str, keys: str, do: Callable[[], object], *, usable: bool = True) -> QAction:
        action = menu.addAction(f"{text}\t{keys}" if keys else text)
        action.setEnabled(usable)
        action.triggered.connect(lambda _checked=False: do())
        return action

    def check(inside: QMenu, text: str, on: bool, choose: Callable[[bool], object]) -> None:
        action = inside.addAction(text)
        action.setCheckable(True)
        action.setChecked(on)
        action.triggered.connect(choose)

    add("Zoom in", "Ctrl++", zooming.closer)
    add("Zoom out", "Ctrl+−", zooming.farther, usable=bool(trio.showing.zoom))
    add("Show everything", "Ctrl+0", zooming.reset, usable=bool(trio.showing.zoom))
    menu.addSeparator()
    titles = {ACROSS: trio.drawn.axis.label}
    titles |= {chart.metric: chart.title_text()[0] for chart in trio.charts.values()}
    for key, title in titles.items():
        text = f"Logarithmic {_within(title)}\t{LOG_KEYS.get(key, 'E')}"
        check(menu, text, trio.is_log(key), lambda on, k=key: trio.set_log(on, k))
    menu.addSeparator()
    inside = menu.addMenu("Percentile")
    for each in PERCENTILES:
        chosen = each == trio.view.percentile
        check(inside, words.percentile(each), chosen, lambda _, p=each: trio.set_percentile(p))
    inside = menu.addMenu("Response time")
    for clock, text in CLOCKS.items():
        chosen = clock == trio.view.clock
        check(inside, text, chosen, lambda _, c=clock: trio.set_clock(c))
    second = words.percentile(second_percentile(trio.view).percentile)
    check(menu, f"Band from {second}\tB", trio.showing.band, trio.set_band)
    if trio.notable:
        menu.addSeparator()
        target = trio.target()
        where = f" at {note_text.place_of(trio.model, *target)}" if target else ""
        do = partial(trio.note_wanted.emit, *target) if target else trio.setFocus
        add(f"Note{where}…", "N", do, usable=target is not None)
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(at)
    return menu


def _within(title: str) -> str:
    """Return a title as it is written within a sentence: "CPU per call", "response time"."""
    return title if title[:2].isupper() else f"{title[:1].lower()}{title[1:]}"


class Corner(QWidget):
    """Above the charts: what ends a zoom, and the menu."""

    def __init__(self, trio: Trio) -> None:
        super().__init__()
        self._trio = trio
        inside = QHBoxLayout(self)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(6)
        self._reset = button("Reset zoom", on_click=trio.zooming.reset)
        self._menu = tool(
            "Charts: zoom, scales and response time", "sliders-horizontal", self._open
        )
        for each, padding in ((self._reset, "0 8px"), (self._menu, "0")):
            each.setStyleSheet(f"padding: {padding}; font-size: 12px; min-height: 22px;")
            inside.addWidget(each)
        self._menu.setFixedWidth(30)
        self.set_theme(trio.theme)
        trio.view_changed.connect(self._refresh)
        self._refresh()

    def set_theme(self, theme: Theme) -> None:
        self._menu.setIcon(icon("sliders-horizontal", theme.soft, 14))

    def _refresh(self) -> None:
        self._reset.setVisible(bool(self._trio.showing.zoom))

    def _open(self) -> None:
        open_menu(self._trio, self._menu.mapToGlobal(QPoint(0, self._menu.height())))

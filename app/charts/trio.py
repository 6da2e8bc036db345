"""The linked trio: successful replies, response time and errors of one model over one offered rate,
one above another, with one cursor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from typing import Any

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QFrame, QWidget

from app.charts.accessible_table import PointsTable
from app.charts.chart import Chart
from app.charts.drawing import text_width
from app.charts.model import ChartModel
from app.charts.pointing import Crosshair, Pointing
from app.charts.projection import Projection
from app.charts.series import Quantity
from app.charts.sizes import GAP, LEAST_OF_THREE, Sizes, gutter, heights, names_fit
from app.charts.view_state import ACROSS, Look, Showing
from app.charts.zooming import Zooming
from app.theme import Theme, Weight, font
from workbench.analysis.evidence import SUSTAINED_SHARE
from workbench.analysis.series import View
from workbench.sessions.chart_notes import ChartNote

_NARROWEST, _LEAST, _LEAST_OF_ONE = 420, 190, 160
"""Pixels: the width, the height of several charts and of a single one."""
_NO_NAMES = 14.0
"""Unscaled, right of bars, which have their names below them."""
_RING = "border: 2px solid {0.focus}; border-radius: 6px;"
_BESIDE_CURSOR = 14.0
"""Unscaled, from the cursor to a card: more than a marker needs."""


class Trio(QWidget):
    """Draws what the model holds, live and replayed alike, or another look at it. Feed the model,
    then call `refresh` (about ten times a second is enough): it repaints only what has changed.
    """

    highlighted = Signal(str)
    """The highlighted server; empty: none."""
    visibility_changed = Signal(str, bool)
    view_changed = Signal()
    """The response time, the scales, the part or the charts that are shown have changed."""
    note_wanted = Signal(str, float)
    """A server (empty: all) and an x, to add a note there or to edit it."""
    menu_wanted = Signal(QPoint)
    """At a place on the screen."""

    def __init__(self, model: ChartModel, theme: Theme) -> None:
        super().__init__(focusPolicy=Qt.FocusPolicy.StrongFocus)
        self.model = model
        self.drawn: ChartModel | Projection = model
        """What the charts draw: the model itself, over its own axis, or another look at it."""
        self.look = Look()
        self.notes: Sequence[ChartNote] = ()
        self._own_scale: bool | None = None
        """Of the model's own axis, as the user has chosen it."""
        self.theme, self.sizes = theme, Sizes()
        self.view = View()
        self.showing = Showing()
        """Which part is shown, and on which scales."""
        self._hidden: set[str] = set()
        self.requested_charts: tuple[Quantity, ...] = tuple(Quantity)
        """From the top, where there is height for all."""
        self.shown_charts = self.requested_charts
        self._second = Quantity.TIME
        self._room: tuple[tuple[str, ...], int, bool] = (), 0, False
        """By what it is shared out: the visible names, of how many servers at their lines, and
        whether all servers answered all that was offered."""
        self._drawn_version = -1
        self.paused = False
        """No point is running; one waits for the user."""
        self.charts = {each: Chart(model, each, theme, self.sizes) for each in Quantity}
        for chart in self.charts.values():
            chart.setParent(self)
            chart.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._name(chart)
        self.notable = False
        """Notes can be put on these charts."""
        self.pointing = Pointing(self)
        self.crosshair = Crosshair(self, self.pointing)
        for chart in self.charts.values():
            chart.hovered.connect(self._on_hovered)
            chart.crossed.connect(self.crosshair.cross)
            chart.picked.connect(self._on_picked)
            chart.double_clicked.connect(self.pointing.unpick)  # its first click selects nothing
            chart.menu_wanted.connect(self.menu_wanted)
        self.zooming = Zooming(self)
        self._ring = QFrame(self, styleSheet=_RING.format(theme))
        self._ring.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._ring.hide()
        self.spoken = PointsTable(self)
        self.setAccessibleName("Charts: arrow keys move between servers and points")

    # Display

    def _name(self, chart: Chart) -> None:
        name = f"{chart.title_text()[0]} over the {self.drawn.axis.name}"
        if name != chart.accessibleName():
            chart.setAccessibleName(name)

    def refresh(self) -> None:
        """Draw the changes of the model since the last call."""
        changed = self._drawn_version != self.model.version
        if not changed and self.model.running is None:
            return
        self._drawn_version = self.model.version
        self._make_room()
        for chart in self.charts.values():
            self._name(chart)
            chart.refresh()
        self.spoken.renew()
        self.pointing.again()
        self.crosshair.again()

    def set_model(self, model: ChartModel) -> None:
        """Draw another session, or the same one from its start; hidden servers stay hidden."""
        self.pointing.forget()
        self.crosshair.hide()
        self.model = model
        self.drawn = self.look.of(model) or model
        self.drawn.leave_out(self._hidden)
        for chart in self.charts.values():
            chart.set_model(self.drawn)
        self._lay_out()
        self._drawn_version = -1
        self.refresh()

    def project(self, look: Look) -> None:
        """Draw another look at the model, now and after `set_model`, without a zoom."""
        server = self.pointing.server
        self.pointing.pin("")
        if self.drawn is self.model:
            self._own_scale = self.showing.log.get(ACROSS)
        self.look = look
        self.drawn = look.of(self.model) or self.model
        own = self._own_scale if self.drawn is self.model else None
        self.show_part(self.showing.elsewhere(own))
        self.set_notes(self.notes)
        self.set_model(self.model)
        known = [metric.key for metric in self.drawn.metrics]
        if self.view.metric and self.view.metric not in known:
            self.set_view(metric="")
        self.view_changed.emit()
        self.pointing.pin(server)

    def toggle(self, server: str) -> None:
        self.set_shown(server, server in self._hidden)

    def set_shown(self, server: str, shown: bool) -> None:
        if not shown:
            self.pointing.leave(server)
        (self._hidden.discard if shown else self._hidden.add)(server)
        self._hide()
        self.visibility_changed.emit(server, shown)
        self.spoken.renew()

    def _hide(self) -> None:
        self.drawn.leave_out(self._hidden)
        self._share(hidden=self._hidden)
        self._make_room()

    def is_shown(self, server: str) -> bool:
        return server not in self._hidden

    def show_alone(self, server: str) -> None:
        for each in self.model.series:
            self.set_shown(each, each == server)

    def show_only(self, servers: Iterable[str]) -> None:
        """Hide all others, in one step and without a signal."""
        self._hidden = self.model.series.keys() - set(servers)
        self._hide()

    def show_all(self) -> None:
        for server in sorted(self._hidden):
            self.set_shown(server, True)

    def set_view(self, view: View | None = None, **changes: Any) -> None:
        """Show another view; `changes`: of the one that is shown."""
        self.view = replace(view or self.view, **changes)
        self._share(view_shown=self.view)
        self.view_changed.emit()
        self.spoken.renew()
        self.pointing.point_to(self.pointing.server, self.pointing.rate)
        self.crosshair.again()

    @property
    def crowded(self) -> bool:
        """Whether there is no height for response time and errors at once."""
        low = self.height() < self.sizes.px(LEAST_OF_THREE)
        both = {Quantity.TIME, Quantity.ERRORS}
        return low and both <= set(self.requested_charts) & set(self.drawn.charts)

    def choose_second(self, quantity: Quantity) -> None:
        """Set which of response time and errors is shown where there is no height for both."""
        self._second = quantity
        self._lay_out()

    def toggle_log(self, key: str = Quantity.TIME.value) -> None:
        """Change the scale of an axis by its key, see `Showing`; "errors": of the bottom chart."""
        if key == Quantity.ERRORS.value:
            key = self.charts[Quantity.ERRORS].metric
        on = not self.is_log(key)
        self.show_part(replace(self.showing, log={**self.showing.log, key: on}))

    def toggle_part(self, name: str) -> None:
        """Show or hide the "band" of a second percentile, the "offset" between equal lines, or what
        was "published"."""
        self.show_part(replace(self.showing, **{name: not getattr(self.showing, name)}))

    def set_notes(self, notes: Sequence[ChartNote]) -> None:
        """Show notes; they are about values of the model's own axis."""
        self.notes = tuple(notes)
        self._share(notes=self.notes if self.drawn is self.model else ())

    @property
    def own_showing(self) -> Showing:
        """Return what is shown of the model's own axis; of another look, all."""
        if self.drawn is self.model:
            return self.showing
        return self.showing.elsewhere(self._own_scale)

    def is_log(self, key: str) -> bool:
        if key == ACROSS:
            return self.charts[Quantity.REPLIES].log_across
        return next((chart.log for chart in self.charts.values() if chart.metric == key), False)

    def show_part(self, showing: Showing) -> None:
        if showing != self.showing:
            self.showing = showing
            self._share(showing=showing)
            self.view_changed.emit()
        # The card may cover what it did not before.
        self.pointing.place_card()
        self.crosshair.again()

    def show_charts(self, quantities: Iterable[Quantity]) -> None:
        wanted = set(quantities)
        self.requested_charts = tuple(each for each in Quantity if each in wanted)
        self._lay_out()

    def set_paused(self, paused: bool) -> None:
        self.paused = paused
        self._share(paused=paused)

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._ring.setStyleSheet(_RING.format(theme))
        self.set_sizes(self.sizes)

    def set_sizes(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self._lay_out(dress=True)
        self.pointing.renew_card()
        self.crosshair.renew()

    def beside_cursor(self, size: QSize, x: float) -> QPoint:
        """Return where a card of this size covers no value at x: beside it, where there is more
        room. In the first plot lines rise from left to right: left of x it is at the top, right of
        it at the foot.
        """
        first = self.charts[self.shown_charts[0]]
        plot, at = first.plot_rect(), first.at(x, 1).x()
        gap, left = self.sizes.px(_BESIDE_CURSOR), at - plot.left() > plot.right() - at
        if size.height() > plot.height():  # where it covers no head, if there is room
            left = at + gap + size.width() > self.width()
        across = at - gap - size.width() if left else at + gap
        foot = 0 if left else plot.bottom() - gap / 2 - size.height()
        return QPoint(
            round(min(max(across, 0), max(self.width() - size.width(), 0))),
            round(min(max(plot.top() + gap / 2, foot), max(self.height() - size.height(), 0))),
        )

    # Pointing and keys

    def _on_hovered(self, server: str, rate: float) -> None:
        self.pointing.hover(server, rate)
        self.crosshair.give_way(server)

    def _on_picked(self, server: str, rate: float) -> None:
        self.crosshair.hide()
        self.pointing.pick(server, rate)

    def highlight(self, server: str, rate_per_s: float = nan) -> None:
        """Highlight a server's line (empty: none); with a rate, select that point."""
        self.pointing.pin(server, rate_per_s)

    def go_to(self, server: str, rate_per_s: float) -> None:
        """Highlight a point, also where its server is hidden or a zoom leaves it out."""
        self.set_shown(server, True)
        low, high = self.showing.zoom.get(ACROSS, (-inf, inf))
        seen = isnan(rate_per_s) or low <= rate_per_s <= high
        if not seen or self.showing.zoom.keys() - {ACROSS}:
            self.zooming.reset()
        self.crosshair.hide()
        self.highlight(server, rate_per_s)

    def target(self) -> tuple[str, float] | None:
        """Return the server (empty: none) and the x that are selected; None: nothing is."""
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

    # Painting and files

    def prepare(self, width: int, height: int) -> None:
        """Give the charts this size and all that they draw, without showing them."""
        self.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        self.resize(width, height)
        self.refresh()
        self.show()
        QApplication.sendPostedEvents()

    def paint(self, painter: QPainter, target: QRectF) -> None:
        """Paint the shown charts as strokes, for pictures, files and printers."""
        scale = target.width() / max(1, self.width())
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)  # pyqtgraph's would fill with the one set
        for chart in (self.charts[quantity] for quantity in self.shown_charts):
            where = QRectF(chart.geometry())
            onto = QRectF(target.topLeft() + where.topLeft() * scale, where.size() * scale)
            chart.render(painter, onto, chart.viewport().rect())
        painter.restore()

    def minimumSizeHint(self) -> QSize:
        return QSize(_NARROWEST, _LEAST if len(self.shown_charts) > 1 else _LEAST_OF_ONE)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self.theme.card))
        painter.setPen(QPen(QColor(self.theme.line), 1))
        for quantity in self.shown_charts[1:]:
            chart = self.charts[quantity]
            y = chart.y() - self.sizes.px(GAP) / 2 + 0.5
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._lay_out()
        self._ring.setGeometry(self.rect())
        # The positions of the lines are known only after the next event.
        QTimer.singleShot(0, self, self.pointing.place_card)
        QTimer.singleShot(0, self, self.crosshair.again)

    def _lay_out(self, *, dress: bool = False) -> None:
        """Choose the charts that there is height for, and share the room out. `dress`: their theme
        or sizes are others.
        """
        others, wide = self._choose(), self._needed_gutter()
        if dress or others or wide != self.sizes.gutter:
            self.sizes = replace(self.sizes, gutter=wide)
            for chart in self.charts.values():
                chart.set_sizes(self.theme, self.sizes)
            self.update()
        y, gap = 0.0, self.sizes.px(GAP)
        for quantity, height in self._heights().items():
            top, foot = round(y), round(y + height)
            self.charts[quantity].setGeometry(0, top, self.width(), foot - top)
            y += height + gap

    # Implementation

    def _share(self, **shown: Any) -> None:
        for chart in self.charts.values():
            chart.share(**shown)

    def _make_room(self) -> None:
        """Share the room out again, if visible names are others, or what was answered."""
        shown = [series for series in self.model.series.values() if self.is_shown(series.id)]
        tags = Counter(series.label for series in shown if series.tag)
        # A letter of a session is as wide as these.
        names = {series.label: series.label + " W" * tags[series.label] for series in shown}
        named = len({series.label for series in shown if series.stops})
        found = tuple(names.values()), named, self._answers_all()
        if found != self._room:
            self._room = found
            self._lay_out()

    def _heights(self) -> dict[Quantity, float]:
        names, _, alike = self._room
        return heights(self.shown_charts, self.sizes, len(names), self.height(), alike=alike)

    def _answers_all(self) -> bool:
        model = self.model
        points = [point for series in model.series.values() for point in series.points]
        known = self.drawn is model and model.over and model.axis.calibrated and points
        return bool(known) and all(p.replies_per_s >= SUSTAINED_SHARE * p.x for p in points)

    def _needed_gutter(self) -> float:
        if self.drawn.bars:
            return _NO_NAMES
        size, (names, named, _) = font(12, Weight.DemiBold), self._room
        longest = max((text_width(name, size) for name in names), default=0.0)
        crowded = not names_fit(self._heights(), self.sizes, named)
        return gutter(longest, self.width() / self.sizes.scale, crowded=crowded)

    def _choose(self) -> bool:
        """Choose the charts that there is height for; returns whether they are others."""
        wanted = [q for q in self.requested_charts if q in self.drawn.charts]
        first = Quantity.REPLIES, self._second
        shown = tuple(q for q in wanted if not self.crowded or q in first)
        if shown == self.shown_charts:
            return False
        self.shown_charts = shown
        self.updateGeometry()
        for quantity, chart in self.charts.items():
            chart.setVisible(quantity in shown)
            chart.lowest = quantity is shown[-1]
        self.view_changed.emit()
        return True

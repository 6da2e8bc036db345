"""The linked trio: successful replies, response time and errors over one offered rate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import isnan, nan

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from app.charts.chart import Chart
from app.charts.drawing import text_width
from app.charts.hover import HoverCard
from app.charts.look import Look
from app.charts.model import ChartModel
from app.charts.series import Clock, Percentile, Quantity, View
from app.theme import Theme, Weight, font

_SHARES = {Quantity.REPLIES: 0.44, Quantity.TIME: 0.32, Quantity.ERRORS: 0.24}
_GAP = 8.0
_NARROWEST, _WIDEST = 118.0, 210.0


class Trio(QWidget):
    """Three charts, one cursor. Draws what the model holds, live and replayed alike.

    Feed the model, then call `refresh` (about ten times a second is enough): it repaints only when
    something has changed or a point is running.
    """

    highlighted = Signal(str)
    """The server now highlighted; empty: none."""
    visibility_changed = Signal(str, bool)

    def __init__(
        self,
        model: ChartModel,
        theme: Theme,
        look: Look | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.model = model
        self._theme, self._look = theme, look or Look()
        self._view = View()
        self._hidden: set[str] = set()
        self._pinned = ""
        self._names: tuple[str, ...] = ()
        self._drawn_version = -1
        self.charts = {
            quantity: Chart(model, quantity, theme, self._look, lowest=quantity is Quantity.ERRORS)
            for quantity in Quantity
        }
        for chart in self.charts.values():
            chart.setParent(self)
            chart.hovered.connect(self._on_hovered)
            chart.picked.connect(self._on_picked)
            chart.setAccessibleName(f"{chart.title_words()[0]} over the offered rate")
        self.card = HoverCard(theme, self)
        self.setMinimumSize(520, 400)

    # What is shown

    def refresh(self) -> None:
        """Draw what has changed in the model since the last call."""
        changed = self._drawn_version != self.model.version
        if not changed and self.model.running is None:
            return
        self._drawn_version = self.model.version
        names = tuple(series.name for series in self.model.series.values())
        if names != self._names:
            self._names = names
            self._widen_gutter()
        for chart in self._each():
            chart.refresh()

    def set_model(self, model: ChartModel) -> None:
        """Draw another session, or the same from its beginning; hidden servers stay hidden."""
        self.model = model
        self.card.hide()
        for chart in self._each():
            chart.set_model(model)
        self._drawn_version = -1
        self.refresh()

    def toggle(self, server: str) -> None:
        """Hide a server that is shown, or show one that is hidden."""
        self.set_shown(server, server in self._hidden)

    def set_shown(self, server: str, shown: bool) -> None:
        (self._hidden.discard if shown else self._hidden.add)(server)
        if not shown and server == self._pinned:
            self.highlight("")
        for chart in self._each():
            chart.set_hidden(self._hidden)
        self.visibility_changed.emit(server, shown)

    def is_shown(self, server: str) -> bool:
        return server not in self._hidden

    def show_all(self) -> None:
        for server in sorted(self._hidden):
            self.set_shown(server, True)

    def highlight(self, server: str, rate_per_s: float = nan) -> None:
        """Thicken a server's line and dim the others (empty: none); with a rate, tell that point
        in the card and put the cursor there."""
        self._pinned = server
        self._point_to(server, rate_per_s)

    def select_point(self, index: int) -> None:
        """Put the cursor on a point of the highlighted server; beyond its ends: on the last one."""
        series = self.model.series.get(self._pinned)
        readings = series.readings() if series else ()
        if readings:
            chosen = readings[min(max(index, 0), len(readings) - 1)]
            self._point_to(self._pinned, chosen.offered)

    def set_percentile(self, percentile: Percentile) -> None:
        self._set_view(replace(self._view, percentile=percentile))

    def set_clock(self, clock: Clock) -> None:
        self._set_view(replace(self._view, clock=clock))

    def set_log(self, log: bool) -> None:
        """Response time on a logarithmic (the default) or a linear scale."""
        self.charts[Quantity.TIME].set_view(self._view, log=log)

    @staticmethod
    def least_height(servers: int) -> float:
        """Unscaled, so that the names of so many servers stand one below the other everywhere."""
        look = Look()
        fixed = sum(look.top + look.bottom(q is Quantity.ERRORS) for q in Quantity) + 2 * _GAP
        names = servers * (look.label_px + 1) + 8
        plot = names - look.top - look.bottom(False)
        return fixed + max(0.0, plot) / _SHARES[Quantity.TIME]

    @property
    def view(self) -> View:
        return self._view

    def set_paused(self, paused: bool) -> None:
        """A hollow halo: no point is running, one waits."""
        for chart in self._each():
            chart.paused = paused
            chart.viewport().update()

    def set_breathing(self, breathes: bool) -> None:
        """False: the halo stands still, for those who want less motion."""
        for chart in self._each():
            chart.breathes = breathes

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.card.deleteLater()
        self.card = HoverCard(theme, self)
        self._dress()

    def set_look(self, look: Look) -> None:
        """Sizes, for example for a projector."""
        self._look = look
        self._widen_gutter()

    # Painting and files

    def paint(self, painter: QPainter, target: QRectF) -> None:
        """All three charts as strokes, for pictures, files and printers."""
        scale = target.width() / max(1, self.width())
        painter.save()
        painter.setBrush(Qt.BrushStyle.NoBrush)  # pyqtgraph's ViewBox would fill with the one set
        for chart in self._each():
            where = chart.geometry()
            onto = QRectF(
                target.left() + where.x() * scale,
                target.top() + where.y() * scale,
                where.width() * scale,
                where.height() * scale,
            )
            chart.render(painter, onto, chart.viewport().rect())
        painter.restore()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.card))
        painter.setPen(QPen(QColor(self._theme.line), 1))
        for chart in list(self._each())[1:]:
            y = chart.y() - self._look.px(_GAP) / 2 + 0.5
            painter.drawLine(QPointF(0, y), QPointF(self.width(), y))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        look, gap = self._look, self._look.px(_GAP)
        fixed = sum(look.top + look.bottom(q is Quantity.ERRORS) for q in Quantity)
        plots = max(0.0, self.height() - fixed - gap * (len(self.charts) - 1))
        y = 0.0
        for quantity, chart in self.charts.items():
            height = look.top + look.bottom(quantity is Quantity.ERRORS)
            height += plots * _SHARES[quantity]
            chart.setGeometry(0, round(y), self.width(), round(y + height) - round(y))
            y += height + gap
        self._place_card()

    # Inside

    def _each(self) -> Iterable[Chart]:
        return self.charts.values()

    def _set_view(self, view: View) -> None:
        self._view = view
        for chart in self._each():
            chart.set_view(view)

    def _widen_gutter(self) -> None:
        size = font(12, Weight.Medium)
        longest = max((text_width(name, size) for name in self._names), default=0.0)
        gutter = min(max(_NARROWEST, longest + 40), _WIDEST)
        self._look = replace(self._look, gutter=gutter)
        self._dress()

    def _dress(self) -> None:
        for chart in self._each():
            chart.set_look(self._theme, self._look)
        self.resizeEvent(QResizeEvent(self.size(), self.size()))
        self.update()

    def _on_hovered(self, server: str, rate_per_s: float) -> None:
        if server:
            self._point_to(server, rate_per_s)
        else:
            self._point_to(self._pinned, nan)

    def _on_picked(self, server: str) -> None:
        self.highlight("" if server == self._pinned else server)

    def _point_to(self, server: str, rate_per_s: float) -> None:
        first = self.charts[Quantity.REPLIES]
        same = first.highlighted == server and (
            first.cursor_rate == rate_per_s or (isnan(first.cursor_rate) and isnan(rate_per_s))
        )
        if same:
            return
        changed = first.highlighted != server
        for chart in self._each():
            chart.point_to(server, rate_per_s)
        reading = first.reading(server, rate_per_s)
        if reading is None:
            self.card.hide()
        else:
            self.card.tell(self.model.series[server], reading, self._view)
            self._place_card()
            self.card.show()
            self.card.raise_()
        if changed:
            self.highlighted.emit(server)

    def _place_card(self) -> None:
        """Top left of the replies chart. Where it would reach below y = x it moves up over the
        chart's head: that is no data."""
        plot = self.charts[Quantity.REPLIES].plot_rect()
        left = plot.left() + 8
        share = (left + self.card.width() + 8 - plot.left()) / max(1.0, plot.width())
        lowest = plot.bottom() - share * plot.height() - 8
        top = min(plot.top() + 2, lowest - self.card.height())
        self.card.move(round(left), round(max(2.0, top)))

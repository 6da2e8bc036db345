"""What a search found of each server, best first, and the points it was found by."""

from __future__ import annotations

from math import isinf

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from app.charts.drawing import Swatch
from app.charts.model import ChartModel
from app.charts.series import Series
from app.charts.trio import Trio
from app.colour import with_opacity
from app.live.ranked_rows import RankedRows, server_name
from app.painted import Painted
from app.plain import tip
from app.theme import Theme, Weight
from app.widgets import Elided, column, label, row
from workbench.messages.reasons import limit_terms
from workbench.results import sustained

_HIGH = 40
"""Of the points of a server, in pixels."""
_MET = {True: "met", False: "missed", None: "not judged"}


class Peaks(QFrame):
    """Shows the servers of the charts' model."""

    def __init__(self, trio: Trio, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._trio, self._theme = trio, theme
        inside = column(self, margin=12, gap=4)
        self._limits = label("", 12, tone="muted", wrap=True)
        inside.addWidget(self._limits)
        self._list = RankedRows("Peak under SLO", gap=10)
        inside.addWidget(self._list)

    def refresh(self) -> None:
        """Apply changes of the model."""
        model = self._trio.model
        if not model.axis.bounds:
            return
        self._limits.setText(_limits(model))
        self._list.arrange([series.id for series in model.ranked()], self._make)
        for id_, entry in self._list.rows.items():
            series = model.series[id_]
            measured = model.running_server != id_ and len(series.complete) > 0
            entry.display(series, over=model.over or measured)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._list.clear()
        self.refresh()

    def _make(self, id_: str) -> _Row:
        return _Row(self._trio.model.series[id_], self._trio, self._theme)


class _Row(QWidget):
    """A server: its peak, the interval, and its points."""

    def __init__(self, series: Series, trio: Trio, theme: Theme) -> None:
        super().__init__()
        inside: QVBoxLayout = column(self, gap=1)
        head = row(gap=6)
        head.addWidget(Swatch(theme.series(series.index), theme, 0.85))
        head.addWidget(server_name(trio, series.name), 1)
        self._figure = label("", 15, Weight.DemiBold, figures=True)
        head.addWidget(self._figure)
        inside.addLayout(head)
        self._interval = Elided(12, tone="muted")
        inside.addWidget(self._interval)
        self._points = Points(series, theme)
        inside.addWidget(self._points)
        self._content: object = None

    def display(self, series: Series, *, over: bool) -> None:
        """`over`: the server is not measured any more."""
        content = series.version, len(series.peaks), over
        if content == self._content:
            return
        self._content = content
        found = sustained.parts(series, over=over)
        figure = found.figure or found.caption
        self._figure.setText(figure)
        interval = _interval(series)
        self._interval.show_text(interval)
        self._points.setVisible(len(series.complete) > 0)
        self._points.show_series(series)
        self.setAccessibleName(f"{series.name}: {figure}, {interval}")
        self.setToolTip(tip("\n".join(peak.text() for peak in series.peaks)))


class Points(Painted):
    """Points in the order in which they were measured, by their rate, and the interval as a
    band."""

    def __init__(self, series: Series, theme: Theme) -> None:
        super().__init__(theme)
        self._series = series
        self.setFixedHeight(_HIGH)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_series(self, series: Series) -> None:
        self._series = series
        points = (
            f"{series.axis.at(stop.x)} {_MET[series.met_limits(stop)]}" for stop in series.complete
        )
        self.setAccessibleName("Points in the order measured")
        self.setAccessibleDescription(", ".join(points))
        self.update()

    def paint(self, painter: QPainter) -> None:
        room = QRectF(self.rect()).adjusted(5, 5, -5, -5)
        series, theme = self._series, self.theme
        stops = series.complete
        colour = theme.series(series.index).colour
        top = max([series.axis.ends[-1], *(stop.x for stop in stops)])

        def y(rate: float) -> float:
            return room.bottom() - room.height() * min(rate, top) / top

        painter.setPen(QPen(QColor(theme.line), 1))
        for rate in (0.0, top):
            painter.drawLine(QPointF(room.left(), y(rate)), QPointF(room.right(), y(rate)))
        if (found := series.interval) and series.knee:
            high = y(top if isinf(found.high) else found.high)
            band = QRectF(room.left(), high, room.width(), max(2.0, y(found.low) - high))
            painter.fillRect(band, with_opacity(colour, 0.28))
            painter.setPen(QPen(with_opacity(colour, 0.9), 1))
            painter.drawLine(
                QPointF(room.left(), y(series.knee)), QPointF(room.right(), y(series.knee))
            )
        step = room.width() / max(12, len(stops) - 1)
        places = [QPointF(room.left() + n * step, y(stop.x)) for n, stop in enumerate(stops)]
        painter.setPen(QPen(with_opacity(theme.muted, 0.6), 1))
        painter.drawPolyline(places)
        for place, stop in zip(places, stops, strict=True):
            _mark(painter, place, series.met_limits(stop), colour, theme)


def _mark(painter: QPainter, at: QPointF, kept: bool | None, colour: str, theme: Theme) -> None:
    if kept is False:
        painter.setPen(QPen(QColor(theme.text), 1.6))
        for lean in (-3.2, 3.2):
            painter.drawLine(at + QPointF(-3.2, lean), at + QPointF(3.2, -lean))
        return
    painter.setPen(QPen(QColor(theme.muted if kept is None else colour), 1.4))
    painter.setBrush(QColor(theme.card if kept is None else colour))
    painter.drawEllipse(at, 3.2, 3.2)


def _limits(model: ChartModel) -> str:
    search = (model.start.plan if model.start else {}).get("search") or {}
    met = limit_terms(search.get("errors_pct", 1.0), search.get("p99_ms"))
    return f"Rates in the order measured. ● met: {met} · × missed"


def _interval(series: Series) -> str:
    """ "95 % interval: 14,250 to 14,500/s · 13 points"."""
    count = len(series.complete)
    points = f"{count} point{'s' * (count != 1)}" * bool(count)
    span, passes = sustained.interval(series), len(series.peaks)
    known = "95 % interval" if passes == 1 else f"{passes} passes"
    return f"{known}: {span} · {points}" if span else points

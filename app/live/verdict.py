"""The answer at the end of a run: the sentence of the reports, over a bar for each server."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QFrame

from app.charts.drawing import draw_marker, draw_text, elided, text_width
from app.charts.model import ChartModel
from app.charts.series import Series
from app.colour import with_opacity
from app.painted import Painted
from app.plain import tip
from app.theme import Theme, Weight, font
from app.widgets import column, label
from workbench.formatting import listed
from workbench.results import sustained

_ROW_PX, _NAME_PX, _FIGURE_PX, _GAP_PX, _LEAST_BAR_PX = 22, 190.0, 92.0, 28.0, 120.0
_MOST_ROWS = 6
"""In one column; more servers have several, of the same height."""


class Verdict(QFrame):
    """Hidden until a run is over."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        inside = column(self, margin=14, gap=8)
        self._sentence = label("", 20, Weight.DemiBold, wrap=True, selectable=True)
        self._sentence.setAccessibleName("Result")
        self._more = label("", 13, tone="soft", wrap=True, selectable=True)
        self._bars = Bars(theme)
        for part in (self._sentence, self._more, self._bars):
            inside.addWidget(part)
        self.hide()

    def display(self, model: ChartModel) -> None:
        """Show what a run found, once it is over."""
        ranked = [series for series in model.ranked() if series.complete]
        whole = model.stop is not None and model.stop.status == "done"
        found = sustained.answer(ranked, whole=whole)
        self._sentence.setText(f"{found.text}.")
        failed = [audit.label for audit in model.audits if audit.failed]
        audits = f"In doubt, see Events: {listed(failed)}." if failed else ""
        more = " ".join(filter(None, (found.why, *found.doubts, audits)))
        self._more.setText(more)
        self._more.setVisible(bool(more))
        self._bars.display(ranked)
        self.show()

    def set_compact(self, compact: bool) -> None:
        """Leave the bars out, for windows without much height."""
        self._bars.setVisible(not compact)


class Bars(Painted):
    """What each server sustains, best first, and the interval of its limit."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._ranked: Sequence[Series] = ()
        self._columns = self._rows = 1
        about = "Bar: sustained rate. Line: where the limit lies; dotted: from a single pass."
        self.setToolTip(tip(about))

    def display(self, ranked: Sequence[Series]) -> None:
        self._ranked = ranked
        self._columns = max(1, ceil(len(ranked) / _MOST_ROWS))
        self._rows = max(1, ceil(len(ranked) / self._columns))
        self.setFixedHeight(_ROW_PX * self._rows)
        texts = (f"{each.name} {sustained.parts(each).text}" for each in ranked)
        self.setAccessibleName("; ".join(texts))
        self.update()

    def paint(self, painter: QPainter) -> None:
        wide = (self.width() - _GAP_PX * (self._columns - 1)) / self._columns
        for place, series in enumerate(self._ranked):
            across, down = divmod(place, self._rows)
            left, top = across * (wide + _GAP_PX), down * _ROW_PX
            self._paint_row(painter, series, QRectF(left, top, wide, _ROW_PX))

    def _paint_row(self, painter: QPainter, series: Series, room: QRectF) -> None:
        theme, style, middle = self.theme, self.theme.series(series.index), room.center().y()
        name, figure = font(13, Weight.Medium), font(13, Weight.DemiBold, figures=True)
        names = min(_NAME_PX, room.width() - _FIGURE_PX - _LEAST_BAR_PX)
        draw_marker(painter, style, QPointF(room.left() + 6, middle), 4.2, theme.card)
        text = elided(series.name, name, names - 24)
        draw_text(painter, QPointF(room.left() + 18, middle), text, name, theme.text)
        text = sustained.parts(series).figure or sustained.column(series)
        text = elided(text, figure, room.width() - names)
        draw_text(painter, QPointF(room.right(), middle), text, figure, theme.text, "right")
        bar = QRectF(room.left() + names, middle - 5, 0, 10)
        bar.setRight(room.right() - max(_FIGURE_PX, text_width(text, figure) + 12))
        painter.fillRect(bar, with_opacity(theme.muted, 0.12))
        known = [each.interval for each in self._ranked if each.interval is not None]
        ends = [end for i in known for end in (i.low, i.high) if end != inf]
        most = max([*ends, *(each.figure for each in self._ranked)], default=0.0) * 1.04 or 1.0

        def at(value: float) -> float:
            return bar.left() + bar.width() * min(1.0, value / most)

        done = QRectF(bar)
        done.setRight(at(series.figure if series.unknown is None else 0.0))
        painter.fillRect(done, style.tint(0.75))
        if (found := series.interval) is None or series.unknown is not None:
            return
        low, high = at(found.low), bar.right() if found.high == inf else at(found.high)
        for colour, width in ((theme.card, 4.0), (theme.text, 1.6)):
            pen = QPen(with_opacity(colour, 1.0), width)
            ends_pen = QPen(pen)
            if found.coverage is None and colour == theme.text:
                pen.setDashPattern([1.5, 1.5])
            painter.setPen(pen)
            painter.drawLine(QPointF(low, middle), QPointF(high, middle))
            painter.setPen(ends_pen)
            painter.drawLine(QPointF(low, middle - 4), QPointF(low, middle + 4))
            if found.high == inf:
                tip_at = QPointF(high, middle)
                painter.drawPolyline([tip_at + QPointF(-4, -4), tip_at, tip_at + QPointF(-4, 4)])
            else:
                painter.drawLine(QPointF(high, middle - 4), QPointF(high, middle + 4))

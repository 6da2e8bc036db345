"""The selected point, by the mouse, by a click, which pins it, or by keys, and its card; the values
of all servers at one x, where the mouse is away from lines, or set by a key.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import isnan, nan
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QFont,
    QKeyEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from app.charts import words
from app.charts.chart import Chart
from app.charts.drawing import Swatch, draw_marker, draw_text, elided, name_among, text_width
from app.charts.model import ChartModel
from app.charts.series import Floats, Quantity, Series
from app.charts.view_state import ACROSS
from app.charts.words import Card
from app.painted import Painted
from app.plain import Label
from app.theme import SeriesStyle, Theme, Weight, font, icon_pixmap
from app.widgets import beside, column, hair, label, stack
from workbench.analysis.series import PERCENTILES, PointResult, View

_WIDE = 320
"""Unscaled; wider only where a word of it would be cut."""


class HoverCard(QFrame):
    """Floats over the charts beside the cursor. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent, objectName="floating")
        self._theme, self._scale = theme, scale
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

        def text(px: float, weight: Weight = Weight.Normal, **more: Any) -> QLabel:
            return label("", px * scale, weight, **more)

        self._swatch, self._sign = Swatch(theme.series(0), theme, 0.8 * scale), Label()
        self._name = text(14, Weight.DemiBold, wrap=True)
        self._at = text(12, tone="soft")
        self._errors = text(12, tone="soft", wrap=True)
        self._verdict = text(12, Weight.Medium, wrap=True)
        self._figures: list[tuple[QLabel, QLabel, QLabel]] = []
        figures = QGridLayout(horizontalSpacing=14, verticalSpacing=2)
        for place in range(3):
            caption, unit = text(11, tone="muted"), text(12, tone="muted")
            figure = text(17, Weight.DemiBold, figures=True)
            pair = beside(figure, (unit, 1, Qt.AlignmentFlag.AlignBottom), gap=4)
            figures.addWidget(caption, 0, place)
            figures.addLayout(pair, 1, place)
            self._figures.append((caption, figure, unit))
        head = beside(self._swatch, (self._name, 1), self._at)
        verdict = beside(stack(self._sign, None), (self._verdict, 1))
        parts = head, figures, hair(), self._errors, verdict
        column(self, *parts, margin=(12, 8, 12, 8), gap=5)
        self.hide()

    def display(self, series: Series, content: Card, *, pinned: bool = False) -> None:
        """Show one point of one server; pinned: the card stays when the mouse leaves."""
        edge = self._theme.focus if pinned else self._theme.line2
        self.setStyleSheet(f"QFrame#floating {{ border: 1px solid {edge}; }}")
        self._swatch.set_style(self._theme.series(series.index))
        self._name.setText(series.name)
        self._at.setText(content.at)
        for labels, texts in zip(self._figures, content.figures, strict=True):
            for each, text in zip(labels, texts, strict=True):
                each.setText(text)
        self._errors.setText(content.causes)
        self._errors.setVisible(bool(content.causes))
        name, tone = content.icon
        colour = getattr(self._theme, tone)
        self._sign.setPixmap(icon_pixmap(name, colour, round(16 * self._scale)))
        self._verdict.setText(content.sentence)
        self.setAccessibleName(content.text)
        for each in self.findChildren(QLabel):
            each.ensurePolished()  # without this its size hint is that of another font

    def fit(self) -> QSize:
        inside = self.layout()
        inside.invalidate()
        inside.activate()
        wide = max(round(_WIDE * self._scale), inside.totalMinimumSize().width())
        self.setFixedSize(wide, inside.totalHeightForWidth(wide))
        return self.size()


_DIGITS = range(Qt.Key.Key_1, Qt.Key.Key_9 + 1)
LOG_KEYS = {
    ACROSS: "X",
    Quantity.REPLIES.value: "R",
    Quantity.TIME.value: "L",
    Quantity.ERRORS.value: "E",
}
"""The keys that change the scale of an axis; E: of whatever the bottom chart shows."""
_SCALES = {Qt.Key[f"Key_{letter}"]: key for key, letter in LOG_KEYS.items()}
_PARTS = {Qt.Key.Key_B: "band", Qt.Key.Key_O: "offset"}
_PLAIN = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)


class Pointing:
    """The selection of one trio. A server and a rate can be pinned; the mouse overrules them while
    it is at a line.
    """

    def __init__(self, trio: Any) -> None:
        """`trio`: a `Trio`, which is made of this and so cannot be named here."""
        self._trio = trio
        self.server = ""
        """The pinned server; empty: none."""
        self.rate = nan
        """The pinned rate; NaN: only the server is pinned."""
        self._before = "", nan
        """What was pinned before the last click."""
        self.card = self._new_card()
        self._shown: tuple[PointResult, View, bool] | None = None

    def _new_card(self) -> HoverCard:
        trio = self._trio
        return HoverCard(trio.theme, trio, max(1.0, 0.8 * trio.sizes.scale))

    def place_card(self) -> None:
        rate = self._trio.charts[Quantity.REPLIES].cursor_rate
        if not isnan(rate):
            self.card.move(self._trio.beside_cursor(self.card.fit(), rate))

    def renew_card(self) -> None:
        self.card.hide()
        self.card.deleteLater()
        self.card = self._new_card()
        self.forget()
        self.again()

    def pin(self, server: str, rate: float = nan) -> None:
        """Pin a server; empty: deselect."""
        self.server, self.rate = server, rate
        self.point_to(server, rate)

    def hover(self, server: str, rate: float) -> None:
        """Handle the mouse at a line; empty: at none."""
        self.point_to(*((server, rate) if server else (self.server, self.rate)))

    def pick(self, server: str, rate: float) -> None:
        self._before = self.server, self.rate
        same = server == self.server and (rate == self.rate or isnan(self.rate))
        self.pin(*(("", nan) if same else (server, rate)))

    def unpick(self) -> None:
        self.pin(*self._before)

    def leave(self, server: str) -> None:
        """Deselect a server that is no longer shown, whether clicked or under the mouse."""
        if server == self.server:
            self.pin("")
        elif server == self._trio.charts[Quantity.REPLIES].highlighted:
            self.hover("", nan)

    def forget(self) -> None:
        """Handle another model; the pinned server may appear again."""
        self._shown = None
        self.card.hide()

    def again(self) -> None:
        first = self._trio.charts[Quantity.REPLIES]
        if first.highlighted:
            self._show(first.highlighted, first.cursor_rate)
        elif self.server:
            self.point_to(self.server, self.rate)

    def point_to(self, server: str, rate: float) -> None:
        trio = self._trio
        first = trio.charts[Quantity.REPLIES]
        if server and server not in trio.drawn.series:
            return
        changed = first.highlighted != server
        moved = first.cursor_rate != rate and not (isnan(first.cursor_rate) and isnan(rate))
        if changed or moved:
            for chart in trio.charts.values():
                chart.point_to(server, rate)
        self._show(server, rate)
        if changed:
            trio.highlighted.emit(server)

    def key(self, event: QKeyEvent) -> bool:
        """Handle a key; False: it has no meaning here."""
        if event.modifiers() not in _PLAIN:
            return False
        trio, key, view = self._trio, event.key(), self._trio.view
        keys = {
            Qt.Key.Key_0: trio.show_all,
            Qt.Key.Key_P: lambda: trio.set_view(percentile=_after(view.percentile, PERCENTILES)),
            Qt.Key.Key_M: self._next_metric,
            Qt.Key.Key_Up: lambda: self._next_server(-1),
            Qt.Key.Key_Down: lambda: self._next_server(1),
            Qt.Key.Key_Left: lambda: self._next_point(-1),
            Qt.Key.Key_Right: lambda: self._next_point(1),
            Qt.Key.Key_Escape: self._let_go,
            Qt.Key.Key_Backspace: self._let_go,
        }
        each = zip(_DIGITS, trio.drawn.series, strict=False)
        keys |= {k: partial(trio.toggle, server) for k, server in each}
        keys |= {k: partial(trio.toggle_part, name) for k, name in _PARTS.items()}
        keys |= {k: partial(trio.toggle_log, axis) for k, axis in _SCALES.items()}
        return key in keys and keys[key]() is not False

    # Implementation

    def _let_go(self) -> bool:
        known = bool(self.server)
        self.pin("")
        return known

    def _next_metric(self) -> bool:
        trio, known = self._trio, [metric.key for metric in self._trio.drawn.metrics]
        if known:
            trio.set_view(metric=_after(trio.view.metric, ["", *known]))
        return bool(known)

    def _next_server(self, step: int) -> bool:
        trio = self._trio
        ranked = [s for s in trio.drawn.ranked() if s.shown and trio.is_shown(s.id)]
        if not ranked:
            return False
        places = [n for n, series in enumerate(ranked) if series.id == self.server]
        before = places[0] if places else -1 if step > 0 else 0
        self._pin_nearest(ranked[(before + step) % len(ranked)], self.rate)
        return True

    def _next_point(self, step: int) -> bool:
        series = self._trio.drawn.series.get(self.server)
        if series is None or not series.shown:
            return self._next_server(1)
        rates = [reading.x for reading in series.shown]
        if isnan(self.rate):
            self._pin_nearest(series, nan)
        else:
            nearest = min(range(len(rates)), key=lambda n: abs(rates[n] - self.rate))
            self._pin_nearest(series, rates[min(max(nearest + step, 0), len(rates) - 1)])
        return True

    def _pin_nearest(self, series: Series, rate: float) -> None:
        """Select its point at a rate; without one, at its highest sustained rate, else its last."""
        rates = [reading.x for reading in series.shown]
        wanted = rate if not isnan(rate) else series.knee or rates[-1]
        self.pin(series.id, min(rates, key=lambda known: abs(known - wanted)))
        self.announce()

    def _show(self, server: str, rate: float) -> None:
        trio = self._trio
        reading = trio.drawn.reading(server, rate)
        if reading is None:
            self.forget()
            trio.setAccessibleDescription("")
            return
        pinned = server == self.server and rate == self.rate
        shown = (reading, trio.view, pinned)
        if shown == self._shown:
            return
        self._shown = shown
        series = trio.drawn.series[server]
        content = trio.drawn.card(series, reading, trio.view)
        self.card.display(series, content, pinned=pinned)
        trio.setAccessibleDescription(self.card.accessibleName())
        self.place_card()
        self.card.show()
        self.card.raise_()

    def announce(self) -> None:
        """Let a screen reader say what is selected."""
        description = self._trio.accessibleDescription()
        if description:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._trio, description))


def _after(now: str, order: Iterable[str]) -> str:
    each = list(order)
    return each[(each.index(now) + 1) % len(each) if now in each else 1]


_ROW, _HEAD, _MARKER, _NAME, _FIGURE, _EDGE = 17.0, 28.0, 12.0, 176.0, 66.0, 12.0
"""Unscaled: heights of a row and of the head, the size of a marker, the most that a name and a
figure take, and what the edges take on both sides.
"""


class Readout(Painted):
    """The list. It never takes the mouse."""

    scale = 1.0

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._lines: list[tuple[SeriesStyle, bool, list[str]]] = []
        """Of each server its style, whether its point is hollow, its name and its figures."""
        self._heads: list[str] = []
        self._rest, self._strong = "", 0
        """A last line without figures, and the column that decides the order."""
        self._row = 0
        self.hide()

    def display(self, model: ChartModel, charts: list[Chart], x: float, by: Chart) -> None:
        """Show every visible server at `x`, by the values of one chart, highest first."""
        view, shown = by.view_shown, [s for s in model.series.values() if s.id not in by.hidden]
        points = [(series, model.reading(series.id, x)) for series in shown]
        known = [(series, point) for series, point in points if point is not None]
        known.sort(key=lambda each: -np.nan_to_num(each[1].value(by.metric, view), nan=-np.inf))
        names, room = [series.name for series, _ in known], self._px(_NAME - _MARKER - 12)
        self._heads = [model.place(x), *map(_heading, charts)]
        self._strong, self._lines, spoken = charts.index(by) + 1, [], []
        for series, point in known:
            unsteady = by.quantity is Quantity.TIME and not point.supported(view)
            hollow = unsteady or not series.trusts(point)
            figures = [chart.text_of(point.value(chart.metric, view)) for chart in charts]
            texts = [name_among(series.name, names, self._font(), room), *figures]
            self._lines.append((self.theme.series(series.index), hollow, texts))
            said = ", ".join(map(" ".join, zip(self._heads[1:], figures, strict=True)))
            spoken.append(f"{series.name} {said}")
        missing = len(shown) - len(known)
        self._rest = f"{missing} server{'s' * (missing > 1)} without a point here." * bool(missing)
        said = f"{self._heads[0]}: {'; '.join(spoken)}. {self._rest}"
        self.setAccessibleName(said.strip())
        self.update()

    def fit(self) -> QSize:
        """Take the size that it needs, with closer lines where not all would fit."""
        px, rows = self._px, len(self._lines) + bool(self._rest)
        around = px(_HEAD + _EDGE)
        self._row = min(px(_ROW), (self.parentWidget().height() - around) // max(1, rows))
        texts = (self._heads[0], *(texts[0] for *_, texts in self._lines))
        longest = round(max(text_width(text, self._font()) for text in texts))
        wide = min(px(_NAME), longest + px(_MARKER + 20)) + px(_EDGE)
        self.setFixedSize(wide + px(_FIGURE) * (len(self._heads) - 1), around + self._row * rows)
        return self.size()

    def paint(self, painter: QPainter) -> None:
        theme, px = self.theme, self._px
        painter.setPen(QPen(QColor(theme.line2), 1))
        painter.setBrush(QColor(theme.floating))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 9, 9)
        left, y = px(_EDGE / 2 + 4), (px(_HEAD) + px(_EDGE)) / 2
        marker = px(_MARKER)
        self._write(painter, left, y, self._heads, head=True)
        y += (px(_HEAD) - self._row) / 2
        for style, hollow, texts in self._lines:
            y += self._row
            at = QPointF(left + marker / 2, y)
            draw_marker(painter, style, at, 0.33 * marker, theme.floating, hollow=hollow)
            self._write(painter, left + marker + px(4), y, texts)
        draw_text(painter, QPointF(left, y + self._row), self._rest, self._font(), theme.muted)

    def _write(
        self, painter: QPainter, left: float, y: float, texts: list[str], *, head: bool = False
    ) -> None:
        end, theme, small = self.width() - self._px(_EDGE / 2 + 4), self.theme, font(self._px(11))
        for place, text in enumerate(texts):
            strong = place == self._strong and not head
            colour = theme.muted if head else theme.text if strong else theme.soft
            size = small if head else self._font(strong=strong, figures=place > 0)
            x = end - self._px(_FIGURE) * (len(texts) - 1 - place) if place else left
            room = end - self._px(_FIGURE) * (len(texts) - 1) - left
            said = text if place or head else elided(text, size, room)
            draw_text(painter, QPointF(x, y), said, size, colour, "right" if place else "left")

    def _font(self, *, strong: bool = False, figures: bool = False) -> QFont:
        weight = Weight.DemiBold if strong else Weight.Normal if figures else Weight.Medium
        return font(self._px(12), weight, figures=figures)

    def _px(self, size: float) -> int:
        return round(size * self.scale)


def _heading(chart: Chart) -> str:
    if chart.quantity is Quantity.REPLIES:
        return f"{chart.model.axis.served.capitalize()}/s"
    if chart.quantity is Quantity.TIME:
        return words.percentile(chart.view_shown.percentile)
    return chart.title_text()[0]


class Crosshair:
    """Shows the values of all servers at the measured x nearest to the mouse; V keeps them."""

    def __init__(self, trio: Any, pointing: Pointing) -> None:
        """`trio`: a `Trio`, as for `Pointing`."""
        self._trio, self._pointing = trio, pointing
        self.x = nan
        """Where it is; NaN: nowhere."""
        self._kept = False
        """It stays when the mouse leaves."""
        self._gives_way = False
        """The mouse is at a line, whose card is shown in its place."""
        self._by = Quantity.REPLIES
        """The chart whose values decide the order."""
        self.readout = Readout(trio.theme, trio)

    @property
    def _first(self) -> Chart:
        return self._trio.charts[self._trio.drawn.charts[0]]

    def cross(self, quantity: Quantity, x: float) -> None:
        """Handle the mouse in a chart at x, at no line; NaN: it left."""
        if self._pointing.server or self._kept:
            return
        chart = self._first
        if isnan(x) or chart.highlighted or not len(xs := self._measured()):
            self.hide()
            return
        self._by = quantity
        self._show(float(xs[np.abs(chart.across(xs) - chart.across(x)).argmin()]))

    def give_way(self, server: str) -> None:
        """Handle the mouse at a server's line; empty: at none. A list that is kept comes back."""
        self._gives_way = bool(server)
        if not self._kept:
            return
        if server:
            self.readout.hide()
        elif self.readout.isHidden():
            self._pointing.card.hide()
            self._show(self.x)

    def hide(self) -> None:
        self._kept = False
        self.readout.hide()
        if not isnan(self.x) and not self._pointing.server:
            self._point(nan)
        self.x = nan

    def again(self) -> None:
        if not isnan(self.x):
            self._show(self.x)

    def renew(self) -> None:
        self.readout.set_theme(self._trio.theme)
        self.readout.scale = max(1.0, 0.8 * self._trio.sizes.scale)
        self.again()

    def follow(self) -> None:
        if self._kept and not isnan(self._pointing.rate):
            self._show(self._pointing.rate)
            self._pointing.card.hide()

    def key(self, event: QKeyEvent) -> bool:
        if self._trio.drawn.bars:
            return False  # their values are written
        key, plain = event.key(), event.modifiers() in _PLAIN
        ends = self._kept and key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace)
        sideways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if ends or (plain and key == Qt.Key.Key_V):
            self._toggle()
        elif plain and self._kept and not self._pointing.server and key in sideways:
            self._step(sideways[Qt.Key(key)])
        else:
            return False
        return True

    # Implementation

    def _toggle(self) -> None:
        if self._kept:
            self.hide()
            self._pointing.forget()
            self._pointing.again()
            return
        low, high, _, _ = self._first.limits
        rate = self._pointing.rate
        xs = self._measured()
        if not len(xs):
            return
        middle = np.abs(self._first.across(xs) - (low + high) / 2).argmin()
        self._kept, self._gives_way = True, False
        self._show(float(xs[middle]) if isnan(rate) else rate)
        self._pointing.card.hide()
        self._pointing.announce()

    def _step(self, step: int) -> None:
        xs = self._measured()
        if len(xs):
            at = int(np.abs(xs - self.x).argmin())
            self._show(float(xs[min(max(at + step, 0), len(xs) - 1)]))
            self._pointing.announce()

    def _measured(self) -> Floats:
        """Return where visible servers have points, in the part that is shown."""
        chart = self._first
        shown = [curve.values.x for curve in chart.shown.values()]
        xs = np.unique(np.concatenate(shown)) if shown else np.empty(0)
        drawn = chart.across(xs)
        return xs[(drawn >= chart.limits[0]) & (drawn <= chart.limits[1])]

    def _point(self, x: float) -> None:
        for chart in self._trio.charts.values():
            chart.point_to("", x)

    def _show(self, x: float) -> None:
        trio = self._trio
        charts = [chart for chart in trio.charts.values() if chart.isVisibleTo(trio)]
        by = trio.charts[self._by]
        self.x = x
        if not self._pointing.server:
            self._point(x)
        self.readout.display(trio.drawn, charts, x, by if by in charts else charts[0])
        self.readout.move(trio.beside_cursor(self.readout.fit(), x))
        self.readout.setVisible(not self._gives_way)
        self.readout.raise_()
        trio.setAccessibleDescription(self.readout.accessibleName())

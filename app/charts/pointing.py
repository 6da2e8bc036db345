"""The selected point, by the mouse, by a click, which pins it, or by keys; and its card."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.charts.drawing import Swatch
from app.charts.series import Quantity, Series
from app.charts.view_state import ACROSS
from app.charts.words import Card
from app.plain import Label
from app.theme import Theme, Weight, font, icon_pixmap
from app.widgets import hair
from workbench.analysis.series import PERCENTILES, PointResult, View

_WIDE = 320
"""Unscaled; wider only where a word of it would be cut."""


class HoverCard(QFrame):
    """Floats over the charts beside the cursor. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._scale = scale
        self.setObjectName("floating")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = theme
        shadow = QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(28)
        shadow.setOffset(0, 8)
        shadow.setColor(QColor(0, 0, 0, 120 if theme.dark else 46))
        self.setGraphicsEffect(shadow)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(5)
        column.addLayout(self._make_head())
        column.addLayout(self._make_figures())
        column.addWidget(hair())
        self._errors = self._label(12, tone="soft", wrap=True)
        column.addWidget(self._errors)
        column.addLayout(self._make_verdict())
        self.hide()

    def display(self, series: Series, content: Card, *, pinned: bool = False) -> None:
        """Show one point of one server; pinned: the card stays when the mouse leaves."""
        edge = self._theme.focus if pinned else self._theme.line2
        self.setStyleSheet(f"QFrame#floating {{ border: 1px solid {edge}; }}")
        self._swatch.set_style(self._theme.series(series.index))
        self._name.setText(series.name)
        self._at.setText(content.at)
        for labels, texts in zip(self._figures, content.figures, strict=True):
            for label, text in zip(labels, texts, strict=True):
                label.setText(text)
        self._errors.setText(content.causes)
        self._errors.setVisible(bool(content.causes))
        name, tone = content.icon
        colour = getattr(self._theme, tone)
        self._sign.setPixmap(icon_pixmap(name, colour, round(16 * self._scale)))
        self._verdict.setText(content.sentence)
        self.setAccessibleName(content.text)
        for each in self.findChildren(QLabel):
            each.ensurePolished()  # without this its size hint is that of another font

    def fit(self) -> None:
        """Take the size that all texts need."""
        inside = self.layout()
        inside.invalidate()
        inside.activate()
        wide = max(round(_WIDE * self._scale), inside.totalMinimumSize().width())
        self.setFixedSize(wide, inside.totalHeightForWidth(wide))

    def _make_head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._swatch = Swatch(self._theme.series(0), self._theme, 0.8 * self._scale)
        self._name = self._label(14, Weight.DemiBold, wrap=True)
        self._at = self._label(12, tone="soft")
        row.addWidget(self._swatch)
        row.addWidget(self._name, 1)
        row.addWidget(self._at)
        return row

    def _make_figures(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(2)
        self._figures: list[tuple[QLabel, QLabel, QLabel]] = []
        for column in range(3):
            name = self._label(11, tone="muted")
            figure = self._label(17, Weight.DemiBold, figures=True)
            unit = self._label(12, tone="muted")
            pair = QHBoxLayout()
            pair.setSpacing(4)
            pair.addWidget(figure)
            pair.addWidget(unit, 1, Qt.AlignmentFlag.AlignBottom)
            grid.addWidget(name, 0, column)
            grid.addLayout(pair, 1, column)
            self._figures.append((name, figure, unit))
        return grid

    def _make_verdict(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._sign = Label()
        self._verdict = self._label(12, Weight.Medium, wrap=True)
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._verdict, 1)
        return row

    def _label(
        self,
        px: int,
        weight: Weight = Weight.Normal,
        *,
        tone: str = "text",
        wrap: bool = False,
        figures: bool = False,
    ) -> QLabel:
        label = Label()
        label.setFont(font(px * self._scale, weight, figures=figures))
        colour = getattr(self._theme, tone)
        label.setStyleSheet(f"color: {colour}; background: transparent; border: none;")
        label.setWordWrap(wrap)
        return label


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

    Keys: up and down select a server, left and right a point, 1 to 9 show or hide a server, 0 shows
    all, X, R, L and E change a scale, P the percentile, B its band, O draws equal lines beside one
    another, Esc and Backspace deselect.
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
        self._card: HoverCard | None = None
        self._shown: tuple[PointResult, View, bool] | None = None
        """The content of the card."""

    @property
    def card(self) -> HoverCard:
        """Created on first use: a picture for a file needs none."""
        if self._card is None:
            trio = self._trio
            self._card = HoverCard(trio.theme, trio, max(1.0, 0.8 * trio.sizes.scale))
        return self._card

    def hide_card(self) -> None:
        if self._card is not None:
            self._card.hide()

    def place_card(self) -> None:
        trio = self._trio
        rate = trio.charts[Quantity.REPLIES].cursor_rate
        if self._card is not None and not isnan(rate):
            self._card.fit()
            self._card.move(trio.beside_cursor(self._card.size(), rate))

    def renew_card(self) -> None:
        """Apply other colours, or another size."""
        if self._card is not None:
            self._card.hide()
            self._card.deleteLater()
            self._card = None
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
        """Handle a click: it pins until the next click on the same point, or on the background."""
        self._before = self.server, self.rate
        same = server == self.server and (rate == self.rate or isnan(self.rate))
        self.pin(*(("", nan) if same else (server, rate)))

    def unpick(self) -> None:
        """Undo the last click."""
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
        self.hide_card()

    def again(self) -> None:
        """Handle a changed model: the selected point may have other values."""
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
        trio, key = self._trio, event.key()
        if key in _DIGITS:
            return self._toggle(key - Qt.Key.Key_1)
        if key == Qt.Key.Key_0:
            trio.show_all()
        elif key in _SCALES:
            axis = _SCALES[key]
            if axis == Quantity.ERRORS.value:
                axis = trio.charts[Quantity.ERRORS].metric
            trio.set_log(not trio.is_log(axis), axis)
        elif key in _PARTS:
            trio.toggle_part(_PARTS[key])
        elif key == Qt.Key.Key_P:
            order = list(PERCENTILES)
            trio.set_percentile(order[(order.index(trio.view.percentile) + 1) % len(order)])
        elif key == Qt.Key.Key_M and trio.drawn.metrics:
            shown = ["", *(metric.key for metric in trio.drawn.metrics)]
            now = shown.index(trio.view.metric) if trio.view.metric in shown else 0
            trio.set_metric(shown[(now + 1) % len(shown)])
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            return self._next_server(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            return self._next_point(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Backspace) and self.server:
            self.pin("")
        else:
            return False
        return True

    # Implementation

    def _toggle(self, place: int) -> bool:
        servers = list(self._trio.drawn.series)
        if place >= len(servers):
            return False
        self._trio.toggle(servers[place])
        return True

    def _next_server(self, step: int) -> bool:
        """Select the next server in the legend's order."""
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
        self._announce()

    def _show(self, server: str, rate: float) -> None:
        trio = self._trio
        reading = trio.charts[Quantity.REPLIES].reading(server, rate)
        if reading is None:
            self._shown = None
            self.hide_card()
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

    def _announce(self) -> None:
        description = self._trio.accessibleDescription()
        if description:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._trio, description))

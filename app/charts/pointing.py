"""The selected point, by the mouse, by a click, which pins it, or by keys; and its card."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from math import isnan, nan
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QGridLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.charts.drawing import Swatch
from app.charts.series import Quantity, Series
from app.charts.view_state import ACROSS
from app.charts.words import Card
from app.plain import Label
from app.theme import Theme, Weight, icon_pixmap
from app.widgets import hair, label, row
from workbench.analysis.series import PERCENTILES, PointResult, View

_WIDE = 320
"""Unscaled; wider only where a word of it would be cut."""


class HoverCard(QFrame):
    """Floats over the charts beside the cursor. It never takes the mouse."""

    def __init__(self, theme: Theme, parent: QWidget, scale: float = 1.0) -> None:
        super().__init__(parent)
        self._theme, self._scale = theme, scale
        self.setObjectName("floating")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        shade = QColor(0, 0, 0, 120 if theme.dark else 46)
        self.setGraphicsEffect(
            QGraphicsDropShadowEffect(self, blurRadius=28, offset=QPointF(0, 8), color=shade)
        )

        def text(px: float, weight: Weight = Weight.Normal, **more: Any) -> QLabel:
            return label("", px * scale, weight, **more)

        self._swatch, self._sign = Swatch(theme.series(0), theme, 0.8 * scale), Label()
        self._name = text(14, Weight.DemiBold, wrap=True)
        self._at = text(12, tone="soft")
        self._errors = text(12, tone="soft", wrap=True)
        self._verdict = text(12, Weight.Medium, wrap=True)
        self._figures: list[tuple[QLabel, QLabel, QLabel]] = []
        head, verdict, figures = row(), row(), QGridLayout(horizontalSpacing=14, verticalSpacing=2)
        for place in range(3):
            caption, unit = text(11, tone="muted"), text(12, tone="muted")
            figure, pair = text(17, Weight.DemiBold, figures=True), row(gap=4)
            pair.addWidget(figure)
            pair.addWidget(unit, 1, Qt.AlignmentFlag.AlignBottom)
            figures.addWidget(caption, 0, place)
            figures.addLayout(pair, 1, place)
            self._figures.append((caption, figure, unit))
        for part, stretch in ((self._swatch, 0), (self._name, 1), (self._at, 0)):
            head.addWidget(part, stretch)
        verdict.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        verdict.addWidget(self._verdict, 1)
        inside = QVBoxLayout(self, spacing=5)
        inside.setContentsMargins(12, 8, 12, 8)
        inside.addLayout(head)
        inside.addLayout(figures)
        inside.addWidget(hair())
        inside.addWidget(self._errors)
        inside.addLayout(verdict)
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

    def fit(self) -> None:
        inside = self.layout()
        inside.invalidate()
        inside.activate()
        wide = max(round(_WIDE * self._scale), inside.totalMinimumSize().width())
        self.setFixedSize(wide, inside.totalHeightForWidth(wide))


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
        self.hide_card()

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
        trio, key, servers = self._trio, event.key(), list(self._trio.drawn.series)
        keys = {
            Qt.Key.Key_0: trio.show_all,
            Qt.Key.Key_P: lambda: trio.set_percentile(_after(trio.view.percentile, PERCENTILES)),
            Qt.Key.Key_M: self._next_metric,
            Qt.Key.Key_Up: lambda: self._next_server(-1),
            Qt.Key.Key_Down: lambda: self._next_server(1),
            Qt.Key.Key_Left: lambda: self._next_point(-1),
            Qt.Key.Key_Right: lambda: self._next_point(1),
            Qt.Key.Key_Escape: self._let_go,
            Qt.Key.Key_Backspace: self._let_go,
        }
        keys |= {
            k: partial(trio.toggle, server) for k, server in zip(_DIGITS, servers, strict=False)
        }
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
            trio.set_metric(_after(trio.view.metric, ["", *known]))
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

    def announce(self) -> None:
        """Let a screen reader say what is selected."""
        description = self._trio.accessibleDescription()
        if description:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._trio, description))


def _after(now: str, order: Iterable[str]) -> str:
    each = list(order)
    return each[(each.index(now) + 1) % len(each) if now in each else 1]

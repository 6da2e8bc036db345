"""A server in the ranking of a comparison: its line, sustained rate and limit interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QFont,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton

from app.charts.drawing import (
    draw_cross,
    draw_marker,
    draw_swatch,
    draw_text,
    fitting,
    name_among,
    text_width,
)
from app.charts.session_tags import draw_tag
from app.plain import tip
from app.theme import SeriesStyle, Theme, Weight, font, paint_icon
from workbench.results.comparison import Comparison, Contender
from workbench.results.differences import basis_text, interval_text, sustained_in

HEIGHT = 34
_NAME = 39
"""Where the name starts, right of its line."""
_TAG = 22
_MARKER_UP, _BAR_DOWN = 4, 6
"""From the middle of a row: a narrow interval would be hidden behind its marker."""


@dataclass(frozen=True)
class Axis:
    low: float
    high: float

    def share(self, rate: float) -> float:
        """Return the position of a rate on the axis, from 0 to 1."""
        return min(1.0, max(0.0, (rate - self.low) / max(1e-9, self.high - self.low)))


class RankingRow(QAbstractButton):
    pointed = Signal(str)

    def __init__(
        self,
        comparison: Comparison,
        contender: Contender,
        style: SeriesStyle,
        axis: Axis,
        theme: Theme,
    ) -> None:
        super().__init__()
        tagged = len(comparison.sides) > 1
        self._contender, self._axis, self._theme = contender, axis, theme
        self._names = [each.name for each in comparison.contenders]
        self._unlike = comparison.why_not_comparable(contender)
        self._sustained = sustained_in(comparison, contender)
        result = contender.result
        none = not contender.measured or (result.knee is None and result.axis.has_limit)
        self._quiet = bool(self._unlike) or none
        """Has it no figure?"""
        self._faint = tagged and contender.tag != "A"
        self._style = style
        self._tagged, self._marked = tagged, False
        self.beside = inf
        """The width that the texts of all rows want; the strip gets the rest."""
        self.setFixedHeight(HEIGHT)
        self.setMinimumWidth(220)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        who = contender.label if tagged else contender.name
        limit = interval_text(contender)
        spoken = f"{who}: {'' if self._quiet else 'sustains '}{self._sustained}"
        if self._unlike:
            spoken += f", {self._unlike}"
        elif limit:
            spoken += f", its limit lies {'' if limit.startswith('above') else 'within '}{limit}"
        if faulty := contender.result.what_is_faulty:
            spoken += f", {faulty}"
        if stopped := contender.result.disqualified:
            spoken += f", disqualified: {stopped}"
        if tasks := result.tasks.in_legend[:1]:
            spoken += f", {tasks[0]}"
        self.setAccessibleName(spoken)
        self.setToolTip(tip(f"{spoken} ({basis_text(contender)})"))

    def wanted(self) -> float:
        """Return the width of all texts, with no name shortened."""
        result, plain = self._contender.result, font(12, figures=True)
        texts = _NAME + text_width(self._contender.name, font(13, Weight.Medium)) + 8
        tasks = (7 + text_width(each, plain) for each in result.tasks.in_legend[:1])
        texts += _TAG * self._tagged + sum(tasks)
        signs = 20 * bool(result.disqualified) + 18 * bool(result.faulty)
        return texts + signs + text_width(self._sustained, self._figure_font)

    @property
    def _figure_font(self) -> QFont:
        return font(12) if self._quiet else font(13, Weight.DemiBold, figures=True)

    def mark(self, highlighted: bool) -> None:
        if highlighted != self._marked:
            self._marked = highlighted
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(300, HEIGHT)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.pointed.emit(self._contender.key)

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed.emit("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self.pointed.emit(self._contender.key)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.pointed.emit("")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter like Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, contender = self._theme, self._contender
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self._marked or self.hasFocus():
            pen = QPen(QColor(theme.focus), 2) if self.hasFocus() else Qt.PenStyle.NoPen
            painter.setPen(pen)
            painter.setBrush(QColor(theme.raised))
            painter.drawRoundedRect(whole.adjusted(1, 1, -1, -1), 7, 7)
        else:
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawLine(whole.topLeft(), whole.topRight())
        middle = self.height() / 2
        draw_swatch(painter, self._style, QRectF(4, middle - 6.5, 28, 13), theme.card)
        wide = self.width()
        strip = min(0.5 * wide, max(40.0, wide - 10 - self.beside))
        right = wide - strip - 10
        text, size = self._sustained, self._figure_font
        colour = theme.muted if self._quiet else theme.text
        draw_text(painter, QPointF(right, middle), text, size, colour, "right")
        left = right - text_width(text, size) - 8
        if contender.result.disqualified:
            sign = QRectF(left - 13, middle - 7, 14, 14)
            paint_icon(painter, "octagon-x", theme.bad, sign)
            left -= 20
        if contender.result.faulty:
            draw_cross(painter, QPointF(left - 6, middle), 6, theme)
            left -= 18
        self._paint_name(painter, left, middle)
        self._paint_interval(painter, QRectF(right + 10, 0, strip - 6, self.height()))
        painter.end()

    def _paint_name(self, painter: QPainter, right: float, middle: float) -> None:
        theme = self._theme
        size = font(13, Weight.Medium)
        room = right - _NAME - (_TAG if self._tagged else 0)
        plain, forms = font(12, figures=True), self._contender.result.tasks.in_legend
        left = room - text_width(self._contender.name, size) - 7
        tasks = fitting(forms, plain, left) or "".join(forms[-1:])
        taken = text_width(tasks, plain) + 7 if tasks else 0
        name = name_among(self._contender.name, self._names, size, room - taken)
        colour = theme.soft if self._faint else theme.text
        width = draw_text(painter, QPointF(_NAME, middle), name, size, colour)
        if self._tagged:
            box = QRectF(_NAME + width + 7, middle - 7.5, 15, 15)
            draw_tag(painter, box, self._contender.tag, theme, filled=not self._faint)
            width += _TAG
        draw_text(painter, QPointF(_NAME + width + 7, middle), tasks, plain, theme.muted)

    def _paint_interval(self, painter: QPainter, strip: QRectF) -> None:
        result = self._contender.result
        interval = result.interval
        if interval is None or self._unlike or (result.faulty and result.knee is None):
            return
        middle = strip.center().y()
        y = middle + _BAR_DOWN

        def at(rate: float) -> float:
            return strip.left() + self._axis.share(rate) * strip.width()

        low, open_ended = at(interval.low), interval.high == inf
        high = strip.right() if open_ended else at(interval.high)
        pen = QPen(self._style.tint(), 1.6)
        if interval.coverage is None:
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        painter.setPen(QPen(self._style.tint(), 1.6))
        painter.drawLine(QPointF(low, y - 3), QPointF(low, y + 3))
        if open_ended:
            painter.drawPolyline(
                [QPointF(high - 3, y - 3), QPointF(high, y), QPointF(high - 3, y + 3)]
            )
        else:
            painter.drawLine(QPointF(high, y - 3), QPointF(high, y + 3))
        if self._contender.result.knee is not None:
            marker_at = QPointF(at(self._contender.result.knee), middle - _MARKER_UP)
            draw_marker(painter, self._style, marker_at, 3.4, self._theme.card)

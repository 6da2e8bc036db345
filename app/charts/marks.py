"""What stands in a plot beside its lines: y = x, the timeout, the client limit, published figures,
and the user's notes. All boxes and places are in the scene's pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, degrees, isnan, log10
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QTransform

from app.charts import axes
from app.charts.bar_drawing import value_box, width
from app.charts.drawing import draw_text, elided, text_width
from app.charts.plot import Plot
from app.charts.series import Quantity
from app.charts.strokes import clipped, stroke
from app.colour import with_opacity
from app.theme import Weight, font
from workbench.analysis.published import Published
from workbench.sessions.chart_notes import ChartNote

_IDEAL = "ideal: every call answered"
_CLIENTS = "what the clients reach alone"
_ABOVE = 14.0
"""Unscaled, from the line y = x to the middle of its text."""
_IDEAL_AT = 0.8
"""The middle of its text, as a share of the line."""
_LOWER = (0.0, 0.15, 0.3)
"""By which share of the line its text moves down where something else is."""
_ARM = 8.0
"""Unscaled, of a published figure's cross: twice as long as a marker of that shape, and thin."""
_LABELLED = ("replies", "mean")
"""Kinds of published figures that have a label beside their cross."""
_FLAG = 8.0
"""Unscaled, the radius of a note's flag."""
_WIDEST, _NARROWEST = 190.0, 40.0
"""Unscaled, of a note's text; with less room only its number is shown."""


class Mark(NamedTuple):
    """A published figure."""

    figure: Published
    kind: str
    """Of its texts."""
    at: QPointF
    """The middle of its sign."""
    sign: str
    """A cross (+), a line across a bar (-), an arrow to beyond the axis (^), nothing."""
    text: str = ""
    """Its label; empty: there is no room for one."""
    label: QRectF = QRectF()
    """The label's box."""


class Marks:
    """Paints the marks of one chart."""

    limit_box = QRectF()
    """Of the text at the client limit; empty: there is none."""

    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._placed_for: object = None
        self._placed: list[Mark] = []
        self._limit_text = ""

    def under(self, painter: QPainter) -> None:
        """Paint what lies under the lines."""
        chart, muted = self._chart, self._chart.theme.muted
        if self.timeout_ms is not None:
            text, box = self._timeout()
            at = QPointF(box.left(), box.center().y())
            draw_text(painter, at, text, self._font(), muted)
        if not chart.has_ideal:
            return
        if chart.is_empty:
            self._paint_calibration(painter)
            return
        pen = QPen(QColor(muted), chart.sizes.px(1.2))
        pen.setStyle(Qt.PenStyle.DotLine)
        stroke(painter, chart.ideal(), pen)
        for turned, _ in self._ideal():
            painter.save()
            painter.setTransform(turned, combine=True)
            draw_text(painter, QPointF(), _IDEAL, self._font(), muted, "middle")
            painter.restore()

    def over(self, painter: QPainter) -> None:
        """Paint what lies over the lines."""
        for mark in self.published():
            self._paint_published(painter, mark)
        if not self.limit_box.isEmpty():
            self._paint_limit(painter)
        self._paint_notes(painter)

    def texts(self) -> list[QRectF]:
        """Return the boxes of the texts at the timeout, and along the line y = x."""
        timeout = [] if self.timeout_ms is None else [self._timeout()[1]]
        return [*timeout, *(box for _, box in self._ideal())]

    def at(self, pixel: QPointF) -> str:
        """Return the texts of the note or the published figures at a pixel; empty: none."""
        reach, middle = self._chart.sizes.px(_FLAG + 2), self._middle()
        for _, note, x in self._seen():
            if abs(pixel.x() - x) <= reach and abs(pixel.y() - middle) <= reach:
                return self._text(note)
        near = (m for m in self.published() if (pixel - m.at).manhattanLength() <= reach)
        return "\n".join(mark.figure.label(mark.kind) for mark in near)

    def _font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)

    # The line y = x

    def _ideal(self) -> list[tuple[QTransform, QRectF]]:
        """Return where its text is written, and its box; nothing: it would cover a header, a note
        or a published figure.
        """
        chart = self._chart
        written = chart.has_ideal and not chart.is_empty and not chart.offset
        line = chart.ideal() if written else np.empty((0, 2))
        if len(line) < 2:
            return []
        px, end = chart.sizes.px, _IDEAL_AT
        along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
        half, whole = text_width(_IDEAL, self._font()) / 2, float(along[-1])
        if chart.ceiling is not None:
            limit = np.interp(chart.at(chart.ceiling, 1).x(), line[:, 0], along)
            end = min(end, (limit - half) / whole - 0.03)
        taken = [chart.head_box(), *self._note_boxes(), *map(self._box, self._crosses())]
        for share in (end - lower for lower in _LOWER):
            middle = share * whole
            if middle < half + 0.1 * whole:
                break
            (x, right), (y, foot) = (
                np.interp([middle - half, middle + half], along, ends) for ends in line.T
            )
            turned = QTransform.fromTranslate((x + right) / 2, (y + foot) / 2)
            turned.rotate(degrees(atan2(foot - y, right - x))).translate(0, -px(_ABOVE))
            box = turned.mapRect(QRectF(-half, -px(6), 2 * half, px(12)))
            if not any(box.intersects(other) for other in taken):
                return [(turned, box)]
        return []

    # The calibration, until a server has a point

    def calibrated(self) -> list[tuple[float, float]]:
        """Return what was offered to the null server, and answered, by ascending rate."""
        model = self._chart.model
        if not self._chart.has_ideal or not self._chart.is_empty:
            return []
        found, running = model.calibrated, model.running
        if running is not None and running.start.purpose == "ceiling":
            so_far = running.value(Quantity.REPLIES.value)
            found = sorted([*found, *([] if isnan(so_far) else [(running.x, so_far)])])
        return found

    def _paint_calibration(self, painter: QPainter) -> None:
        found, chart = self.calibrated(), self._chart
        if not found:
            return
        px, soft = chart.sizes.px, QColor(chart.theme.muted)
        line = chart.pixels(*np.array([(0.0, 0.0), *found]).T)
        stroke(painter, clipped(line, chart.box()), QPen(soft, px(2)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        seen = [at for at in map(QPointF, *line[1:].T) if chart.contains(at)]
        for at in seen:
            painter.drawEllipse(at, px(3.5), px(3.5))
        if seen:
            x, below = seen[-1].x(), seen[-1].y() + px(14)
            align = "right" if x > chart.plot_rect().center().x() else "left"
            at = QPointF(x, min(below, chart.plot_rect().bottom() - px(8)))
            draw_text(painter, at, _CLIENTS, self._font(), chart.theme.soft, align)

    # Timeout and client limit

    @property
    def timeout_ms(self) -> float | None:
        """Return the timeout, where lines end; None: it is not within this chart."""
        chart = self._chart
        timeout, (_, _, low, high) = chart.model.timeout_ms, chart.limits
        inside = low < (log10(timeout) if chart.log else timeout) <= high
        known = chart.quantity is Quantity.TIME and chart.model.has_timeout and not chart.model.bars
        return timeout if known and inside else None

    def _timeout(self) -> tuple[str, QRectF]:
        """Return the text above the line at the timeout, and its box."""
        chart, px = self._chart, self._chart.sizes.px
        text = f"timeout {axes.time_text(chart.model.timeout_ms)}"
        left, y = chart.plot_rect().left() + px(5), chart.at(0, chart.model.timeout_ms).y()
        return text, QRectF(left, y - px(14), text_width(text, self._font()), px(12))

    def place_limit(self, texts: Sequence[str]) -> None:
        """Place what says where the client limit is: the first text that fits, of several forms."""
        chart, px, plot = self._chart, self._chart.sizes.px, self._chart.plot_rect()
        self.limit_box = QRectF()
        if chart.ceiling is None:
            return
        left = max(plot.left(), chart.at(chart.ceiling, 1).x()) + px(4)
        for self._limit_text in texts:
            length = text_width(self._limit_text, self._font()) + px(10)
            if length <= plot.height() and left + px(18) <= plot.right():
                self.limit_box = QRectF(left, plot.bottom() - length - px(4), px(17), length)
                return

    def _paint_limit(self, painter: QPainter) -> None:
        """Write it upwards: it applies to every server, and is never dimmed."""
        self._paint_ground(painter, self.limit_box)
        painter.save()
        painter.translate(self.limit_box.center())
        painter.rotate(-90)
        colour = self._chart.theme.soft
        draw_text(painter, QPointF(), self._limit_text, self._font(), colour, "middle")
        painter.restore()

    def _paint_ground(self, painter: QPainter, box: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(self._chart.theme.card, 0.85))
        painter.drawRoundedRect(box, self._chart.sizes.px(4), self._chart.sizes.px(4))

    # Published figures

    def published(self) -> list[Mark]:
        """Return the marks of the published figures, each with its label where there is room."""
        chart, found = self._chart, self._crosses()
        wanted = chart.frame, tuple((m.figure, m.at.x()) for m in found)
        wanted = *wanted, chart.head_box().getCoords(), chart.model.version
        if wanted == self._placed_for:
            return self._placed
        bars = chart.curves.values() if chart.model.bars else ()
        values = [value_box(chart, curve) for curve in bars if curve.series.id not in chart.hidden]
        taken = [chart.head_box(), *self.texts(), *values, *(self._box(mark) for mark in found)]
        self._placed_for, self._placed = wanted, []
        for mark in found:
            box = self._box(mark)
            text, label = self._label(mark, box, [other for other in taken if other != box])
            taken += [label] * bool(text)
            self._placed.append(mark._replace(text=text, label=label))
        return self._placed

    def _crosses(self) -> list[Mark]:
        """Return the marks without labels: a cross; across a bar a line; an arrow at the upper
        edge, if the axis ends below it; nothing but a label for what has no place on the axis.
        """
        chart, px = self._chart, self._chart.sizes.px
        plot, found = chart.plot_rect().adjusted(-1, -1, 1, 1), []
        for figure, x, kind, value in chart.published():
            if value is None and not chart.model.bars:
                continue
            at, sign = (
                chart.at(x, chart.values_at(plot.topLeft())[1] if value is None else value),
                "",
            )
            if value is not None:
                sign = "-" if chart.model.bars else "+"
            if at.y() < plot.top() and chart.metric not in chart.showing.zoom:
                at, sign = QPointF(at.x(), plot.top() + px(_ARM)), "^" if sign else ""
            if plot.contains(at):
                found.append(Mark(figure, kind, at, sign))
        return found

    def _box(self, mark: Mark) -> QRectF:
        """Return the box of its sign."""
        arm = self._chart.sizes.px(_ARM + 2)
        wide = width(self._chart) / 2 + arm / 2 if mark.sign == "-" else arm
        tall = arm / 2 if mark.sign == "-" else arm
        return QRectF(mark.at.x() - wide, mark.at.y() - tall, 2 * wide, 2 * tall)

    def _label(self, mark: Mark, sign: QRectF, taken: Sequence[QRectF]) -> tuple[str, QRectF]:
        """Return the first form that has room beside the sign, and its box; empty: none has, so it
        is shown on hover.
        """
        chart, figure = self._chart, mark.figure
        px, bars, room = chart.sizes.px, chart.model.bars, chart.plot_rect()
        forms: tuple[str, ...] = (figure.label(mark.kind), figure.name)
        if bars:  # which have their servers' names below them
            stated = figure.figures[mark.kind].removeprefix("mean ")
            dated = forms[0].removeprefix(f"{figure.name}, published ").replace("mean ", "")
            forms = dated, stated
            room = QRectF(0, 0, chart.at(1, 0).x() - chart.at(0, 0).x(), room.height())
            room.moveTopLeft(QPointF(mark.at.x() - room.width() / 2, chart.plot_rect().top()))
            room.adjust(-px(4), -px(8), px(4), 0)
        for text in forms if mark.kind in _LABELLED or bars else ():
            wide, height = text_width(text, self._font()) + px(8), px(15)
            beside = [sign.left() - wide, sign.right()]
            places = [(x, y) for y in (0, -height, height) for x in beside]
            if bars:
                middle = mark.at.x() - wide / 2
                places = [(middle, y) for y in (-height, height, 1.5 * height)]
            for x, down in places:
                box = QRectF(x, mark.at.y() - height / 2 + down, wide, height)
                if room.contains(box) and not any(box.intersects(other) for other in taken):
                    return text, box
        return "", QRectF()

    def _paint_published(self, painter: QPainter, mark: Mark) -> None:
        px, theme, at, arm = (
            self._chart.sizes.px,
            self._chart.theme,
            mark.at,
            self._chart.sizes.px(_ARM),
        )
        half = width(self._chart) / 2 + arm / 2
        strokes = {
            "+": [((-arm, 0), (arm, 0)), ((0, -arm), (0, arm))],
            "-": [((-half, 0), (half, 0))],
            "^": [((0, arm), (0, -arm)), ((0, -arm), (-arm / 2, 0)), ((0, -arm), (arm / 2, 0))],
        }
        for thick, colour in ((px(5), theme.card), (px(2), theme.text)):
            pen = QPen(QColor(colour), thick)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            for start, end in strokes.get(mark.sign, ()):
                painter.drawLine(at + QPointF(*start), at + QPointF(*end))
        if mark.text:
            self._paint_ground(painter, mark.label)
            where = QPointF(mark.label.left() + px(4), mark.label.center().y())
            draw_text(painter, where, mark.text, self._font(), theme.soft)

    # The user's notes: a numbered flag at the top of the first chart, a line through all

    def notes(self) -> list[tuple[str, QRectF]]:
        """Return what is written beside each flag that is seen, and its box; empty: there is room
        for the number only.
        """
        px, plot, seen = self._chart.sizes.px, self._chart.plot_rect(), list(self._seen())
        ends = [*(x - px(_FLAG + 4) for _, _, x in seen[1:]), plot.right()]
        # The text of the flag before is to the left of every other one.
        starts = [plot.left(), *(x for _, _, x in seen[1:])]
        found = []
        for (_, note, x), start, end in zip(seen, starts, ends, strict=False):
            leftwards = x - start > end - x and end - x < px(_WIDEST)
            room = min(px(_WIDEST), (x - start if leftwards else end - x) - px(_FLAG + 8))
            text = elided(self._text(note), self._font(), room) if room >= px(_NARROWEST) else ""
            wide = text_width(text, self._font()) + px(_FLAG + 9)
            box = QRectF(x - wide * leftwards, self._middle() - px(8), wide, px(16))
            found.append((text, box))
        return found

    def _note_boxes(self) -> list[QRectF]:
        """Return the boxes of numbers and texts."""
        if self._chart.quantity is not Quantity.REPLIES:
            return []
        half, y = self._chart.sizes.px(_FLAG), self._middle()
        numbers = [QRectF(x - half, y - half, 2 * half, 2 * half) for *_, x in self._seen()]
        return numbers + [box for text, box in self.notes() if text]

    def _seen(self) -> Iterator[tuple[int, ChartNote, float]]:
        """(number, note, pixel) of the notes in the part that is shown."""
        chart = self._chart
        plot = chart.plot_rect()
        for number, note in enumerate(chart.notes, 1):
            x = chart.at(note.x, 1).x()
            if plot.left() - 1 <= x <= plot.right() + 1 and note.server not in chart.hidden:
                yield number, note, x

    def _middle(self) -> float:
        return self._chart.plot_rect().top() + self._chart.sizes.px(_FLAG + 1)

    def _text(self, note: ChartNote) -> str:
        series = self._chart.model.series.get(note.server)
        return f"{series.name}: {note.text}" if series else note.text

    def _paint_notes(self, painter: QPainter) -> None:
        chart = self._chart
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        line = QPen(with_opacity(theme.text, 0.55), px(1), Qt.PenStyle.DotLine)
        bold = font(px(10), Weight.DemiBold, figures=True)
        for (number, _, x), (text, box) in zip(self._seen(), self.notes(), strict=True):
            painter.setPen(line)
            painter.drawLine(QPointF(x, plot.top()), QPointF(x, plot.bottom()))
            if chart.quantity is not Quantity.REPLIES:
                continue
            if text:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(with_opacity(theme.card, 0.88))
                painter.drawRoundedRect(box, px(8), px(8))
                begin = box.left() + px(5 if box.left() < x else _FLAG + 4)
                where = QPointF(begin, box.center().y())
                draw_text(painter, where, text, self._font(), theme.text)
            at = QPointF(x, self._middle())
            painter.setPen(QPen(QColor(theme.card), px(1.5)))
            painter.setBrush(QColor(theme.text))
            painter.drawEllipse(at, px(_FLAG), px(_FLAG))
            draw_text(painter, at, str(number), bold, theme.card, "middle")

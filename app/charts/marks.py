"""What stands in a plot beside its lines: y = x, the timeout, the client limit, published figures,
and the user's notes. All boxes and places are in the scene's pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, degrees, isnan, log10
from typing import NamedTuple

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QTransform

from app.charts.bars import stated
from app.charts.drawing import clipped, draw_text, elided, stroke, text_width
from app.charts.plot import Plot, time_text
from app.charts.series import Quantity
from app.theme import Weight, font, with_opacity
from workbench.analysis.published import Published
from workbench.sessions.chart_notes import ChartNote

_IDEAL = "ideal: every call answered"
_CLIENTS = "what the clients reach alone"
_ABOVE = 14.0
"""Unscaled, from the line y = x to the middle of its text."""
_MIDDLES = (0.8, 0.65, 0.5)
"""Where along the line its text may be, as shares of it: the first that covers nothing."""
_ARM = 8.0
"""Unscaled, of a published figure's cross: twice as long as a marker of that shape, and thin."""
_LABELLED = ("replies", "mean")
"""Kinds of published figures that have a label beside their cross."""
_FLAG = 8.0
"""Unscaled, the radius of a note's flag."""
_WIDEST, _NARROWEST = 190.0, 40.0
"""Unscaled, of a note's text; with less room only its number is shown."""


class Mark(NamedTuple):
    figure: Published
    kind: str
    """Of its texts."""
    at: QPointF
    sign: str
    """A cross (+), a line across a bar (-), an arrow to beyond the axis (^), nothing."""
    box: QRectF
    text: str = ""
    """Its label; empty: there is no room for one."""
    label: QRectF = QRectF()


class Marks:
    def __init__(self, chart: Plot) -> None:
        self._chart = chart
        self._placed: tuple[object, list[Mark]] = (None, [])

    def under(self, painter: QPainter) -> None:
        chart, muted = self._chart, self._chart.theme.muted
        if self.timeout_ms is not None:
            text, box = self._timeout()
            draw_text(painter, QPointF(box.left(), box.center().y()), text, self._font(), muted)
        if not chart.has_ideal:
            return
        if chart.is_empty:
            self._paint_calibration(painter)
            return
        pen = QPen(QColor(muted), chart.sizes.px(1.2), Qt.PenStyle.DotLine)
        stroke(painter, chart.ideal(), pen)
        for turned, _ in self._ideal():
            painter.save()
            painter.setTransform(turned, combine=True)
            draw_text(painter, QPointF(), _IDEAL, self._font(), muted, "middle")
            painter.restore()

    def over(self, painter: QPainter) -> None:
        for mark in self.published():
            self._paint_published(painter, mark)
        self._paint_limit(painter)
        self._paint_notes(painter)
        self._chart.head.paint_hint(painter)

    def texts(self) -> list[QRectF]:
        timeout = [] if self.timeout_ms is None else [self._timeout()[1]]
        return [*timeout, *(box for _, box in self._ideal())]

    def at(self, pixel: QPointF) -> str:
        """Return the texts of the note or the published figures at a pixel; empty: none."""
        reach = self._chart.sizes.px(_FLAG + 2)
        for note, at, _, _ in self.notes():
            if max(abs(pixel.x() - at.x()), abs(pixel.y() - at.y())) <= reach:
                return self._text(note)
        near = (m for m in self.published() if (pixel - m.at).manhattanLength() <= reach)
        return "\n".join(mark.figure.label(mark.kind) for mark in near)

    def _font(self) -> QFont:
        return font(self._chart.sizes.px(11), Weight.Medium)

    # The line y = x

    def _ideal(self) -> list[tuple[QTransform, QRectF]]:
        """Return where its text is written, and its box; nothing: it would cover something."""
        chart = self._chart
        written = chart.has_ideal and not chart.is_empty and not chart.offset
        line = chart.ideal() if written else np.empty((0, 2))
        if len(line) < 2:
            return []
        px, end = chart.sizes.px, _MIDDLES[0]
        along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
        half, whole = text_width(_IDEAL, self._font()) / 2, float(along[-1])
        if chart.ceiling is not None:
            limit = np.interp(chart.at(chart.ceiling, 1).x(), line[:, 0], along)
            end = min(end, (limit - half) / whole - 0.03)
        notes = self.notes() if chart.quantity is Quantity.REPLIES else []
        taken = [box for *_, box in notes] + [mark.box for mark in self._crosses()]
        taken.append(chart.head.box())
        for lower in _MIDDLES:
            middle = (end - _MIDDLES[0] + lower) * whole
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
        stroke(painter, clipped(line, chart.plot_rect().getCoords()), QPen(soft, px(2)))
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
        text = f"timeout {time_text(chart.model.timeout_ms)}"
        left, y = chart.plot_rect().left() + px(5), chart.at(0, chart.model.timeout_ms).y()
        return text, QRectF(left, y - px(14), text_width(text, self._font()), px(12))

    def limit(self) -> tuple[str, QRectF]:
        """Return what says where the client limit is, and its box: the first text that fits, of two
        forms; empty: none does.
        """
        chart, px, plot = self._chart, self._chart.sizes.px, self._chart.plot_rect()
        if chart.ceiling is None or chart.quantity is not Quantity.REPLIES:
            return "", QRectF()
        left = max(plot.left(), chart.at(chart.ceiling, 1).x()) + px(4)
        whose = f" of {chart.model.tags[0]}" if len(chart.model.tags) > 1 else ""
        for text in (f"beyond the client limit{whose}", "client limit"):
            length = text_width(text, self._font()) + px(10)
            if length <= plot.height() and left + px(18) <= plot.right():
                return text, QRectF(left, plot.bottom() - length - px(4), px(17), length)
        return "", QRectF()

    def _paint_limit(self, painter: QPainter) -> None:
        """Write it upwards: it applies to every server, and is never dimmed."""
        text, box = self.limit()
        if not text:
            return
        self._paint_ground(painter, box)
        painter.save()
        painter.translate(box.center())
        painter.rotate(-90)
        draw_text(painter, QPointF(), text, self._font(), self._chart.theme.soft, "middle")
        painter.restore()

    def _paint_ground(self, painter: QPainter, box: QRectF, radius: float = 4) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(self._chart.theme.card, 0.85))
        radius = self._chart.sizes.px(radius)
        painter.drawRoundedRect(box, radius, radius)

    # Published figures

    def published(self) -> list[Mark]:
        """Return the marks of the published figures, each with its label where there is room."""
        chart, found = self._chart, self._crosses()
        wanted = chart.frame, tuple((m.figure, m.at.x()) for m in found)
        wanted = *wanted, chart.head.box().getCoords(), chart.model.version
        if wanted == self._placed[0]:
            return self._placed[1]
        values = [c.value_box() for c in chart.shown.values()] if chart.model.bars else []
        taken = [chart.head.box(), *self.texts(), *values, *(mark.box for mark in found)]
        self._placed = wanted, []
        for mark in found:
            text, label = self._label(mark, [other for other in taken if other != mark.box])
            taken += [label] * bool(text)
            self._placed[1].append(mark._replace(text=text, label=label))
        return self._placed[1]

    def _crosses(self) -> list[Mark]:
        """Return the marks without labels: a cross; across a bar a line; an arrow at the upper
        edge, if the axis ends below it; nothing but a label for what has no place on the axis.
        """
        chart, px = self._chart, self._chart.sizes.px
        plot, bars, found = chart.plot_rect().adjusted(-1, -1, 1, 1), chart.model.bars, []
        wide, tall = (chart.bar_width / 2 + px(5), px(5)) if bars else (px(10), px(10))
        for figure, x, kind, value in chart.published():
            if value is None and not bars:
                continue
            highest = chart.values_at(plot.topLeft())[1]
            at, sign = chart.at(x, highest if value is None else value), "-" if bars else "+"
            if at.y() < plot.top() and chart.metric not in chart.showing.zoom:
                at, sign = QPointF(at.x(), plot.top() + px(_ARM)), "^"
            if plot.contains(at):
                half = (wide, tall) if sign == "-" and value is not None else (px(10), px(10))
                box = QRectF(at - QPointF(*half), at + QPointF(*half))
                found.append(Mark(figure, kind, at, "" if value is None else sign, box))
        return found

    def _label(self, mark: Mark, taken: Sequence[QRectF]) -> tuple[str, QRectF]:
        """Return the first form that has room beside the sign, and its box; empty: none has."""
        chart, figure, middle = self._chart, mark.figure, mark.at.x()
        px, bars, room = chart.sizes.px, chart.model.bars, chart.plot_rect()
        forms: tuple[str, ...] = (figure.label(mark.kind), figure.name)
        if bars:  # which have their servers' names below them
            forms = stated(figure, mark.kind)
            half = chart.place_width / 2 + px(4)
            room.setCoords(middle - half, room.top() - px(8), middle + half, room.bottom())
        for text in forms if mark.kind in _LABELLED or bars else ():
            wide, height = text_width(text, self._font()) + px(8), px(15)
            beside = [mark.box.left() - wide, mark.box.right()]
            beside = [middle - wide / 2] if bars else beside
            for down in (-1, 1, 1.5) if bars else (0, -1, 1):
                for x in beside:
                    box = QRectF(x, mark.at.y() + (down - 0.5) * height, wide, height)
                    if room.contains(box) and not any(box.intersects(other) for other in taken):
                        return text, box
        return "", QRectF()

    def _paint_published(self, painter: QPainter, mark: Mark) -> None:
        chart, at = self._chart, mark.at
        px, theme, arm = chart.sizes.px, chart.theme, chart.sizes.px(_ARM)
        half = chart.bar_width / 2 + arm / 2
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

    def notes(self) -> list[tuple[ChartNote, QPointF, str, QRectF]]:
        """Return notes that are seen: the middle of each flag, its text, and the box of both."""
        chart, px, plot = self._chart, self._chart.sizes.px, self._chart.plot_rect()
        shown = [note for note in chart.notes if note.server not in chart.hidden]
        each = ((n, QPointF(chart.at(n.x, 1).x(), plot.top() + px(_FLAG + 1))) for n in shown)
        seen = [(n, at) for n, at in each if plot.left() - 1 <= at.x() <= plot.right() + 1]
        ends = [*(at.x() - px(_FLAG + 4) for _, at in seen[1:]), plot.right()]
        # The text of the flag before is to the left of every other one.
        starts = [plot.left(), *(at.x() for _, at in seen[1:])]
        found = []
        for (note, at), start, end in zip(seen, starts, ends, strict=False):
            x, half = at.x(), px(_FLAG)
            leftwards = x - start > end - x and end - x < px(_WIDEST)
            room = min(px(_WIDEST), (x - start if leftwards else end - x) - px(_FLAG + 8))
            text = elided(self._text(note), self._font(), room) if room >= px(_NARROWEST) else ""
            wide = text_width(text, self._font()) + px(_FLAG + 9) if text else half
            box = QRectF(x - wide, at.y() - half, wide + half, 2 * half)
            found.append((note, at, text, box if leftwards else box.translated(wide - half, 0)))
        return found

    def _text(self, note: ChartNote) -> str:
        series = self._chart.model.series.get(note.server)
        return f"{series.name}: {note.text}" if series else note.text

    def _paint_notes(self, painter: QPainter) -> None:
        chart = self._chart
        px, theme, plot = chart.sizes.px, chart.theme, chart.plot_rect()
        bold = font(px(10), Weight.DemiBold, figures=True)
        for note, at, text, box in self.notes():
            painter.setPen(QPen(with_opacity(theme.text, 0.55), px(1), Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(at.x(), plot.top()), QPointF(at.x(), plot.bottom()))
            if chart.quantity is not Quantity.REPLIES:
                continue
            if text:
                self._paint_ground(painter, box, 8)
                left = box.center().x() < at.x()
                begin = box.left() + px(5) if left else at.x() + px(_FLAG + 4)
                draw_text(painter, QPointF(begin, at.y()), text, self._font(), theme.text)
            painter.setPen(QPen(QColor(theme.card), px(1.5)))
            painter.setBrush(QColor(theme.text))
            painter.drawEllipse(at, px(_FLAG), px(_FLAG))
            number = str(chart.notes.index(note) + 1)
            draw_text(painter, at, number, bold, theme.card, "middle")

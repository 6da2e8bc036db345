"""A session on one self-explanatory page: conditions, legend, charts, how to read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from app.charts import words
from app.charts.drawing import (
    draw_cross,
    draw_swatch,
    draw_text,
    elided,
    fitting,
    metrics,
    text_width,
)
from app.charts.model import ChartModel
from app.charts.projection import Projection
from app.charts.series import Quantity, Series
from app.charts.sizes import Sizes, least_height
from app.charts.trio import Trio
from app.charts.view_state import Look, Showing
from app.theme import Theme, Weight, font
from workbench import formatting
from workbench.analysis.series import View
from workbench.documents import AnyDocument, MachineRecord, Note
from workbench.formatting import capital
from workbench.results import sustained
from workbench.results.setup import Setup
from workbench.sessions.chart_notes import ChartNote

_WIDTH = 1600.0
"""The page is designed for this width; other widths scale it."""

_MARGIN = 56.0
_LARGEST = 1.5
"""The largest scale of the charts' text, relative to the window."""


class Page:
    """Paints a session's page on anything, `size` in the painter's units."""

    def __init__(
        self,
        documents: Iterable[AnyDocument],
        theme: Theme,
        size: tuple[int, int],
        view: View | None = None,
        showing: Showing | None = None,
        *,
        look: Look | None = None,
        title: str = "",
        notes: Sequence[ChartNote] = (),
    ) -> None:
        """`title`: what the user calls it; empty: the plan's name. `notes`: on the charts."""
        self._called = title
        self.model = ChartModel()
        self._notes: list[Note] = []
        for document in documents:
            self.model(document)
            if isinstance(document, Note):
                self._notes.append(document)
        self.model.end()
        self._theme, self._size = theme, size
        self._unit = size[0] / _WIDTH
        self._trio = Trio(self.model, theme)
        self._trio.project(look or Look())
        self._trio.set_view(view or View())
        self._trio.show_part(showing or Showing())
        self._trio.set_notes(notes)

    def paint(self, painter: QPainter) -> None:
        width, height = self._size
        margin = self._px(_MARGIN)
        painter.fillRect(QRectF(0, 0, width, height), QColor(self._theme.card))
        y = self._paint_head(painter, self._px(50))
        y = self._paint_legend(painter, y + self._px(12))
        size, room = font(self._px(16)), width - 2 * margin
        foot = [part for note in self._explanations() for part in wrapped(note, size, room)]
        foot_height = self._px(23) * len(foot)
        trio = QRectF(margin, y, room, height - y - foot_height - self._px(38))
        self._paint_trio(painter, trio)
        self._paint_foot(painter, foot, height - foot_height - self._px(14))

    def describe(self) -> str:
        """Return the page as text, for screen readers."""
        results = [
            " ".join([sustained.sentence(s), *(f"({text})" for text in s.tasks.in_legend[:1])])
            for s in self.model.ranked()
        ]
        return f"{self.title()}. {' '.join(self._conditions())} {', '.join(results)}."

    def title(self) -> str:
        plan = self.model.start.plan if self.model.start else {}
        return self._called or plan.get("name") or "Comparison"

    def _px(self, size: float) -> float:
        return size * self._unit

    # Head

    def _paint_head(self, painter: QPainter, y: float) -> float:
        theme, px, left = self._theme, self._px, self._px(_MARGIN)
        room, start, (state, reason) = self._size[0] - 2 * left, self.model.start, self._state()
        big, small, plain = font(px(36), Weight.DemiBold), font(px(19), Weight.Medium), font(px(16))
        made = f"Pongbench {start.pongbench} · session {start.session[:8]}" if start else ""
        at = QPointF(left + room, y + px(12))
        taken = draw_text(painter, at, made, plain, theme.muted, "right") + px(30)
        taken += text_width(state, small) + px(30) if state else 0.0
        shown = elided(self.title(), big, room - taken)
        width = draw_text(painter, QPointF(left, y + px(10)), shown, big, theme.text)
        draw_text(painter, QPointF(left + width + px(22), y + px(12)), state, small, theme.warn)
        y += px(50)
        size = font(px(18))
        for line in self._conditions():
            for part in wrapped(line, size, room, between=" · "):
                draw_text(painter, QPointF(left, y), part, size, theme.soft)
                y += px(26)
        for part in wrapped(reason, size, room) if reason else ():
            draw_text(painter, QPointF(left, y), part, size, theme.warn)
            y += px(26)
        return y

    def _state(self) -> tuple[str, str]:
        """Return what a reader must know when the run was incomplete, and why it was."""
        stop = self.model.stop
        if stop is None:
            return "cut off before its end", ""
        texts = {"done": "", "stopped": "stopped early", "aborted": "aborted", "failed": "failed"}
        return texts[stop.status], stop.reason if stop.status == "failed" else ""

    def _conditions(self) -> list[str]:
        start = self.model.start
        if start is None:
            return ["The session is empty."]
        setup = Setup(start)
        when = datetime.fromisoformat(start.started_utc)
        date = f"{when.day} {when:%B %Y, %H:%M} UTC"
        return [
            _line(setup.where, *map(_hardware, setup.targets), date),
            _line(
                *(setup.protocol, setup.calls, setup.load, setup.size),
                *(setup.passes if setup.repeats > 1 else "", setup.timeout),
                *(self._backlog(setup), setup.load_tool),
            ),
        ]

    def _backlog(self, setup: Setup) -> str:
        """Return the backlog as requested; where the kernel applied another, that too."""
        requested = setup.plan.get("backlog", 0)
        found = {
            note.server: note.data["backlog"]
            for note in self._notes
            if note.topic == "backlog" and note.server in self.model.series and note.data
        }
        other = {id_: value for id_, value in found.items() if value != requested}
        if not other:
            return setup.backlog
        others = ", ".join(f"{self.model.series[i].name} {value:,}" for i, value in other.items())
        return f"{setup.backlog or 'backlogs'} (in force: {others})"

    # Legend

    def _paint_legend(self, painter: QPainter, y: float) -> float:
        ranked = self.model.ranked()
        columns = max(1, min(4, len(ranked)))
        left, gap = self._px(_MARGIN), self._px(24)
        wide = (self._size[0] - 2 * left - gap * (columns - 1)) / columns
        tall = self._px(54)
        for i, series in enumerate(ranked):
            column, row = i % columns, i // columns
            cell = QRectF(left + column * (wide + gap), y + row * tall, wide, tall)
            self._paint_entry(painter, series, cell)
        return y + tall * -(-len(ranked) // columns) + self._px(8)

    def _paint_entry(self, painter: QPainter, series: Series, cell: QRectF) -> None:
        theme, px = self._theme, self._px
        swatch = QRectF(cell.left(), cell.top() + px(2), px(58), px(24))
        draw_swatch(painter, theme.series(series.index), swatch, theme.card)
        x, room = swatch.right() + px(12), cell.right() - swatch.right() - px(12)
        bold, light = font(px(19), Weight.DemiBold), font(px(16))
        at, forms = QPointF(x, swatch.center().y()), series.tasks.in_legend
        left = room - text_width(series.name, bold) - px(10)
        tasks = fitting(forms, light, left) or "".join(forms[-1:])
        taken = text_width(tasks, light) + px(10) if tasks else 0.0
        width = draw_text(painter, at, elided(series.name, bold, room - taken), bold, theme.text)
        draw_text(painter, at + QPointF(width + px(10), 0), tasks, light, theme.muted)
        result = sustained.parts(series)
        plain, strong = font(px(17)), font(px(17), Weight.DemiBold, figures=True)
        at = QPointF(x, swatch.center().y() + px(25))
        more = series.fault or series.disqualified or self._at_knee(series)
        bad = theme.bad if series.faulty or series.disqualified else theme.muted
        for text, size, colour, gap, crossed in (
            (result.caption, plain, theme.muted, 6, series.faulty and series.knee is None),
            (result.figure, strong, theme.text, 10, False),
            (more, plain, bad, 0, series.faulty and series.knee is not None),
        ):
            if crossed:  # the sign of a faulty server
                draw_cross(painter, at + QPointF(px(6), 0), px(7), theme)
                at += QPointF(px(19), 0)
            if at.x() + text_width(text, size) <= cell.right() or text is not more:
                width = draw_text(painter, at, text, size, colour)
                at += QPointF(width + px(gap), 0)
            if not result.figure:
                return

    def _at_knee(self, series: Series) -> str:
        view = self._trio.view
        knee = next((r for r in series.points if r.x == series.knee), None)
        if knee is None or not knee.supported(view):
            return ""
        value = knee.value(Quantity.TIME.value, view)
        return f"{words.percentile(view.percentile)} {formatting.duration(value * 1000)}"

    # Charts

    def _paint_trio(self, painter: QPainter, target: QRectF) -> None:
        trio = self._trio
        least = least_height(len(self.model.series))
        scale = max(1.0, min(_LARGEST, target.height() / self._unit / least)) * self._unit
        trio.set_sizes(Sizes(scale=scale))
        trio.prepare(round(target.width()), round(target.height()))
        trio.paint(painter, target)
        trio.hide()

    # Foot

    def _explanations(self) -> list[str]:
        model, view, drawn = self.model, self._trio.view, self._trio.drawn
        if isinstance(drawn, Projection):
            return drawn.legend(view)
        lines = model.legend(view)
        if stopped := [f"{s.name} {s.disqualified}" for s in model.ranked() if s.disqualified]:
            lines.append(f"Disqualified: {'; '.join(stopped)}.")
        lines += model.numbered(self._trio.notes)
        if self._trio.showing.zoom:
            lines.append("Zoomed: the session has more points than these charts show.")
        ceiling = model.ceiling_per_s if model.axis.calibrated else None
        rate = words.per_second(ceiling or 0)
        if ceiling is not None and ceiling < model.last_x:
            lines.append(
                f"Hatched: beyond the client limit of {rate}, where the load generator may be "
                "the limit, not the server."
            )
        elif ceiling is not None:
            lines.append(f"Client limit: at least {rate}, the highest rate offered here.")
        return lines

    def _paint_foot(self, painter: QPainter, lines: Sequence[str], y: float) -> None:
        theme, left, right = self._theme, self._px(_MARGIN), self._size[0] - self._px(_MARGIN)
        painter.setPen(QPen(QColor(theme.line), max(1.0, self._px(1))))
        painter.drawLine(QPointF(left, y - self._px(20)), QPointF(right, y - self._px(20)))
        for line in lines:
            draw_text(painter, QPointF(left, y), line, font(self._px(16)), theme.muted)
            y += self._px(23)


def wrapped(text: str, size: QFont, room: float, between: str = " ") -> list[str]:
    """`text` in lines no wider than `room`, broken only at `between`."""
    lines: list[str] = []
    for piece in text.split(between):
        longer = f"{lines[-1]}{between}{piece}" if lines else piece
        if lines and metrics(size).horizontalAdvance(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(piece)
    return [elided(line, size, room) for line in lines]


def _line(*phrases: str) -> str:
    return capital(" · ".join(filter(None, phrases)))


def _hardware(machine: MachineRecord) -> str:
    """Return what is known of a machine: CPU, cores, system, kernel."""
    facts = machine.facts
    cores = facts.get("cpu_count")
    count = f"{cores} core{'s' if cores != 1 else ''}" if cores else ""
    cpu = str(facts.get("cpu_model") or "").replace("(R)", "").replace("(TM)", "")
    parts = (cpu, count), (facts.get("distribution"), facts.get("kernel"))
    each = (", ".join(str(known) for known in part if known) for part in parts)
    return " · ".join(filter(None, (*each, str(facts.get("virtualisation") or ""))))

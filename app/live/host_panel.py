"""Metrics of the server's machine, CPU, memory and accept queue, and of the clients beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.charts import words
from app.charts.drawing import draw_text
from app.charts.scales import end, round_up
from app.charts.strokes import draw_hair
from app.colour import with_opacity
from app.painted import Painted
from app.theme import Theme, Weight, font
from app.widgets import Elided, column, empty, label, retone, row
from workbench.documents import AnyDocument, ClientPart, HostSample, Note, PointStop, RunStart
from workbench.formatting import time_span

_AGAIN_US = 10_000_000
"""A gap between samples after which another pass has started."""
_LEAST = 30
"""The number of samples for which the width is laid out at first, while a server runs."""
_SCALE = 42.0
"""The width of the scales left of the traces."""
_AXIS = 13
_BOTH_ENDS = 26.0
"""From this height a trace has room for both ends of its scale."""


class HostPanel(QFrame):
    """Consumes documents; shows the running server, or the selected one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("card")
        self._theme = theme
        self._samples: dict[str, list[HostSample]] = {}
        self._names: dict[str, str] = {}
        self._latest = self._pointed_at = ""
        self._over = False
        self._stale = True
        inside = column(self, margin=12, gap=6)
        head = row()
        self._title = Elided(14, Weight.DemiBold)
        self._about = label("", 12, tone="muted")
        head.addWidget(self._title, 1)
        head.addWidget(self._about)
        inside.addLayout(head)
        self._traces = (
            Trace("CPU", "of one core", _cpu, theme),
            Trace("Memory", "RSS; dotted: PSS", _memory, theme),
            Trace("Accept queue", "waiting connections", _queue, theme),
        )
        for trace in self._traces:
            inside.addWidget(trace, 1)
        self._axis = _TimeAxis(theme)
        inside.addWidget(self._axis)
        inside.addStretch()
        self._clients = Clients()
        inside.addWidget(self._clients)
        self.refresh()

    def __call__(self, document: AnyDocument) -> None:
        self._clients(document)
        match document:
            case RunStart():
                self._samples.clear()
                self._latest, self._over = "", False
                self._names = {record.id: record.name for record in document.servers}
                self._stale = True
            case HostSample() if document.server:
                before = self._samples.setdefault(document.server, [])
                if before and document.t_us - before[-1].t_us > _AGAIN_US:
                    before.clear()
                before.append(document)
                self._latest = document.server
                self._stale = True

    def clear(self) -> None:
        self._clients.clear()
        self._samples.clear()
        self._latest = self._pointed_at = ""
        self._over = False
        self._stale = True

    def end(self) -> None:
        """Mark the end of the documents: no server runs any more."""
        self._stale = self._stale or not self._over
        self._over = True

    def point_to(self, server: str) -> None:
        """Show this server's metrics (empty: the latest)."""
        self._pointed_at = server
        self._stale = True
        self.refresh()

    def refresh(self) -> None:
        self._clients.refresh()
        if not self._stale:
            return
        self._stale = False
        server = self._pointed_at if self._pointed_at in self._samples else self._latest
        samples = self._samples.get(server, [])
        for part in (*self._traces, self._axis):
            part.setVisible(bool(samples))
        if not samples:
            self._title.show_text("The server's machine")
            self._about.setText("")
            return
        last = samples[-1]
        name = self._names.get(server, "Null server" if server == "null" else server)
        self._title.show_text(f"{name} on {last.machine}")
        self._about.setText(f"{last.processes} process{'es' if last.processes != 1 else ''}")
        index = list(self._names).index(server) if server in self._names else None
        colour = self._theme.muted if index is None else self._theme.series(index).colour
        runs = server == self._latest and not self._over
        slots = max(_LEAST, len(samples)) if runs else len(samples)
        for trace in self._traces:
            trace.display(samples, colour, slots)
        each_us = (last.t_us - samples[0].t_us) / max(1, len(samples) - 1)
        self._axis.show_span(each_us * (slots - 1) / 1e6)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._stale = True
        self.refresh()


@dataclass(frozen=True)
class Reading:
    """The values that a trace draws from samples."""

    figure: str
    unit: str
    values: list[float]
    top: float
    scale: str
    """The top in words: "512"."""
    beside: Sequence[float] = ()
    """Values drawn dotted; empty: none."""


class Trace(QWidget):
    """One metric over the server's time: from the left, narrower as time passes."""

    def __init__(
        self, name: str, about: str, read: Callable[[Sequence[HostSample]], Reading], theme: Theme
    ) -> None:
        super().__init__()
        self._name, self._read, self._theme, self._colour = name, read, theme, theme.muted
        self._reading: Reading | None = None
        self._slots = _LEAST
        inside: QVBoxLayout = column(self, gap=2)
        head = row(gap=6)
        head.addWidget(label(name, 12, Weight.DemiBold))
        about_label = Elided(12, tone="muted", droppable=True)
        about_label.show_text(about)
        head.addWidget(about_label, 1)
        self._figure = label("", 13, Weight.DemiBold, figures=True)
        self._unit = label("", 12, tone="muted")
        head.addWidget(self._figure)
        head.addWidget(self._unit)
        inside.addLayout(head)
        self._plot = _Plot(self)
        inside.addWidget(self._plot, 1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._plot.update()

    def display(self, samples: Sequence[HostSample], colour: str, slots: int) -> None:
        """`slots`: the number of samples for which the width is laid out."""
        self._reading, self._colour, self._slots = self._read(samples), colour, slots
        self._figure.setText(self._reading.figure)
        self._unit.setText(self._reading.unit)
        self.setAccessibleName(f"{self._name}: {self._reading.figure} {self._reading.unit}")
        self._plot.update()

    def paint(self, painter: QPainter, room: QRectF) -> None:
        reading, theme = self._reading, self._theme
        self._paint_scale(painter, room)
        room = room.adjusted(_SCALE, 0, 0, 0)
        for y in (room.top(), room.center().y(), room.bottom()):
            draw_hair(painter, room.left(), room.right(), round(y) + 0.5, theme.line)
        if reading is None or not reading.values:
            return
        line = _polygon(reading.values, reading.top, room, self._slots)
        under = QPolygonF(line)
        under.append(QPointF(line.last().x(), room.bottom()))
        under.append(QPointF(line.first().x(), room.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(with_opacity(self._colour, 0.18))
        painter.drawPolygon(under)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if any(reading.beside):
            pen = QPen(QColor(theme.soft), 1.2)
            pen.setStyle(Qt.PenStyle.DotLine)
            painter.setPen(pen)
            painter.drawPolyline(_polygon(reading.beside, reading.top, room, self._slots))
        painter.setPen(QPen(QColor(self._colour), 1.6))
        painter.drawPolyline(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._colour))
        painter.drawEllipse(line.last(), 3, 3)

    def _paint_scale(self, painter: QPainter, room: QRectF) -> None:
        if self._reading is None:
            return
        size, x = font(11, figures=True), room.left() + _SCALE - 6
        low = [(room.bottom() - 2, "0")] * (room.height() >= _BOTH_ENDS)
        for y, text in ((room.top() + 2, self._reading.scale), *low):
            draw_text(painter, QPointF(x, y), text, size, self._theme.muted, "right")


class _TimeAxis(Painted):
    """Below the traces: from the server's start to where their width ends."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setFixedHeight(_AXIS)
        self._span = ""

    def show_span(self, seconds: float) -> None:
        self._span = time_span((seconds, seconds)) if seconds else ""
        self.setAccessibleName(f"Time: the first {self._span}" if seconds else "")
        self.update()

    def paint(self, painter: QPainter) -> None:
        size, y = font(11, figures=True), self.height() / 2
        ends = ((_SCALE, "0 s", "left"), (self.width() - 4.0, self._span, "right"))
        for x, text, align in ends:
            draw_text(painter, QPointF(x, y), text, size, self.theme.muted, align)


class _Plot(QWidget):
    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace
        self.setMinimumHeight(20)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._trace.paint(painter, QRectF(0, 3, self.width() - 4, self.height() - 6))
        painter.end()


def _polygon(values: Sequence[float], top: float, room: QRectF, slots: int) -> QPolygonF:
    """Return at most one vertex per two pixels: the highest value of those that share it."""
    share = max(1, -(-len(values) * 2 // max(1, int(room.width()))))
    step = room.width() / max(1, slots - 1)
    line = QPolygonF()
    for first in range(0, len(values), share):
        part = values[first : first + share]
        x = room.left() + (first + len(part) - 1) * step
        line.append(QPointF(x, room.bottom() - room.height() * min(1.0, max(part) / top)))
    return line


def _cpu(samples: Sequence[HostSample]) -> Reading:
    values = [sample.cpu_pct for sample in samples]
    top = max(100.0, -(-max(values) // 100) * 100)
    return Reading(f"{values[-1]:.0f}", "%", values, top, f"{top:.0f} %")


def _memory(samples: Sequence[HostSample]) -> Reading:
    values = [sample.rss_bytes / 1e6 for sample in samples]
    beside = [sample.pss_bytes / 1e6 for sample in samples]
    top = end(1.05 * max(1.0, *values))
    return Reading(f"{values[-1]:,.0f}", "MB", values, top, words.count(top), beside)


def _queue(samples: Sequence[HostSample]) -> Reading:
    values = [float(sample.accept_queue) for sample in samples]
    backlog = samples[-1].backlog
    unit = f"of {backlog:,}" if backlog else ""
    top = max(backlog, *values) if backlog else round_up(max(8.0, *values) * 1.02)
    return Reading(words.count(values[-1]), unit, values, top, words.count(top))


_HEADS = ("CPU", "late", "unsent")
_WIDE = (40, 40, 44)
_MOST = 6
_RIGHT = Qt.AlignmentFlag.AlignRight


class Clients(QWidget):
    """Consumes documents; shown where the load comes from other machines than the server's."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._cpu: dict[str, float] = {}
        self._parts: dict[str, ClientPart] = {}
        self._lost: set[str] = set()
        self._stale = True
        self._cells: dict[str, tuple[QLabel, ...]] = {}
        inside = column(self, gap=2)
        head = row(gap=6)
        head.addWidget(label("Clients", 12, Weight.DemiBold))
        self._about = Elided(12, tone="muted")
        head.addWidget(self._about, 1)
        inside.addLayout(head)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(1)
        self._grid.setColumnStretch(0, 1)
        # The layout does not move when figures change.
        for place, wide in enumerate(_WIDE, start=1):
            self._grid.setColumnMinimumWidth(place, wide)
        inside.addLayout(self._grid)
        self.hide()

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case RunStart():
                self.clear()
                far = [m.name for m in document.machines if m.roles == ["client"]]
                self._names = far
                self._build()
            case HostSample() if document.machine in self._names:
                self._cpu[document.machine] = document.host_cpu_pct
            case PointStop():
                self._parts = {part.machine: part for part in document.clients}
            case Note() if document.topic in ("client-lost", "client-back"):
                names = set(document.data.get("clients", ()))
                is_loss = document.topic == "client-lost"
                self._lost = self._lost | names if is_loss else self._lost - names
            case _:
                return
        self._stale = True

    def clear(self) -> None:
        self._names = []
        self._cpu.clear()
        self._parts, self._lost = {}, set()
        self._build()

    def refresh(self) -> None:
        if not self._stale:
            return
        self._stale = False
        for name, (named, *cells) in self._cells.items():
            part, cpu = self._parts.get(name), self._cpu.get(name)
            is_lost = name in self._lost
            late = part is not None and part.late > 0
            unsent = part is not None and part.unsent > 0
            values = (
                "gone" if is_lost else f"{cpu:.0f} %" if cpu is not None else "–",
                f"{part.late:,}" if part and not is_lost else "–",
                f"{part.unsent:,}" if part and not is_lost else "–",
            )
            doubts = (is_lost, late, unsent)
            for cell, value, doubtful in zip(cells, values, doubts, strict=True):
                cell.setText(value)
                retone(cell, "warn" if doubtful else "")
            text = ", ".join(f"{head} {value}" for head, value in zip(_HEADS, values, strict=True))
            named.setAccessibleName(f"{name}: {text}")

    def _build(self) -> None:
        empty(self._grid)
        self._cells = {}
        self._stale = True
        self.setVisible(bool(self._names))
        if not self._names:
            return
        count = len(self._names)
        more = f"; {count - _MOST} more" if count > _MOST else ""
        self._about.show_text(f"late and unsent calls in the last point{more}")
        for place, head in enumerate(_HEADS, start=1):
            self._grid.addWidget(label(head, 11, tone="muted"), 0, place, _RIGHT)
        for line, name in enumerate(self._names[:_MOST], start=1):
            named = Elided(12)
            named.show_text(name)
            cells = tuple(label("–", 12, figures=True) for _ in _HEADS)
            self._grid.addWidget(named, line, 0)
            for place, cell in enumerate(cells, start=1):
                self._grid.addWidget(cell, line, place, _RIGHT)
            self._cells[name] = (named, *cells)

"""Metrics of the server's machine, CPU, memory and accept queue, and of the clients beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from app.charts import words
from app.charts.scales import end, round_up
from app.live.trace import Reading, Trace
from app.theme import Theme, Weight, current
from app.widgets import Elided, beside, column, label, retone
from workbench.documents import AnyDocument, ClientPart, HostSample, Note, PointStop, RunStart
from workbench.formatting import time_span

_AGAIN_US = 10_000_000
"""A gap between samples after which another pass has started."""
_LEAST = 30
"""The number of samples for which the width is laid out at first, while a server runs."""


class HostPanel(QFrame):
    """Consumes documents, until `clear`; shows the running server, or the selected one."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._samples: dict[str, list[HostSample]] = {}
        self._names: dict[str, str] = {}
        self._latest = self._pointed_at = ""
        self._over = False
        self._stale = True
        self._title = Elided(14, Weight.DemiBold)
        self._about = label("", 12, tone="muted")
        self._traces = {
            Trace("CPU", "of one core"): _cpu,
            Trace("Memory", "RSS; dotted: PSS"): _memory,
            Trace("Accept queue", "waiting connections"): _queue,
        }
        self._axis = label("", 11, tone="muted", figures=True)
        self._axis.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._clients = Clients()
        head, traces = beside((self._title, 1), self._about), ((each, 1) for each in self._traces)
        column(self, head, *traces, self._axis, (None, 0), self._clients, margin=12, gap=6)
        self.refresh()

    def __call__(self, document: AnyDocument) -> None:
        self._clients(document)
        match document:
            case RunStart():
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
        colour = current().muted if index is None else current().series(index).colour
        runs = server == self._latest and not self._over
        slots = max(_LEAST, len(samples)) if runs else len(samples)
        for trace, read in self._traces.items():
            trace.display(read(samples), colour, slots)
        each_us = (last.t_us - samples[0].t_us) / max(1, len(samples) - 1)
        seconds = each_us * (slots - 1) / 1e6
        self._axis.setText(f"0 to {time_span((seconds, seconds))}" if seconds else "")

    def set_theme(self, theme: Theme) -> None:
        self._stale = True
        self.refresh()


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


_MOST = 6


class Clients(QWidget):
    """Consumes documents, until `clear`; shown where the load comes from other machines."""

    def __init__(self) -> None:
        super().__init__()
        self._names: list[str] = []
        self._cpu: dict[str, float] = {}
        self._parts: dict[str, ClientPart] = {}
        self._lost: set[str] = set()
        self._about = Elided(12, tone="muted")
        self._lines = [Elided(12) for _ in range(_MOST)]
        head = beside(label("Clients", 12, Weight.DemiBold), (self._about, 1), gap=6)
        column(self, head, *self._lines, gap=2)
        self.hide()

    def __call__(self, document: AnyDocument) -> None:
        match document:
            case RunStart():
                self._names = [m.name for m in document.machines if m.roles == ["client"]]
            case HostSample() if document.machine in self._names:
                self._cpu[document.machine] = document.host_cpu_pct
            case PointStop():
                self._parts = {part.machine: part for part in document.clients}
            case Note() if document.topic in ("client-lost", "client-back"):
                names = set(document.data.get("clients", ()))
                is_loss = document.topic == "client-lost"
                self._lost = self._lost | names if is_loss else self._lost - names

    def clear(self) -> None:
        self._names = []
        self._cpu.clear()
        self._parts, self._lost = {}, set()

    def refresh(self) -> None:
        self.setVisible(bool(self._names))
        more = f"; {len(self._names) - _MOST} more" if len(self._names) > _MOST else ""
        self._about.show_text(f"late and unsent calls in the last point{more}")
        for place, line in enumerate(self._lines):
            line.setVisible(place < len(self._names))
            if place < len(self._names):
                self._show(line, self._names[place])

    def _show(self, line: Elided, name: str) -> None:
        cpu, part, is_lost = self._cpu.get(name), self._parts.get(name), name in self._lost
        load = "gone" if is_lost else f"{cpu:.0f} %" if cpu is not None else "–"
        late, unsent = (part.late, part.unsent) if part and not is_lost else (None, None)
        counts = ("–" if count is None else f"{count:,}" for count in (late, unsent))
        line.show_text("{}: CPU {}, late {}, unsent {}".format(name, load, *counts))
        retone(line, "warn" if is_lost or late or unsent else "")

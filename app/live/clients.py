"""The client machines beside the server's: CPU use and lateness."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.theme import Weight
from app.widgets import Elided, column, empty, label, retone, row
from workbench.documents import AnyDocument, ClientPart, HostSample, Note, PointStop, RunStart

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

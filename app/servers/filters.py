"""Chooses which servers the table shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.choices import Tick
from app.context import Desk
from app.servers.known import KINDS, Known
from app.servers.painting import write
from app.servers.rows import Index
from app.stacking import widen
from app.theme import Theme, Weight
from app.widgets import column, label
from workbench.workloads.registry import ALL_FAMILIES

_ID = Qt.ItemDataRole.UserRole
_COUNT = Qt.ItemDataRole.UserRole + 1
_ROW_PX = 32


class Filters(QFrame):
    """Families with counts; whether servers run here; which table of then has them."""

    changed = Signal()

    WIDTH = 196

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setObjectName("card")
        self.set_wide(False)
        inside = column(self, margin=14)
        inside.addWidget(label("Families", 12, Weight.DemiBold, tone="muted"))
        inside.addSpacing(6)
        self._families = QListWidget()
        self._families.setAccessibleName("Families")
        self._families.setItemDelegate(_Delegate(desk, self._families))
        self._families.setFrameShape(QFrame.Shape.NoFrame)
        self._families.setStyleSheet(
            "QListWidget, QListWidget:focus { border: none; background: transparent; }"
        )
        self._families.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._families.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._families.currentRowChanged.connect(lambda _: self.changed.emit())
        inside.addWidget(self._families)
        self._kinds = {kind: self._tick(kind) for kind in KINDS}
        self._then = {year: self._tick(f"In the table of {year}") for year in ("2009", "2010")}
        self._ticked = self._tick("Selected")
        only = [*self._then.values(), self._ticked]
        for tick in only:
            tick.setChecked(False)
        for title, ticks in (("Show", self._kinds.values()), ("Only", only)):
            inside.addSpacing(18)
            inside.addWidget(label(title, 12, Weight.DemiBold, tone="muted"))
            inside.addSpacing(6)
            for tick in ticks:
                inside.addWidget(tick)
        inside.addStretch(1)
        self.foot = inside

    def set_servers(self, servers: Sequence[Known]) -> None:
        """Count the servers; an empty family is left out."""
        chosen = self.family
        counts: dict[str, int] = {"": len(servers)}
        for known in servers:
            counts[known.family or "?"] = counts.get(known.family or "?", 0) + 1
        counts["own"] = sum(known.own for known in servers)
        self._families.blockSignals(True)
        self._families.clear()
        for id_, name in {"": "All", **ALL_FAMILIES, "own": "My own"}.items():
            if counts.get(id_) or id_ in {"", "own"}:
                item = QListWidgetItem(name)
                item.setData(_ID, id_)
                item.setData(_COUNT, counts.get(id_, 0))
                text = f"{name}, {counts.get(id_, 0)}"
                item.setData(Qt.ItemDataRole.AccessibleTextRole, text)
                self._families.addItem(item)
        self._families.setFixedHeight(self._families.count() * _ROW_PX)
        self.family = chosen
        self._families.blockSignals(False)

    def set_wide(self, wide: bool) -> None:
        """Take all of the width, where they stand above the table."""
        widen(self, self.WIDTH, below=wide)

    @property
    def family(self) -> str:
        """Return the family; empty: all; "own": the user's."""
        item = self._families.currentItem()
        return str(item.data(_ID)) if item else ""

    @family.setter
    def family(self, id: str) -> None:
        places = range(self._families.count())
        ids = [self._families.item(place).data(_ID) for place in places]
        self._families.setCurrentRow(ids.index(id) if id in ids else 0)

    @property
    def kinds(self) -> set[str]:
        return {kind for kind, tick in self._kinds.items() if tick.isChecked()}

    @property
    def tables(self) -> set[str]:
        """Return the years of the tables whose servers are shown; none: all servers."""
        return {year for year, tick in self._then.items() if tick.isChecked()}

    @property
    def only_ticked(self) -> bool:
        """Whether only the ticked servers are shown, to compare them side by side."""
        return self._ticked.isChecked()

    @property
    def count(self) -> int:
        """Return the number of filters that hide servers."""
        hidden = len(set(KINDS) - self.kinds)
        return bool(self.family) + hidden + len(self.tables) + self.only_ticked

    def show_all(self) -> None:
        """Remove all filters."""
        self.blockSignals(True)
        for tick in self._kinds.values():
            tick.setChecked(True)
        for tick in (*self._then.values(), self._ticked):
            tick.setChecked(False)
        self.family = ""
        self.blockSignals(False)
        self.changed.emit()

    def plain(self) -> dict[str, Any]:
        """Return the filters for the settings."""
        kinds, tables = sorted(self.kinds), sorted(self.tables)
        return {"family": self.family, "kinds": kinds, "tables": tables}

    def restore(self, data: dict[str, Any]) -> None:
        self.blockSignals(True)
        kept = data.get("kinds")
        for name, tick in self._kinds.items():
            tick.setChecked(not isinstance(kept, list) or name in kept)
        tables = data.get("tables")
        for year, tick in self._then.items():
            tick.setChecked(isinstance(tables, list) and year in tables)
        self.family = str(data.get("family", ""))
        self.blockSignals(False)

    def _tick(self, name: str) -> Tick:
        made = Tick(name)
        made.setChecked(True)
        made.setStyleSheet("font-size: 13px;")
        made.toggled.connect(lambda _: self.changed.emit())
        return made


class _Delegate(QStyledItemDelegate):
    def __init__(self, desk: Desk, parent: QListWidget) -> None:
        super().__init__(parent)
        self._desk = desk
        self._list = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, _ROW_PX)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme: Theme = self._desk.theme
        room = QRectF(option.rect).adjusted(0, 0, -1, -2)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen:
            ring = self._list.hasFocus()
            painter.setPen(QPen(QColor(theme.focus), 2) if ring else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.raised if theme.dark else theme.line))
            painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 7, 7)
        weight = Weight.DemiBold if chosen else Weight.Medium
        colour = theme.text if chosen else theme.soft
        write(painter, room.adjusted(12, 0, -34, 0), index.data(), colour, size=13, weight=weight)
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        count = str(index.data(_COUNT))
        write(painter, room.adjusted(12, 0, -10, 0), count, theme.muted, align=right)
        painter.restore()

"""The card of presets: choose, save or delete them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal
from PySide6.QtGui import QBrush, QColor, QFocusEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QTableWidget, QTableWidgetItem

from app.bridge import Bridge
from app.history import History
from app.plain import tip
from app.theme import Theme, Weight, current, font
from app.widgets import Inline, button, column, label, stack
from workbench.formatting import number_of
from workbench.plan import library
from workbench.plan.library import Preset
from workbench.plan.model import Plan

_BAR = 10
"""The width of a scroll bar."""
_TITLE_PX = 34
"""As high as that of the preview, with its buttons."""
_PRESET = Qt.ItemDataRole.UserRole
_SCALED = "-scaled"
"""How the id of a preset ends that asks the same of less."""


class Gallery(QFrame):
    """The presets. The page connects the last two buttons."""

    taken = Signal(object)
    """A `Preset` to show in the form."""
    kept = Signal(object)
    """A `Preset` as which the plan in the form was saved."""
    changed = Signal()
    """Presets were deleted, restored, or are as they were before."""

    def __init__(self, bridge: Bridge, history: History) -> None:
        super().__init__(objectName="card")
        self._bridge, self._history = bridge, history
        head = label("Presets", 14, Weight.DemiBold)
        head.setMinimumHeight(_TITLE_PX)
        self.error = Inline()
        self.list = PresetList()
        self.list.taken.connect(self._on_taken)
        self._delete = button("Delete", "trash-2", on_click=self.delete)
        self.bring = button("Bring requests…", "download")
        self.last = button("Open a plan file…", "folder-open")
        # The list's scroll bar stands in the margin, so that its cards are as wide as the buttons.
        below = stack(self._delete, self.bring, self.last, margin=(0, 0, _BAR, 0), gap=10)
        parts = head, self.error, (self.list, 1), below
        column(self, *parts, margin=(12, 12, 12 - _BAR, 12), gap=10)
        self._fit()

    def show_presets(self, presets: Sequence[Preset]) -> None:
        self.list.show_presets(presets)
        self._fit()

    def mark(self, id: str) -> None:
        """Mark the preset that the plan was made from; empty: none."""
        self.list.mark(id)
        self._fit()

    @property
    def own(self) -> Preset | None:
        """Return the marked preset, if it is the user's."""
        marked = self.list.preset(self.list.marked)
        return marked if marked is not None and marked.own else None

    def save(self, plan: Plan, name: str, over: str = "") -> None:
        """Save a plan as a preset; `over`: the id of one that it replaces."""

        def done(preset: Preset) -> None:
            self.list.mark(preset.id)
            self.kept.emit(preset)
            self._read()

        self._bridge.do(partial(library.save, plan, name, over=over), done, self.error.show_text)

    def delete(self) -> None:
        """Move the marked preset to the trash."""
        if (own := self.own) is not None:
            what, discard = f"the plan {own.name}", partial(library.delete, own.id)
            self._history.delete(what, discard, self._read)

    def _read(self) -> None:
        self.error.show_text("")
        self._bridge.do(library.presets, self._on_read, self.error.show_text)

    def _on_read(self, presets: Sequence[Preset]) -> None:
        self.show_presets(presets)
        self.changed.emit()

    def _on_taken(self, preset: Preset) -> None:
        self.error.show_text(preset.problem)
        if preset.plan is not None:
            self.taken.emit(preset)

    def _fit(self) -> None:
        self._delete.setVisible(self.own is not None)


class PresetList(QTableWidget):
    """Each with how long it takes here, below its source, and the scaled one below that of which it
    is a part. A click or Enter takes a preset; its purpose is its tool tip, and a note of the
    plan."""

    taken = Signal(object)
    """A `Preset`."""

    def __init__(self) -> None:
        super().__init__(0, 2, accessibleName="Presets", tabKeyNavigation=False, showGrid=False)
        self.takes: Callable[[Preset], str] = lambda preset: ""
        self.marked = ""
        """The id of the preset that the plan was made from; empty: none."""
        self.setProperty("kind", "presets")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QTableWidget.ScrollMode.ScrollPerPixel)
        self.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        self.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        across, down, mode = self.horizontalHeader(), self.verticalHeader(), QHeaderView.ResizeMode
        for head in (across, down):
            head.hide()
            head.setSectionResizeMode(mode.ResizeToContents)  # in as many lines as names need
        across.setSectionResizeMode(0, mode.Stretch)
        self.setFont(font(13, Weight.Medium))
        self.itemClicked.connect(self._take)
        self.itemActivated.connect(self._take)

    def show_presets(self, presets: Sequence[Preset]) -> None:
        """Show other presets; whoever goes through them by keys stays where they are."""
        current = self._at(self.currentRow())
        at = current.id if current is not None else self.marked
        self.setRowCount(0)
        by_id = {preset.id: preset for preset in presets}
        group = ""
        for preset in presets:
            if preset.group != group:
                group = preset.group
                self._add_head(group)
            if preset.id.removesuffix(_SCALED) in by_id.keys() - {preset.id}:
                continue
            self._add(preset, preset.name)
            if scaled := by_id.get(f"{preset.id}{_SCALED}"):
                self._add(scaled, "    scaled")
        self._dress()
        self._go_to(at)

    def _add_head(self, group: str) -> None:
        row = self.rowCount()
        self.insertRow(row)
        head = QTableWidgetItem(group)
        head.setToolTip(tip(group))
        head.setFlags(Qt.ItemFlag.NoItemFlags)
        head.setFont(font(12, Weight.Medium))
        self.setItem(row, 0, head)
        self.setSpan(row, 0, 1, 2)

    def _add(self, preset: Preset, name: str) -> None:
        row, takes, about = self.rowCount(), self.takes(preset), _about(preset)
        self.insertRow(row)
        for n, text in enumerate((name, takes)):
            item = QTableWidgetItem(text)
            item.setToolTip(tip(about))
            item.setData(_PRESET, preset)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, (preset.name, takes)[n])
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, about)
            self.setItem(row, n, item)
        item.setFont(font(12))
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def _dress(self) -> None:
        """A plan that cannot be read is marked by its colour, and by its description."""
        theme = current()
        for n in range(self.rowCount()):
            preset = self._at(n)
            name = theme.muted if preset is None else theme.text if preset.plan else theme.bad
            for each, tone in enumerate((name, theme.muted)):
                if (item := self.item(n, each)) is not None:
                    item.setForeground(QBrush(QColor(tone)))

    def set_theme(self, theme: Theme) -> None:
        self._dress()

    def mark(self, id: str) -> None:
        self.marked = id
        self._go_to(id)

    def row_of(self, id: str) -> int:
        """Return the row of a preset; -1: it is not there."""
        rows = range(self.rowCount())
        return next((n for n in rows if (p := self._at(n)) and p.id == id), -1)

    def _go_to(self, id: str) -> None:
        row = self.row_of(id)
        self.setCurrentCell(row, 0)
        if row < 0:
            self.clearSelection()
        else:
            # The buttons that appear with it change the visible area.
            QTimer.singleShot(0, self, lambda: self.scrollTo(self.currentIndex()))

    def _at(self, row: int) -> Preset | None:
        item = self.item(row, 0)
        return item.data(_PRESET) if item is not None else None

    @property
    def presets(self) -> list[Preset]:
        return [preset for n in range(self.rowCount()) if (preset := self._at(n)) is not None]

    def preset(self, id: str) -> Preset | None:
        return next((preset for preset in self.presets if preset.id == id), None)

    def moveCursor(
        self, action: QTableWidget.CursorAction, modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        """As in a list: Home and End lead to the first and the last preset, and none has parts."""
        actions = QTableWidget.CursorAction
        if action in (actions.MoveHome, actions.MoveEnd):
            modifiers |= Qt.KeyboardModifier.ControlModifier
        return super().moveCursor(action, modifiers).siblingAtColumn(0)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if self.currentRow() < 0 and self.presets:  # so that it is seen where the focus is
            self._go_to(self.presets[0].id)

    def _take(self, item: QTableWidgetItem) -> None:
        if (preset := item.data(_PRESET)) is not None:
            self.taken.emit(preset)


def _about(preset: Preset) -> str:
    """Return the purpose of a plan or, without a note, what it measures; or its file's problem."""
    if preset.plan is None:
        return preset.problem
    servers = number_of(len(preset.plan.servers), "servers")
    unit = "rates" if preset.plan.axis.per_second else "points"
    return preset.plan.description or f"{servers}, {number_of(len(preset.plan.values), unit)}"

"""Kernel settings of machines: what a run would change, and the consent to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.dialogs import Confirmation
from app.fields import Options, Tick
from app.machines.cards import Card, remark
from app.machines.records import Record
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import TOP, Chip, beside, column, empty, fill, frame, label
from workbench.formatting import number_of
from workbench.machines.profiles import Profile
from workbench.run.tuning import TuningPlan

_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
_LARGEST = str(2**63 - 1)
_PLACES = (0, 1, 3)
"""Its columns; the one between two values keeps these apart."""


class ChangesTable(QWidget):
    """Highlights settings that would change."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self, horizontalSpacing=8, verticalSpacing=5)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnMinimumWidth(2, 16)

    def display(self, changes: Sequence[Sequence[str]], nofile: int = 0) -> None:
        """Show `changes`: (setting, now, for the run); now empty: this kernel has no such setting.
        `nofile`: the descriptor limit of the run's processes; 0: unchanged.
        """
        empty(self._grid)
        for at, head in zip(_PLACES, ("Setting", "Now", "For the run"), strict=True):
            self._add(0, at, label(head, 11, tone="muted"))
        lines: list[tuple[Sequence[str], bool]] = []
        for key, now, wanted in changes:
            changed = bool(now) and now != wanted
            stays = "stays" if now else "excluded"
            shown = _value(key, wanted) if changed else stays
            lines.append(((key, _value(key, now) or "not available", shown), changed))
        if nofile:
            lines.append((("descriptors per process", "", f"{nofile:,}"), True))
        for line, (values, changed) in enumerate(lines, 1):
            for at, value in zip(_PLACES, values, strict=True):
                bold = Weight.DemiBold if changed and at == _PLACES[-1] else Weight.Normal
                tone, wrap = "" if changed else "muted", at == 0
                cell = label(value, 12, bold, tone=tone, wrap=wrap, mono=True, selectable=True)
                self._add(line, at, cell)

    def _add(self, line: int, at: int, cell: QWidget) -> None:
        self._grid.addWidget(cell, line, at, _RIGHT if at else TOP)

    def show_text(self, text: str) -> None:
        empty(self._grid)
        self._grid.addWidget(label(text, tone="soft", wrap=True), 0, 0, 1, 4)


def count(changes: Sequence[Sequence[str]]) -> str:
    needed = sum(bool(now) and now != wanted for _, now, wanted in changes)
    return number_of(needed, "changes") if needed else "no changes needed"


def _value(key: str, text: str) -> str:
    """Write a value for people: the largest number is what the kernel shows where there is no
    limit, and two ports are a range.
    """
    if text == _LARGEST:
        return "no limit"
    if key.endswith("_port_range"):
        return "–".join(text.split())
    return f"{int(text):,}" if text.isdecimal() else text


_RIGHTS = {
    "no": "No sudo (in its profile), so runs change nothing.",
    "passwordless": "Changed through sudo, without a password.",
    "password": "Changed through sudo; its password is asked for when a run starts.",
}


class TuningCard(Card):
    """Setting, now, for the run. Nothing is changed from here."""

    consented = Signal(bool)

    def __init__(self) -> None:
        super().__init__("Kernel settings for a run")
        self._content: tuple[Profile, object] | None = None
        self._changes: dict[str, Any] = {}
        self.sets = Options("Set of kernel settings", [])
        self.sets.edited.connect(self._show)
        self.head.addWidget(self.sets)
        self._table = ChangesTable()
        self.allow = Tick("Allow changes during runs")
        self.allow.setAccessibleName("Allow changes during runs")
        self.allow.clicked.connect(lambda: self.consented.emit(self.allow.isChecked()))
        self._rights = label("", 12, tone="muted", wrap=True)
        fill(self.body, self._table, 4, self.allow, self._rights)

    def display(self, profile: Profile, record: Record) -> None:
        found = record.found.get("changes")
        self.setVisible("target" in profile.roles or bool(found))
        if self._content == (profile, found):
            self.allow.setChecked(profile.tuning)  # it was clicked, and refused
            return
        self._content = profile, found
        self._changes = found if isinstance(found, dict) else {}
        self.sets.offer([(name, name) for name in self._changes], self.sets.value())
        self.sets.setVisible(len(self._changes) > 1)
        self.allow.setChecked(profile.tuning)
        rights = "Saved in the profile; nothing is changed now."
        if profile.connector == "ssh":
            rights = f"{rights} {_RIGHTS[profile.sudo]}"
        self._rights.setText(rights)
        self._show()

    def _show(self) -> None:
        changes = self._changes.get(self.sets.value() or "", [])
        self.aside.setText(count(changes) if changes else "")
        if changes:
            self._table.display(changes)
        else:
            self._table.show_text("Run a check to see the changes.")


_TITLE = "Change kernel settings for this run?"
_ABOUT = (
    "They are changed before any server starts and restored when the run ends, even if the run, "
    "the link or this computer fails."
)
_PROGRAM = (
    "One program runs as root. It does what these commands would do and keeps a journal to restore "
    "every setting."
)
_ROOT = {
    "root": "as root",
    "nopasswd": "sudo without password",
    "password": "sudo with password",
    "none": "",
}
_HIGHEST = 440


def consenting(parent: QWidget, /, plans: Sequence[TuningPlan]) -> Confirmation:
    """Ask for consent to the changes: True to change the settings, None to run without changes,
    False not to run.
    """
    body = QWidget()
    first = sorted(plans, key=lambda plan: not plan.changes_something)
    column(body, *map(_section, first), None, gap=10)
    scroll = Scrolled(body, "Changes")
    scroll.setMinimumHeight(min(_HIGHEST, body.sizeHint().height() + 4))
    answers = [
        ("Cancel", "x", False),
        ("Run without tuning", "", None),
        ("Change and run", "check", True),
    ]
    about = label(_ABOUT, tone="soft", wrap=True)
    made = Confirmation(parent, _TITLE, [about, scroll], answers, harmless=1)
    made.resize(640, made.sizeHint().height() + 24)
    return made


def _section(plan: TuningPlan) -> QFrame:
    made = frame("sunken")
    chip = Chip()
    changes = [(change.key, change.now, change.wanted) for change in plan.changes]
    if plan.changes_something:
        chip.show_text(_ROOT[plan.sudo], "soft")
    summary = count(changes) if plan.changes_something else "unchanged"
    name, about = label(plan.machine, 14, Weight.DemiBold), label(summary, 12, tone="muted")
    inside = column(made, beside(name, chip, None, about), margin=12, gap=8)
    if plan.why_not:
        inside.addWidget(remark("muted", plan.why_not.text()))
        return made
    table = ChangesTable()
    table.display(changes, plan.nofile)
    inside.addWidget(table)
    if plan.changes_something:
        commands = "\n".join(plan.commands())
        shown = label(commands, 12, wrap=True, mono=True, selectable=True)
        fill(inside, label(_PROGRAM, 12, tone="muted", wrap=True), shown)
    return made

"""Which kernel settings a run could change on a machine: a table, and the consent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal

from app.choices import Tick
from app.fields import Options
from app.machines.cards import Card
from app.machines.changes import ChangesTable, count
from app.machines.records import Record
from app.theme import Theme
from app.widgets import dress, label

if TYPE_CHECKING:
    from workbench.machines.profiles import Profile

_RIGHTS = {
    "no": "No sudo (in its profile), so runs change nothing.",
    "passwordless": "Changed through sudo, without a password.",
    "password": "Changed through sudo; its password is asked for when a run starts.",
}


class TuningCard(Card):
    """Setting, now, for the run. Nothing is changed from here."""

    consented = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__("Kernel settings for a run", theme)
        self._changes: dict[str, Any] = {}
        self.sets = Options("Set of kernel settings", [])
        self.sets.edited.connect(self._show)
        self.head.addWidget(self.sets)
        self._table = ChangesTable()
        self.body.addWidget(self._table)
        self.allow = Tick("Allow changes during runs")
        self.allow.setAccessibleName("Allow changes during runs")
        self.allow.clicked.connect(lambda: self.consented.emit(self.allow.isChecked()))
        self._rights = label("", 12, tone="muted", wrap=True)
        self.body.addSpacing(4)
        self.body.addWidget(self.allow)
        self.body.addWidget(self._rights)

    def display(self, profile: Profile, record: Record) -> None:
        self.setVisible("target" in profile.roles or bool(record.found.get("changes")))
        if not self.news(profile, record.found.get("changes")):
            self.allow.setChecked(profile.tuning)  # it was clicked, and refused
            return
        found = record.found.get("changes")
        self._changes = found if isinstance(found, dict) else {}
        chosen = self.sets.value()
        self.sets.clear()
        for name in self._changes:
            self.sets.addItem(name, name)
        self.sets.set_value(chosen)
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
        dress(self, self.theme)

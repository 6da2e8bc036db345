"""The files kept on a machine, and leftovers of crashed runs."""

from __future__ import annotations

from PySide6.QtCore import Signal

from app.machines.cards import Card, remark
from app.machines.records import Record
from app.plain import tip
from app.question import ask
from app.theme import Theme
from app.widgets import button, dress, empty
from workbench.formatting import size

_CLEAN = "Remove leftovers of crashed runs. Active runs are not touched."


class LeftoversCard(Card):
    """Shown for machines over SSH."""

    clean_requested = Signal()
    clear_requested = Signal()
    """The user has confirmed it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("Files on this machine", theme)
        self._machine = ""
        self.clean = button("Clean up", "trash-2", on_click=self.clean_requested.emit)
        self.clear = button("Remove cache…", "trash-2", on_click=self._confirm_clear)
        for each in (self.clean, self.clear):
            self.foot.addWidget(each)
        self.foot.addStretch(1)

    def _confirm_clear(self) -> None:
        ask(
            self,
            f"Remove the cache of {self._machine}?",
            "Its work directory with runtimes and agents is removed. The next run copies them "
            "again, which takes longer.",
            go="Remove cache",
            do=self.clear_requested.emit,
        )

    def display(self, machine: str, record: Record, *, busy: bool) -> None:
        self._machine = machine
        found = record.found
        kept = found.get("cache_bytes")
        hindrance, old = record.hindrance, record.old
        self.clean.setEnabled(not busy and not hindrance)
        self.clear.setEnabled(not busy and not hindrance and kept != 0)
        self.clean.setToolTip(tip(hindrance or _CLEAN))
        self.clear.setToolTip(tip(hindrance))
        for each in (self.clean, self.clear):
            each.setAccessibleDescription(hindrance)
        if not self.news(found, hindrance, old):
            return
        empty(self.body)
        for run in found.get("found") or []:
            count = len(run["processes"])
            number = {0: "no processes", 1: "1 process"}.get(count, f"{count} processes")
            text = f"Removed: leftovers of run {run['run']}, {number}"
            processes = "; ".join(run["processes"][:3])
            self._add("muted", f"{text}: {processes}." if processes else f"{text}.")
        for run in found.get("alive") or []:
            holder = run.get("holder") or "unknown user"
            self._add("focus", f"Active run, not touched: {run['run']} ({holder}).", old=old)
        if found.get("left_tuned"):
            self._add("warn", found["left_tuned"], old=old)
        elif "found" in found and not found["found"]:
            self._add("ok", "No leftovers of crashed runs.", old=old)
        if "freed" in found:
            self._add("ok", f"Cache removed: {size(found['freed'])} freed.", old=old)
        if kept is not None:
            where = found.get("work_dir") or "The work directory"
            text = f"{where}: {size(kept)} of cached runtimes and agents."
            self._add("muted", text if kept else f"{where} is empty.")
        if hindrance:
            self._add("muted", hindrance)
        elif "found" not in found and kept is None:
            self._add("muted", "Not checked.")
        dress(self, self.theme)

    def _add(self, tone: str, text: str, *, old: bool = False) -> None:
        self.body.addWidget(remark(tone, text, faded=old))

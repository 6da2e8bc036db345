"""The files kept on a machine, and leftovers of crashed runs."""

from __future__ import annotations

from PySide6.QtCore import Signal

from app.machines.cards import Card, remark
from app.machines.records import Record
from app.question import ask
from app.theme import Theme
from app.widgets import button, dress, empty
from workbench.formatting import size


class LeftoversCard(Card):
    """Shown for machines over SSH."""

    clean_requested = Signal()
    clear_requested = Signal()
    """The user has confirmed it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__("Files on this machine")
        self._theme, self._machine = theme, ""
        self.clean = button("Clean up", "trash-2", on_click=self.clean_requested.emit)
        self.clean.setToolTip("Remove leftovers of crashed runs. Active runs are not touched.")
        self.clear = button("Remove cache…", "trash-2", on_click=self._confirm_clear)
        for each in (self.clean, self.clear):
            self.foot.addWidget(each)
        self.foot.addStretch(1)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

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
        self.clean.setEnabled(not busy)
        self.clear.setEnabled(not busy and kept != 0)
        if not self.news(found):
            return
        empty(self.body)
        for run in found.get("found") or []:
            count = len(run["processes"])
            number = {0: "no processes", 1: "1 process"}.get(count, f"{count} processes")
            text = f"Removed: leftovers of run {run['run']}, {number}"
            processes = "; ".join(run["processes"][:3])
            self.body.addWidget(
                remark("warn", f"{text}: {processes}." if processes else f"{text}.")
            )
        for run in found.get("alive") or []:
            holder = run.get("holder") or "unknown user"
            self.body.addWidget(
                remark("focus", f"Active run, not touched: {run['run']} ({holder}).")
            )
        if found.get("left_tuned"):
            self.body.addWidget(remark("warn", found["left_tuned"]))
        elif "found" in found and not found["found"]:
            self.body.addWidget(remark("ok", "No leftovers of crashed runs."))
        if "freed" in found:
            freed = size(found["freed"])
            self.body.addWidget(remark("ok", f"Cache removed: {freed} freed."))
        if kept is not None:
            where = found.get("work_dir") or "The work directory"
            text = f"{where}: {size(kept)} of cached runtimes and agents."
            self.body.addWidget(remark("muted", text if kept else f"{where} is empty."))
        if "found" not in found and kept is None:
            self.body.addWidget(remark("muted", "Not checked."))
        dress(self, self._theme)

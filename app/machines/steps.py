"""Checking a machine: every step in words as it happens."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal

from app.machines.cards import Card, told
from app.machines.records import Record, ago, is_today
from app.theme import Theme
from app.widgets import button, dress, empty, label

TONES = {"passed": "ok", "warning": "warn", "failed": "bad"}
_WHAT = (
    "Checking logs in, looks around, removes what dead runs left, starts and ends a run, and leaves"
    " nothing there."
)
_HERE = "Checking starts and ends a run on this computer, and leaves nothing."


class StepsCard(Card):
    """The steps of the check that is under way, or of the last one."""

    cancelled = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("Check")
        self._theme = theme
        self.stop = button("Cancel", "x", on_click=self.cancelled.emit)
        self.stop.setAccessibleName("Cancel the check")
        self.stop.hide()
        self.head.addWidget(self.stop)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme

    def tell(self, record: Record, *, running: bool, here: bool) -> None:
        self.stop.setVisible(running)
        if not self.news(record.at, record.kind, record.steps, running, here):
            return
        empty(self.body)
        at = f"at {ago(record.at)}" if is_today(record.at) else ago(record.at)
        self.aside.setText("" if running else at)
        if not record.steps and not running:
            self.body.addWidget(label(_HERE if here else _WHAT, tone="soft", wrap=True))
        for name, state, text in record.steps:
            self.body.addWidget(told(TONES.get(state, "muted"), text, name))
        if running:
            self.body.addWidget(told("focus", next_step(record.steps, here=here), "Now"))
        elif record.kind == "stopped":
            self.body.addWidget(told("muted", "The check was cancelled; nothing stays there."))
        dress(self, self._theme)


_ORDER = {
    "": "Logging in…",
    "Log in": "Looking for a Python…",
    "System facts": "Looking for limits…",
    "Limits": "Looking for room…",
    "Space": "Looking for leftovers of crashed runs…",
    "Leftover runs": "Measuring what is kept there…",
    "Cache": "Making a run directory and starting the runner…",
    "Start the runner": "Opening as many sessions as a run needs…",
    "Sessions": "Looking at its cores…",
    "Cores": "Measuring its clock…",
    "Clock": "Reading its facts…",
    "Facts": "Comparing its kernel settings…",
    "Kernel settings": "Looking at its addresses…",
    "Addresses": "Ending the run and cleaning up…",
}


def next_step(steps: Sequence[Sequence[str]], *, here: bool) -> str:
    """What is being done, after these."""
    last = steps[-1][0] if steps else ""
    if here and not last:
        return _ORDER["Cache"]
    if here and last == "Kernel settings":
        return _ORDER["Addresses"]
    return _ORDER.get(last, "Going on…")

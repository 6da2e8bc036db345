"""The steps of checking a machine, as they happen."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal

from app.machines.cards import Card, remark
from app.machines.records import Record, since
from app.theme import Theme
from app.widgets import button, dress, empty, label

TONES = {"passed": "ok", "warning": "warn", "failed": "bad"}
_WHAT = "A check logs in, removes leftovers of crashed runs, and starts and ends a test run."
_OLD = "More than a day old, so the machine may have changed. Check it again before a run."
_HERE = "A check starts and ends a test run on this computer."


class StepsCard(Card):
    """The steps of the current or the last check."""

    cancelled = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("Check", theme)
        self.stop = button("Cancel", "x", on_click=self.cancelled.emit)
        self.stop.setAccessibleName("Cancel check")
        self.stop.hide()
        self.head.addWidget(self.stop)

    def display(self, record: Record, *, running: bool, here: bool) -> None:
        self.stop.setVisible(running)
        self.aside.setText("" if running else since(record.at))
        old = record.old and not running
        if not self.news(record.at, record.kind, record.steps, running, here, old):
            return
        empty(self.body)
        if old:
            self.body.addWidget(remark("muted", _OLD))
        if not record.steps and not running:
            self.body.addWidget(label(_HERE if here else _WHAT, tone="soft", wrap=True))
        for name, state, text in record.steps:
            tone = (state == "failed" and record.tone) or TONES.get(state, "muted")
            self.body.addWidget(remark(tone, text, name, faded=old))
        if running:
            self.body.addWidget(remark("focus", next_step(record.steps, here=here), "Now"))
        elif record.kind == "stopped":
            self.body.addWidget(remark("muted", "Check cancelled."))
        dress(self, self.theme)


_ORDER = {
    "": "Logging in…",
    "Log in": "Looking for Python…",
    "Python": "Checking limits…",
    "Limits": "Checking disk space…",
    "Space": "Checking for leftover runs…",
    "Leftover runs": "Measuring the cache…",
    "Cache": "Starting the runner…",
    "Start the runner": "Opening SSH sessions…",
    "Sessions": "Checking cores…",
    "Cores": "Measuring the clock…",
    "Clock": "Reading system facts…",
    "System facts": "Comparing kernel settings…",
    "Kernel settings": "Checking addresses…",
    "Addresses": "Cleaning up…",
}


def next_step(steps: Sequence[Sequence[str]], *, here: bool) -> str:
    """Return the current step, the one after these."""
    last = steps[-1][0] if steps else ""
    if here and not last:
        return _ORDER["Cache"]
    if here and last == "Kernel settings":
        return _ORDER["Addresses"]
    return _ORDER.get(last, "Continuing…")

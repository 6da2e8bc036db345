"""How far load tools agree, and what verdicts could not check with them, in the side column."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget

from app.charts.trio import Trio
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import column, empty, label, row
from workbench.results.cross_check import HEADING, TITLES, CrossCheck, cross_checks, remark

_TITLES_WIDE = 64


class Tools(QFrame):
    """Shows the series of the charts' model."""

    def __init__(self, trio: Trio) -> None:
        super().__init__()
        self.setObjectName("card")
        self._trio = trio
        self._state: object = None
        self.known = False
        """Whether there is something to tell."""
        inside = column(self, margin=12, gap=6)
        around = column(content := QWidget())
        self._list = column(entries := QWidget(), gap=8)
        around.addWidget(entries)
        around.addStretch(1)
        inside.addWidget(Scrolled(content, "Load tools"))

    def refresh(self) -> None:
        model = self._trio.model
        unchecked = [
            audit.message.text()
            for audit in model.audits
            if audit.code == "evidence" and audit.state == "not-known"
        ]
        state = model, sum(len(series.stops) for series in model.series.values()), unchecked
        if state == self._state:
            return
        self._state = state
        checks = cross_checks(model.start.plan, model.series.values()) if model.start else []
        self.known = bool(checks or unchecked)
        empty(self._list)
        for text in unchecked:
            self._list.addWidget(label(text, 12, tone="soft", wrap=True))
        if checks:
            self._list.addWidget(label(HEADING, 14, Weight.DemiBold))
            self._list.addWidget(label(remark(checks), 12, tone="muted", wrap=True))
        for check in checks:
            self._list.addWidget(_entry(check))


def _entry(check: CrossCheck) -> QWidget:
    inside = column(made := QWidget(), gap=1)
    name, at, *figures, why = check.cells
    inside.addWidget(label(f"{name}, {at}", 12, Weight.Medium, wrap=True))
    for title, text in zip(TITLES[2:-1], figures, strict=True):
        if text:
            across = row(gap=8)
            across.addWidget(word := label(title, 12, tone="muted"))
            word.setFixedWidth(_TITLES_WIDE)
            across.addWidget(label(text, 12, figures=True), 1)
            inside.addLayout(across)
    if why:
        inside.addWidget(label(f"Cause: {why}", 12, tone="soft", wrap=True))
    return made

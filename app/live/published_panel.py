"""What a session is compared with: the figures of a source, and one load tool with another."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.charts.drawing import Swatch
from app.charts.trio import Trio
from app.live.events import ListCard
from app.theme import Theme, Weight, current
from app.widgets import beside, column, empty, fill, label
from workbench.results.cross_check import HEADING, TITLES, CrossCheck, cross_checks, remark
from workbench.results.published import Row, ThenAndNow, then_and_now


class PublishedPanel(ListCard):
    """The figures of a source beside those of the charts' model."""

    def __init__(self, trio: Trio) -> None:
        super().__init__("Published, and now")
        self._trio = trio
        self._state: object = None
        self._shown: ThenAndNow | None = None

    @property
    def known(self) -> bool:
        return self._shown is not None

    def refresh(self) -> None:
        model = self._trio.model
        state = model, model.start, sum(len(series.stops) for series in model.series.values())
        if state == self._state:
            return
        self._state, plan = state, model.start.plan if model.start else {}
        self._shown = then_and_now(plan, model.series) if plan.get("source") else None
        empty(self.entries)
        if self._shown is None:
            return
        fill(
            self.entries,
            label(self._shown.citation, 12, tone="muted", wrap=True),
            label(self._shown.found, 12, tone="soft", wrap=True),
            label(f"Not the same now: {self._shown.differs}", 12, tone="soft", wrap=True),
            *map(self._entry, self._shown.rows),
        )

    def set_theme(self, theme: Theme) -> None:
        self._state = None
        self.refresh()

    def _entry(self, each: Row) -> QWidget:
        head, stated = beside(), f"Published: {each.then} ({each.cited})"
        if series := self._trio.model.series.get(each.id):
            head.addWidget(Swatch(current().series(series.index), current(), 0.85))
        head.addWidget(label(each.name, 13, Weight.DemiBold, wrap=True), 1)
        inside = column(made := QWidget(), head, label(stated, 12, tone="soft", wrap=True), gap=1)
        if each.now:
            inside.addWidget(label(f"Now: {each.now}", 12, wrap=True, figures=True))
        return made


class ToolsPanel(ListCard):
    """How far load tools agree, and what verdicts could not check with them."""

    def __init__(self, trio: Trio) -> None:
        super().__init__("Load tools")
        self._trio = trio
        self._state: object = None
        self.known = False
        """Whether there is something to tell."""

    def refresh(self) -> None:
        model = self._trio.model
        count = sum(len(series.stops) for series in model.series.values())
        unchecked = [
            audit.message.text()
            for audit in model.audits
            if count and audit.code == "evidence" and audit.state == "not-known"
        ]
        state = model, count, unchecked
        if state == self._state:
            return
        self._state = state
        checks = cross_checks(model.start.plan, model.series.values()) if model.start else []
        self.known = bool(checks or unchecked)
        empty(self.entries)
        fill(self.entries, *(label(text, 12, tone="soft", wrap=True) for text in unchecked))
        if checks:
            about = label(remark(checks), 12, tone="muted", wrap=True)
            fill(self.entries, label(HEADING, 14, Weight.DemiBold), about, *map(_entry, checks))


def _entry(check: CrossCheck) -> QWidget:
    name, at, *figures, why = check.cells
    title = label(f"{name}, {at}", 12, Weight.Medium, wrap=True)
    said = [f"{title}: {text}" for title, text in zip(TITLES[2:-1], figures, strict=True) if text]
    lines = [label(text, 12, wrap=True, figures=True) for text in said]
    cause = [label(f"Cause: {why}", 12, tone="soft", wrap=True)] if why else []
    column(made := QWidget(), title, *lines, *cause, gap=1)
    return made

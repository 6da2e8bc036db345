"""The preview of a plan, updated while it is edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.planning.plan_charts import (
    STEADY,
    CallsPicture,
    RunPicture,
    Share,
    SweepPicture,
    counted,
    describe,
)
from app.planning.remarks import Remarks
from app.theme import Weight
from app.widgets import Elided, column, frame, label, row
from workbench import formatting

if TYPE_CHECKING:
    from workbench.plan.editing import Draft, Step
    from workbench.plan.model import Plan

_MANY = "Not fixed"
_FIX_FIRST = "Fix the problems in the form to see the preview."
_PER_SECOND = "Offered rate per second"
_CALLS_FROM = 440
"""Below this height the chart of calls is hidden; a remark reports problems with them."""


class Preview(QWidget):
    """Shows the last valid draft. It may be higher than what it scrolls in."""

    def __init__(self) -> None:
        super().__init__()
        self._hint = ""
        self._counted = self.drawn = False
        self._known: list[tuple[str, str]] = []
        outer = column(self, gap=10)
        self._nothing = label(_FIX_FIRST, tone="soft", wrap=True)
        outer.addWidget(self._nothing)
        self._body = QWidget()
        outer.addWidget(self._body, 1)
        self.remarks = Remarks()
        outer.addWidget(self.remarks)
        self._foot = QWidget()
        outer.addWidget(self._foot, 0)
        for each in (self._nothing, self._body):
            each.hide()  # until there is a draft
        inside = column(self._body)
        self._figures: dict[str, QLabel] = {}
        inside.addLayout(self._make_figures())
        inside.addSpacing(10)
        hair = frame("hair")
        hair.setFixedHeight(1)
        inside.addWidget(hair)
        inside.addSpacing(10)
        self._axis, self._pointed, head = _heading(_PER_SECOND)
        inside.addLayout(head)
        self.sweep, self.calls, self.run = SweepPicture(), CallsPicture(), RunPicture()
        self.sweep.pointed.connect(self._on_pointed)
        inside.addWidget(self.sweep, 1)
        self._calls = QWidget()
        below = column(self._calls)
        below.setContentsMargins(0, 8, 0, 0)
        _, self._few, head = _heading("Calls per point", tone="warn")
        below.addLayout(head)
        below.addWidget(self.calls)
        inside.addWidget(self._calls)
        inside.addSpacing(8)
        _, self._order, head = _heading("Run order")
        inside.addLayout(head)
        inside.addSpacing(4)
        inside.addWidget(self.run)
        inside.addSpacing(10)
        self.ports = Share("Local ports: peak use, of the free ports")
        self.descriptors = Share("Descriptors: connections open at worst, of those for them")
        shares = row(gap=24)
        shares.addLayout(_titled("Local ports", "at the peak", self.ports))
        shares.addLayout(_titled("Descriptors", "at worst", self.descriptors))
        inside.addLayout(shares)

    def show_draft(
        self, draft: Draft, names: Mapping[str, str], faults: Mapping[str, QWidget | None]
    ) -> None:
        """`names`: the servers' names by id; `faults`: the fields of the problems that are listed,
        by these.
        """
        plan, budget = draft.plan, draft.budget
        known = plan is not None and budget is not None
        self.drawn = self.drawn or known
        self._body.setVisible(self.drawn)
        self._nothing.setVisible(not self.drawn)
        self._foot.setVisible(not self.drawn)
        self.layout().setStretchFactor(self._foot, int(not self.drawn))  # type: ignore[union-attr]
        if plan is None or budget is None:
            self._show_remarks(faults)
            return
        self._show_plan(draft)
        closed, axis = plan.closed, plan.axis
        timed = not (closed and plan.seconds is None)
        self._axis.setText(_PER_SECOND if axis.per_second else axis.title)
        self.sweep.show_steps(draft.steps, timed=timed)
        self._hint = _sweep_hint(draft, timed=timed)
        self._on_pointed(None)
        fewest, most = budget.samples_per_point
        self._counted = bool(most)
        self._few.show_text("amber: too few for a steady p99" if fewest < STEADY else "")
        self.calls.show_steps(draft.steps)
        self.sweep.setAccessibleDescription(
            f"From {draft.steps[0].load} to {draft.steps[-1].load}, {self._hint}"
        )
        calibrated = plan.calibrate and axis.calibrated
        index = {server: place for place, server in enumerate(plan.servers)}
        blocks = [
            (
                index[block.server],
                _numbered(names.get(block.server, block.server), block.pass_number),
            )
            for block in draft.order
        ]
        self.run.show_blocks(blocks, ceiling=calibrated)
        first = "calibration first" if calibrated else ""
        self._order.show_text(", then ".join(filter(None, (first, _order_hint(plan)))))
        self.ports.show_share(budget.ports_needed, budget.ports_free)
        self.descriptors.show_share(budget.open_at_worst, budget.descriptors)
        self._known = _remarks(draft)
        self._show_remarks(faults)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _show_remarks(self, faults: Mapping[str, QWidget | None]) -> None:
        known = [remark for remark in self._known if not faults or remark[0] != "ok"]
        self.remarks.show_text([*(("bad", text) for text in faults), *known], faults)

    def _fit(self) -> None:
        room = self.parentWidget().height() - self.remarks.height()
        self._calls.setVisible(self._counted and room >= _CALLS_FROM)

    def _make_figures(self) -> QGridLayout:
        figures = QGridLayout()
        figures.setHorizontalSpacing(16)
        figures.setVerticalSpacing(8)
        for place, name in enumerate(("Duration", "Points", "Calls per point", "Connections")):
            figure = self._figures[name] = label("", 18, Weight.DemiBold, figures=True)
            cell = QVBoxLayout()
            cell.setSpacing(0)
            cell.addWidget(label(name, 12, tone="muted"))
            cell.addWidget(figure)
            figures.addLayout(cell, place // 2, place % 2)
        for place in range(2):
            figures.setColumnStretch(place, 1)
        return figures

    def _show_plan(self, draft: Draft) -> None:
        assert draft.budget is not None
        judged = sum(step.purpose != "warm_up" for step in draft.steps)
        fewest, most = draft.budget.samples_per_point
        span = counted(most) if fewest == most else f"{counted(fewest)} to {counted(most)}"
        for name, text in {
            "Duration": formatting.time_span(draft.budget.duration_s),
            "Points": _points(draft, judged),
            "Calls per point": span if most else _MANY,
            "Connections": counted(draft.connections) if draft.connections else _MANY,
        }.items():
            self._figures[name].setText(text)
            self._figures[name].setAccessibleName(f"{name}: {text}")

    def _on_pointed(self, step: Step | None) -> None:
        self._pointed.show_text(describe(step) if step else self._hint)


def _points(draft: Draft, judged: int) -> str:
    """ "63", of a search "63 to 210"."""
    assert draft.budget is not None
    expected, at_most = draft.budget.points
    blocks = len(draft.order)
    span = f"{blocks * expected:,} to {blocks * at_most:,}"
    return f"{blocks * judged:,}" if expected == at_most else span


def _heading(title: str, *, tone: str = "muted") -> tuple[QLabel, Elided, QHBoxLayout]:
    """Return a title, a remark beside it, and both in a row."""
    head = row(gap=6)
    title_label, beside = label(title, 12, Weight.DemiBold), Elided(12, tone=tone)
    head.addWidget(title_label)
    head.addWidget(beside, 1)
    return title_label, beside, head


def _titled(title: str, remark: str, share: Share) -> QVBoxLayout:
    """Return a picture below its title."""
    made = QVBoxLayout()
    made.setSpacing(0)
    _, beside, head = _heading(title)
    beside.show_text(remark)
    made.addLayout(head)
    made.addWidget(share)
    return made


def _sweep_hint(draft: Draft, *, timed: bool) -> str:
    of = f"1 of {len(draft.order)} sweeps" if len(draft.order) > 1 else "1 sweep"
    if draft.plan is not None and draft.plan.search:
        of = f"an example of {len(draft.order)} searches" if len(draft.order) > 1 else "an example"
    if not draft.steps:
        return ""
    if not timed:
        return f"{of}; its duration depends on the server"
    warm = "warmed up, " if draft.steps[0].purpose == "warm_up" else ""
    return f"{of}, {warm}{formatting.time_span((draft.steps[-1].end_s, draft.steps[-1].end_s))}"


def _order_hint(plan: Plan) -> str:
    if len(plan.servers) == 1:
        return f"{plan.repeats} passes" if plan.repeats > 1 else ""
    if plan.order == "sequential":
        return "server by server"
    passes = f"{plan.repeats} passes" if plan.repeats > 1 else "1 pass"
    return (
        f"{passes}, random order, seed {plan.seed}"
        if plan.seed
        else (f"{passes}, an example of a random order")
    )


def _numbered(name: str, pass_number: int) -> str:
    return name if pass_number == 1 else f"{name} {pass_number}"


def _remarks(draft: Draft) -> list[tuple[str, str]]:
    budget = draft.budget
    assert budget is not None
    found = [("warn", warning.text()) for warning in draft.warnings]
    if budget.estimated:
        found.append(("muted", budget.estimated.text()))
    if budget.held:
        found.append(("muted", budget.held.text()))
    if budget.several:
        found.append(("muted", budget.several.text()))
    if budget.rests:
        found.append(("muted", budget.rests.text()))
    if not found and not draft.faults:
        found.append(("ok", "Time, ports and descriptors are sufficient."))
    found += [("muted", remark.text()) for remark in draft.remarks]
    if budget.sensitivity:
        found.append(("muted", budget.sensitivity.text()))
    return found

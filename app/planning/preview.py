"""The preview of a plan, updated while it is edited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGraphicsOpacityEffect,
    QGridLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.planning.heading import Heading
from app.planning.plan_charts import (
    STEADY,
    CallsPicture,
    RunPicture,
    SweepPicture,
    counted,
    describe,
)
from app.planning.remarks import Remarks
from app.planning.share import Share
from app.theme import Weight
from app.widgets import column, frame, label
from workbench import formatting

if TYPE_CHECKING:
    from workbench.plan.editing import Draft, Step
    from workbench.plan.model import Plan

_MANY = "Not fixed"
_FIX_FIRST = "Fix the problems in the form to see the preview."
_PALE = 0.5
"""The opacity of what is shown of the last valid draft."""
_SHARE_PX = 260
"""The least width of a share beside the other."""
_CALLS_FROM = 480
"""Below this height the chart of calls is hidden; a remark reports problems with them."""


class Preview(QWidget):
    """Shows the last valid draft. It may be higher than what it scrolls in."""

    def __init__(self) -> None:
        super().__init__()
        self._counted = self.drawn = False
        outer = column(self, gap=10)
        self.problems = Remarks()
        outer.addWidget(self.problems)
        self._nothing = label(_FIX_FIRST, tone="soft", wrap=True)
        outer.addWidget(self._nothing)
        self._body = QWidget()
        outer.addWidget(self._body, 1)
        self._foot = QWidget()
        outer.addWidget(self._foot, 0)
        for each in (self.problems, self._nothing, self._body):
            each.hide()  # until there is a draft
        inside = column(self._body)
        self._figures: dict[str, QLabel] = {}
        inside.addLayout(self._make_figures())
        inside.addSpacing(10)
        hair = frame("hair")
        hair.setFixedHeight(1)
        inside.addWidget(hair)
        inside.addSpacing(10)
        self._axis = Heading()
        inside.addWidget(self._axis)
        self.sweep, self.calls, self.run = SweepPicture(), CallsPicture(), RunPicture()
        self.sweep.pointed.connect(self._on_pointed)
        inside.addWidget(self.sweep, 1)
        self._calls = QWidget()
        below = column(self._calls)
        below.setContentsMargins(0, 8, 0, 0)
        self._few = Heading("Calls per point", tone="warn")
        below.addWidget(self._few)
        below.addWidget(self.calls)
        inside.addWidget(self._calls)
        inside.addSpacing(8)
        self._order = Heading("Run order")
        inside.addWidget(self._order)
        inside.addSpacing(4)
        inside.addWidget(self.run)
        inside.addSpacing(10)
        self.ports = Share("Local ports", "at the peak", "peak use, of the free ports")
        about = "connections open at the peak, of those for them"
        self.descriptors = Share("File descriptors", "at the peak", about)
        self._shares = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._shares.addWidget(self.ports)
        self._shares.addWidget(self.descriptors)
        inside.addLayout(self._shares)
        inside.addSpacing(10)
        self.remarks = Remarks()
        inside.addWidget(self.remarks)

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
        self.problems.show_text([("bad", text) for text in faults], faults)
        self.problems.setVisible(bool(faults))
        self._mute(self.drawn and not known)
        if plan is None or budget is None:
            self._fit()
            return
        self._show_plan(draft)
        closed, axis = plan.closed, plan.axis
        timed = not (closed and plan.seconds is None)
        self._axis.show_title(f"{axis.label} ({axis.unit})" if axis.per_second else axis.title)
        self.sweep.show_steps(draft.steps, timed=timed)
        hint = _sweep_hint(draft, timed=timed)
        self._axis.show_text(hint)
        fewest, most = budget.samples_per_point
        self._counted = bool(most)
        self._few.show_text("amber: too few for a steady p99" if fewest < STEADY else "")
        self.calls.show_steps(draft.steps, searched=plan.search is not None)
        self.sweep.setAccessibleDescription(
            f"From {draft.steps[0].load} to {draft.steps[-1].load}, {hint}"
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
        self.remarks.show_text(_remarks(draft))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()

    def _mute(self, stale: bool) -> None:
        """Show whether the values are those of an earlier draft."""
        pale = QGraphicsOpacityEffect(self._body) if stale else None
        if pale is not None:
            pale.setOpacity(_PALE)
        self._body.setGraphicsEffect(pale)  # type: ignore[arg-type]

    def _fit(self) -> None:
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        wide = self.width() >= 2 * _SHARE_PX
        self._shares.setDirection(beside if wide else below)
        self._shares.setSpacing(24 if wide else 8)
        problems = 0 if self.problems.isHidden() else self.problems.height()
        room = self.parentWidget().height() - self.remarks.height() - problems
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
        self._axis.show_instead(describe(step) if step else "")


def _points(draft: Draft, judged: int) -> str:
    """ "63", of a search "63 to 210"."""
    assert draft.budget is not None
    expected, at_most = draft.budget.points
    blocks = len(draft.order)
    span = f"{blocks * expected:,} to {blocks * at_most:,}"
    return f"{blocks * judged:,}" if expected == at_most else span


def _sweep_hint(draft: Draft, *, timed: bool) -> str:
    of = f"1 of {len(draft.order)} sweeps" if len(draft.order) > 1 else "1 sweep"
    if draft.plan is not None and draft.plan.search:
        of = f"example, 1 of {len(draft.order)} searches" if len(draft.order) > 1 else "example"
    if not draft.steps:
        return ""
    if draft.plan is not None and draft.plan.warming:
        of = f"{of}, warmed up"
    if not timed:
        return f"{of}; its duration depends on the server"
    return f"{of}, {formatting.time_span((draft.steps[-1].end_s, draft.steps[-1].end_s))}"


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

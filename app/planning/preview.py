"""The card beside the form: a preview of the plan, updated while it is edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QSizePolicy, QWidget

from app.charts.drawing import draw_text, text_width
from app.charts.scales import ticks
from app.machines.cards import remark
from app.painted import Painted
from app.scrolling import Scrolled
from app.theme import Weight, font, with_opacity
from app.widgets import TOP, beside, button, column, empty, fill, hair, label, stack
from workbench import formatting
from workbench.analysis.histogram import samples_needed
from workbench.plan.editing import Draft, Step
from workbench.plan.model import Plan

STEADY = samples_needed(0.99)
"""The number of calls that a steady p99 needs."""
_TITLE, _STALE = "Run preview", "Last valid plan"
_TITLE_PX = 34
"""As high as that of the presets."""
_MANY = "Not fixed"
_FIX_FIRST = "Fix the problems in the form to see the preview."
_FIGURES = ("Duration", "Points", "Calls per point", "Connections")
_TOP, _BOTTOM, _LINE_PX = 8.0, 20.0, 36.0


class SweepPicture(Painted):
    """What is offered over the time of one server's sweep: amber where a point has too few calls
    for a steady p99, hatched where it is a warm-up, which gives no results.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("The offered rate over time")
        self._steps: Sequence[Step] = ()
        self._timed = True
        self.setMinimumHeight(130)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def show_steps(self, steps: Sequence[Step], *, timed: bool) -> None:
        """`timed`: the durations are known."""
        self._steps, self._timed = steps, timed
        self.update()

    def paint(self, painter: QPainter) -> None:
        if not self._steps:
            return
        theme, small = self.theme, font(11, figures=True)
        high = max(step.point.x for step in self._steps) * 1.06 or 1.0
        lasts_s = self._steps[-1].end_s
        left = text_width(f"{high:,.6g}", small) + 12
        plot = QRectF(self.rect()).adjusted(left, _TOP, -_TOP, -_BOTTOM)
        whole = all(float(step.point.x).is_integer() for step in self._steps)
        for value in ticks(0, high, min(10, max(2, int(plot.height() // _LINE_PX))), whole=whole):
            y = plot.bottom() - value / high * plot.height()
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawLine(QLineF(plot.left(), y, plot.right(), y))
            at = QPointF(plot.left() - 7, y)
            draw_text(painter, at, f"{value:,.6g}", small, theme.muted, "right")
        if self._timed:
            at = QPointF(plot.right(), plot.bottom() + 11)
            text = formatting.time_span((lasts_s, lasts_s))
            draw_text(painter, at, text, small, theme.muted, "right")
        for step in self._steps:
            begin, end = (
                plot.left() + s / lasts_s * plot.width() for s in (step.begin_s, step.end_s)
            )
            top = plot.bottom() - step.point.x / high * plot.height()
            bar = QRectF(begin, top, max(end - begin, 1.0), plot.bottom() - top)
            warm, thin = step.point.purpose == "warm_up", 0 < step.point.samples < STEADY
            ink = theme.muted if warm else theme.warn if thin else theme.text
            style = Qt.BrushStyle.BDiagPattern if warm else Qt.BrushStyle.SolidPattern
            painter.fillRect(bar, QBrush(with_opacity(ink, 0.5 if warm else 0.14), style))
            painter.setPen(QPen(QColor(ink), 1.8))
            painter.drawLine(bar.topLeft(), bar.topRight())


class Remarks(QWidget):
    """Messages, each with the sign of its tone."""

    def __init__(self) -> None:
        super().__init__()
        self._list = column(self, gap=6)

    def show_text(
        self,
        remarks: Sequence[tuple[str, str]],
        fields: Mapping[str, QWidget | None] = MappingProxyType({}),
    ) -> None:
        """Show messages, each with a tone (bad, warn, ok, muted). `fields`: those that messages
        lead to.
        """
        empty(self._list)
        for tone, text in remarks:
            line = remark(tone, text, px=12)
            if (field := fields.get(text)) is not None:
                fill(line.layout(), (_link(text, field), 0, TOP))
            self._list.addWidget(line)
            line.show()  # Qt would do that later, and until then it has no height


def _link(text: str, field: QWidget) -> QPushButton:
    """Return a button that leads to the field of a problem."""
    reason = Qt.FocusReason.TabFocusReason  # so that it scrolls into view
    made = button("Show", kind="link", on_click=lambda: field.setFocus(reason))
    made.setAccessibleName(f"Show the field: {text}")
    return made


class Outlook(QFrame):
    """Shows the last valid draft, and has a button that copies the plan."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._drawn = False
        self._title = label(_TITLE, 14, Weight.DemiBold)
        self._title.setMinimumHeight(_TITLE_PX)
        self.copy = button("Copy as YAML", "copy", kind="ghost")
        self.problems, self.sweep, self.remarks = Remarks(), SweepPicture(), Remarks()
        self._nothing = label(_FIX_FIRST, tone="soft", wrap=True)
        self._axis = label("", 12, Weight.DemiBold)
        self.hint = label("", 12, tone="muted", wrap=True)
        self._figures: dict[str, QLabel] = {}
        heading = beside((self._axis, 0, TOP), (self.hint, 1), gap=6)
        self._body, shown = QWidget(), QWidget()
        drawn = self._make_figures(), hair(), heading, (self.sweep, 1), self.remarks
        column(self._body, *drawn, gap=10)
        column(shown, self.problems, (self._nothing, 0, TOP), (self._body, 1), gap=10)
        for each in (self.problems, self._nothing, self._body):
            each.hide()  # until there is a draft
        self._scroll = Scrolled(shown)
        head = beside((self._title, 1), self.copy)
        column(self, head, (self._scroll, 1), margin=(16, 12, 16, 14), gap=12)

    def show_draft(self, draft: Draft, faults: Mapping[str, QWidget | None]) -> None:
        """`faults`: the fields of the problems that are listed, by these."""
        plan, budget = draft.plan, draft.budget
        self._drawn = self._drawn or (plan is not None and budget is not None)
        self._title.setText(_STALE if self._drawn and budget is None else _TITLE)
        self.copy.setEnabled(plan is not None)
        self._body.setVisible(self._drawn)
        self._nothing.setVisible(not self._drawn)
        self.problems.show_text([("bad", text) for text in faults], faults)
        self.problems.setVisible(bool(faults))
        if faults:
            self._scroll.verticalScrollBar().setValue(0)
        if plan is None or budget is None:
            return
        self._show_figures(draft)
        axis, timed = plan.axis, not (plan.closed and plan.seconds is None)
        self._axis.setText(f"{axis.label} ({axis.unit})" if axis.per_second else axis.title)
        self.sweep.show_steps(draft.steps, timed=timed)
        hint = _sweep_hint(draft, plan, timed=timed)
        self.hint.setText(hint)
        self.sweep.setAccessibleDescription(
            f"From {draft.steps[0].point.load} to {draft.steps[-1].point.load}, {hint}"
        )
        first = "calibration" if plan.calibrate and axis.calibrated else ""
        order = ", then ".join(filter(None, (first, _order_hint(plan))))
        self.remarks.show_text([("muted", f"Order: {order}.")] * bool(order) + _remarks(draft))

    def _make_figures(self) -> QGridLayout:
        figures = QGridLayout(horizontalSpacing=16, verticalSpacing=8)
        for place, name in enumerate(_FIGURES):
            figure = self._figures[name] = label("", 18, Weight.DemiBold, figures=True)
            cell = stack(label(name, 12, tone="muted"), figure)
            figures.addLayout(cell, place // 2, place % 2)
            figures.setColumnStretch(place % 2, 1)
        return figures

    def _show_figures(self, draft: Draft) -> None:
        budget = draft.budget
        assert budget is not None
        fewest, most = budget.samples_per_point
        span = counted(most) if fewest == most else f"{counted(fewest)} to {counted(most)}"
        texts = (
            formatting.time_span(budget.duration_s),
            _points(draft),
            span if most else _MANY,
            counted(draft.connections) if draft.connections else _MANY,
        )
        for name, text in zip(_FIGURES, texts, strict=True):
            self._figures[name].setText(text)
            self._figures[name].setAccessibleName(f"{name}: {text}")


def counted(count: float) -> str:
    """Return "334,000" or "1.2 M"."""
    return f"{count:,.0f}" if count < 1e6 else f"{count / 1e6:,.3g} M"


def _points(draft: Draft) -> str:
    """ "63", of a search "63 to 210"."""
    assert draft.budget is not None
    expected, at_most = draft.budget.points
    blocks = len(draft.order)
    if expected != at_most:
        return f"{blocks * expected:,} to {blocks * at_most:,}"
    return f"{blocks * sum(step.point.purpose != 'warm_up' for step in draft.steps):,}"


def _sweep_hint(draft: Draft, plan: Plan, *, timed: bool) -> str:
    sweeps = len(draft.order)
    if plan.search:
        of = f"example, 1 of {sweeps} searches" if sweeps > 1 else "example"
    else:
        of = f"1 of {sweeps} sweeps" if sweeps > 1 else "1 sweep"
    warmed = ", warmed up" if plan.warming else ""
    judged = [step.point for step in draft.steps if step.point.purpose != "warm_up"]
    few = any(0 < point.samples < STEADY for point in judged)
    amber = "; amber: too few for a steady p99" if few else ""
    if not timed:
        return f"{of}{warmed}; its duration depends on the server{amber}"
    lasts_s = draft.steps[-1].end_s
    return f"{of}{warmed}, {formatting.time_span((lasts_s, lasts_s))}{amber}"


def _order_hint(plan: Plan) -> str:
    passes = formatting.number_of(plan.repeats, "passes")
    if len(plan.servers) == 1:
        return passes if plan.repeats > 1 else ""
    if plan.order == "sequential":
        return "server by server"
    seeded = f"random order, seed {plan.seed}"
    return f"{passes}, {seeded if plan.seed else 'an example of a random order'}"


def _remarks(draft: Draft) -> list[tuple[str, str]]:
    budget = draft.budget
    assert budget is not None
    found = [("warn", warning.text()) for warning in draft.warnings]
    if not found and not draft.faults:
        found.append(("ok", "Time, ports and descriptors are sufficient."))
    # The first two sentences are the figures above.
    more = [each.text() for each in draft.remarks]
    return [*found, *(("muted", text) for text in (*budget.describe()[2:], *more))]

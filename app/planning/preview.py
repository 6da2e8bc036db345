"""The card beside the form: a preview of the plan, updated while it is edited, or its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsOpacityEffect,
    QGridLayout,
    QLabel,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.fields import Segments
from app.planning.plan_charts import (
    STEADY,
    SweepPicture,
    counted,
    describe,
)
from app.scrolling import Scrolled
from app.theme import Weight
from app.widgets import (
    Elided,
    Sign,
    button,
    column,
    empty,
    hair,
    label,
    reading,
    repolish,
    retone,
    row,
)
from workbench import formatting
from workbench.plan.editing import Draft, Step
from workbench.plan.model import Plan

_TITLES = {"preview": "Run preview", "file": "Plan file"}
_STALE = "Last valid plan"
_COPIED_MS = 2_000
_MANY = "Not fixed"
_FIX_FIRST = "Fix the problems in the form to see the preview."
_PALE = 0.5
"""The opacity of what is shown of the last valid draft."""
_BAR_PX = 8
_GAP = 6


class Heading(QWidget):
    """A title with a hint beside it, in whose place another text may stand for a while."""

    def __init__(self, title: str = "", *, tone: str = "muted") -> None:
        super().__init__()
        inside = row(self, gap=_GAP)
        self._title = label(title, 12, Weight.DemiBold)
        self.hint = label("", 12, tone=tone, wrap=True)
        inside.addWidget(self._title, 0, Qt.AlignmentFlag.AlignTop)
        inside.addWidget(self.hint, 1)
        self._text = ""

    def show_title(self, text: str) -> None:
        self._title.setText(text)

    def show_text(self, text: str) -> None:
        """Set the hint."""
        self._text = text
        self.show_instead("")

    def show_instead(self, text: str) -> None:
        """Show another text in the room of the hint; empty: the hint."""
        self.hint.setMinimumHeight(self.hint.height() if text else 0)  # so that nothing moves
        self.hint.setText(text or self._text)


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
            line = row(holder := QWidget(), gap=8)
            line.addWidget(Sign(tone), 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(label(text, 12, tone="soft", wrap=True), 1)
            if (field := fields.get(text)) is not None:
                line.addWidget(_link(text, field), 0, Qt.AlignmentFlag.AlignTop)
            self._list.addWidget(holder)
            holder.show()  # Qt would do that later, and until then it has no height


def _link(text: str, field: QWidget) -> QPushButton:
    """Return a button that leads to the field of a problem."""
    reason = Qt.FocusReason.TabFocusReason  # so that it scrolls into view
    made = button("Show", kind="link", on_click=lambda: field.setFocus(reason))
    made.setAccessibleName(f"Show the field: {text}")
    return made


class Share(QWidget):
    """A name and its figures, and a bar below them."""

    def __init__(self, title: str, about: str) -> None:
        """`about`: for screen readers."""
        super().__init__()
        self.setAccessibleName(f"{title}: {about}")
        inside, head = column(self, gap=4), row(gap=_GAP)
        head.addWidget(label(title, 12, Weight.DemiBold))
        when = Elided(12, tone="muted", droppable=True)
        when.show_text("at the peak")
        head.addWidget(when, 1)
        self._figures = label("", 12, figures=True)
        head.addWidget(self._figures)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(_BAR_PX)
        inside.addLayout(head)
        inside.addWidget(self._bar)

    def show_share(self, needed: int, free: int) -> None:
        """Where it does not suffice, a message says so, too."""
        text = f"{needed:,} of {free:,}"
        self.setAccessibleDescription(text)
        self._figures.setText(text)
        retone(self._figures, "warn" if needed > free else "soft")
        self._bar.setProperty("kind", "short" if needed > free else "share")
        repolish(self._bar)
        self._bar.setRange(0, 1000)
        self._bar.setValue(min(1000, -(-1000 * needed // max(1, free))))


class Preview(QWidget):
    """Shows the last valid draft. It may be higher than what it scrolls in."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn = False
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
        inside.addWidget(hair())
        inside.addSpacing(10)
        self._axis = Heading()
        inside.addWidget(self._axis)
        self.sweep = SweepPicture()
        self.sweep.pointed.connect(self._on_pointed)
        inside.addWidget(self.sweep, 1)
        inside.addSpacing(8)
        self._order = Heading("Run order")
        inside.addWidget(self._order)
        inside.addSpacing(10)
        self.ports = Share("Local ports", "peak use, of the free ports")
        about = "connections open at the peak, of those for them"
        self.descriptors = Share("File descriptors", about)
        inside.addWidget(self.ports)
        inside.addSpacing(8)
        inside.addWidget(self.descriptors)
        inside.addSpacing(10)
        self.remarks = Remarks()
        inside.addWidget(self.remarks)

    def show_draft(self, draft: Draft, faults: Mapping[str, QWidget | None]) -> None:
        """`faults`: the fields of the problems that are listed, by these."""
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
            return
        self._show_plan(draft)
        closed, axis = plan.closed, plan.axis
        timed = not (closed and plan.seconds is None)
        self._axis.show_title(f"{axis.label} ({axis.unit})" if axis.per_second else axis.title)
        self.sweep.show_steps(draft.steps, timed=timed)
        hint = _sweep_hint(draft, plan, timed=timed)
        self._axis.show_text(hint)
        self.sweep.setAccessibleDescription(
            f"From {draft.steps[0].load} to {draft.steps[-1].load}, {hint}"
        )
        calibrated = plan.calibrate and axis.calibrated
        first = "calibration first" if calibrated else ""
        order = ", then ".join(filter(None, (first, _order_hint(plan))))
        self._order.show_text(order)
        self._order.setVisible(bool(order))
        self.ports.show_share(budget.ports_needed, budget.ports_free)
        self.descriptors.show_share(budget.open_at_worst, budget.descriptors)
        self.remarks.show_text(_remarks(draft))

    def _mute(self, stale: bool) -> None:
        """Show whether the values are those of an earlier draft."""
        pale = QGraphicsOpacityEffect(self._body) if stale else None
        if pale is not None:
            pale.setOpacity(_PALE)
        self._body.setGraphicsEffect(pale)  # type: ignore[arg-type]

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
        fewest, most = draft.budget.samples_per_point
        span = counted(most) if fewest == most else f"{counted(fewest)} to {counted(most)}"
        for name, text in {
            "Duration": formatting.time_span(draft.budget.duration_s),
            "Points": _points(draft),
            "Calls per point": span if most else _MANY,
            "Connections": counted(draft.connections) if draft.connections else _MANY,
        }.items():
            self._figures[name].setText(text)
            self._figures[name].setAccessibleName(f"{name}: {text}")

    def _on_pointed(self, step: Step | None) -> None:
        self._axis.show_instead(describe(step) if step else "")


def _points(draft: Draft) -> str:
    """ "63", of a search "63 to 210"."""
    assert draft.budget is not None
    expected, at_most = draft.budget.points
    blocks = len(draft.order)
    if expected != at_most:
        return f"{blocks * expected:,} to {blocks * at_most:,}"
    return f"{blocks * sum(step.purpose != 'warm_up' for step in draft.steps):,}"


def _sweep_hint(draft: Draft, plan: Plan, *, timed: bool) -> str:
    sweeps = len(draft.order)
    if plan.search:
        of = f"example, 1 of {sweeps} searches" if sweeps > 1 else "example"
    else:
        of = f"1 of {sweeps} sweeps" if sweeps > 1 else "1 sweep"
    warmed = ", warmed up" if plan.warming else ""
    few = any(0 < step.calls < STEADY for step in draft.steps if step.purpose != "warm_up")
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
    costs = budget.estimated, budget.held, budget.several, budget.rests
    found += [("muted", cost.text()) for cost in costs if cost]
    if not found and not draft.faults:
        found.append(("ok", "Time, ports and descriptors are sufficient."))
    more = [*draft.remarks, *filter(None, [budget.sensitivity])]
    return [*found, *(("muted", remark.text()) for remark in more)]


class Outlook(QFrame):
    """`show_draft` shows the preview; `show_text` the file."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self._stale = False
        inside = column(self, gap=12)
        inside.setContentsMargins(16, 12, 16, 14)
        head = row()
        self._title = label(_TITLES["preview"], 14, Weight.DemiBold)
        self._view = Segments("Preview or file", [("preview", "Preview"), ("file", "File")])
        self._view.edited.connect(self._switch)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._view)
        inside.addLayout(head)
        self._stack = QStackedWidget()
        self.preview = Preview()
        self._scroll = Scrolled(self.preview)
        self._stack.addWidget(self._scroll)
        self._stack.addWidget(self._make_file())
        inside.addWidget(self._stack, 1)

    def show_draft(self, draft: Draft, faults: Mapping[str, QWidget | None]) -> None:
        """`faults`: the fields of the problems that are listed, by these."""
        self.preview.show_draft(draft, faults)
        if faults:
            self._scroll.verticalScrollBar().setValue(0)
        self._stale = self.preview.drawn and draft.budget is None
        self._retitle()

    def show_text(self, text: str) -> None:
        """Set the text of the plan file; empty: none yet."""
        self._text.setPlainText(text or "# Fix the problems first.\n")
        self._copy.setEnabled(bool(text))

    def show_file(self, shown: bool = True) -> None:
        """Show the file, or the preview."""
        self._view.set_value("file" if shown else "preview")
        self._switch()

    def _make_file(self) -> QWidget:
        page = QWidget()
        inside = column(page, gap=8)
        about = "Run it with pongbench run, share it, or drop it into this window."
        inside.addWidget(label(about, 12, tone="muted", wrap=True))
        self._text = reading("Plan as YAML")
        # The end of a long line would look like a key of its own.
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        inside.addWidget(self._text, 1)
        foot = row()
        self._copy = button("Copy", "copy", on_click=self._copy_text)
        self._copied = label("", 12, tone="ok")
        foot.addWidget(self._copy)
        foot.addWidget(self._copied)
        foot.addStretch(1)
        inside.addLayout(foot)
        return page

    def _switch(self) -> None:
        shown = self._view.value()
        self._stack.setCurrentIndex(list(_TITLES).index(shown))
        self._retitle()

    def _retitle(self) -> None:
        shown = self._view.value()
        self._title.setText(_STALE if self._stale and shown == "preview" else _TITLES[shown])

    def _copy_text(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self._copied.setText("Copied")
        QTimer.singleShot(_COPIED_MS, self._copied, self._copied.clear)

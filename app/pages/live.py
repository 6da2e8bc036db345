"""The page of a run in progress."""

from __future__ import annotations

from enum import Enum
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

import msgspec
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame

from app import words
from app.charts.model import ChartModel
from app.charts.ranked_bars import Ranked, RankedBars
from app.context import Desk
from app.export.dialog import ask, shown_session
from app.export.sources import Charts
from app.live.preparing import Preparing
from app.live.run import LiveRun, Outcome, Trial, Where
from app.live.status_strip import NowStrip
from app.machines.prompts import Asker
from app.machines.records import HERE
from app.pages.session_page import LOW, SessionPage
from app.theme import Theme, Weight
from app.widgets import Inline, button, column, label, rename
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.formatting import listed, number_of
from workbench.messages.notes import notice
from workbench.plan.budget import calibration_s
from workbench.plan.model import Plan
from workbench.results import sustained

_ENDED = {
    "done": ("Done", "ok"),
    "stopped": ("Stopped early", "warn"),
    "aborted": ("Aborted", "warn"),
    "failed": ("Failed", "bad"),
}
_TO_BEGIN = "Press Esc to go back, then run servers or open a session (Ctrl+O)."
"""The headline of a presentation without a run."""
ABORT_AFTER_MS = 700
"""How long after Stop the button becomes Abort: a double click must not abort."""
_MOST_ROWS = 6
"""Of a column of the answer."""
_PULSE_MS = 500
"""The pulse's interval."""


class State(Enum):
    IDLE = ""
    PREPARING = "Preparing"
    RUNNING = "Running"
    PAUSING = "Pausing after this point"
    PAUSED = "Paused"
    STOPPING = "Stopping"
    ABORTING = "Aborting"
    OVER = "Finished"

    @property
    def active(self) -> bool:
        return self not in (State.IDLE, State.OVER)

    @property
    def steerable(self) -> bool:
        """Whether the run can be paused, resumed, and its server skipped."""
        return self in (State.RUNNING, State.PAUSING, State.PAUSED)


_PAUSE, _CHOOSE = "Pause after this point", ("Choose servers", "list-checks")


class Verdict(QFrame):
    """The answer at the end of a run: the sentence of the reports, over a bar for each server."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._sentence = label("", 20, Weight.DemiBold, wrap=True, selectable=True)
        self._sentence.setAccessibleName("Result")
        self._more = label("", 13, tone="soft", wrap=True, selectable=True)
        self.bars = RankedBars(filled=True, most_rows=_MOST_ROWS)
        self.bars.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # there is nothing to pick
        column(self, self._sentence, self._more, self.bars, margin=14, gap=8)
        self.hide()

    def display(self, model: ChartModel) -> None:
        ranked = [series for series in model.ranked() if series.complete]
        whole = model.stop is not None and model.stop.status == "done"
        found = sustained.answer(ranked, whole=whole)
        self._sentence.setText(f"{found.text}.")
        failed = [audit.label for audit in model.audits if audit.failed]
        audits = f"In doubt, see Events: {listed(failed)}." if failed else ""
        more = " ".join(filter(None, (found.why, *found.doubts, audits)))
        self._more.setText(more)
        self._more.setVisible(bool(more))
        rows = [
            Ranked(
                each.id,
                each,
                partial(Theme.series, index=each.index),
                each.name,
                sustained.parts(each).figure or sustained.column(each),
                f"{each.name} {sustained.parts(each).text}",
            )
            for each in ranked
        ]
        known = [each.interval for each in ranked if each.interval is not None]
        ends = [end for i in known for end in (i.low, i.high) if end != inf]
        most = max([*ends, *(each.figure for each in ranked)], default=0.0) * 1.04 or 1.0
        self.bars.display(rows, 0.0, most)
        self.show()


class LivePage(SessionPage):
    """Shows the run in progress, or the last one."""

    def __init__(self, desk: Desk) -> None:
        self.now = NowStrip()
        super().__init__(desk, self.now, live=True)
        self._asker = Asker(desk.bridge, self)
        self._run: LiveRun | None = None
        self._started: tuple[Plan, Where | None] | None = None
        self._path: Path | None = None
        self.state = State.IDLE
        self._pause = button(_PAUSE, "pause", on_click=self.pause_or_resume)
        self._skip = button("Skip server", "skip-forward", on_click=self.skip)
        self._stop = button("Stop", "square", kind="danger", on_click=self.press_stop)
        self._controls = self._pause, self._skip, self._stop
        self._next = button(*_CHOOSE, kind="primary", on_click=self.run_this)
        self._ended = (
            button("Replay", "film", on_click=lambda: desk.open_requested.emit(self._path)),
            button("Compare", "git-compare", on_click=self.compare),
            button("Export…", "share-2", on_click=self.export),
        )
        self._rest = button("Run the rest", "skip-forward", on_click=self._run_rest)
        self._check = button("Check machines", "server", on_click=self._check_machines)
        after = self._check, self._rest, *self._ended
        self.show_actions((*after, *self._controls, self._next))
        self.verdict = Verdict()
        self._inside.insertWidget(1, self.verdict)
        self.alert = Inline("Dismiss", dense=True)
        self.alert.pressed.connect(lambda: self.alert.show_text(""))
        self.board.warned.connect(lambda sentence: self.alert.show_text(sentence, "warn"))
        self.board.show_above(self.alert)
        self._preparing = Preparing()
        self.board.show_above(self._preparing)
        self._pulse = QTimer(self, interval=_PULSE_MS)
        self._pulse.timeout.connect(self._preparing.refresh)
        self._enter(State.IDLE)
        self._top.show_text("Live", "Nothing is running. Choose servers to start a run.")

    def start(self, plan: Plan, where: Where | None = None) -> None:
        """Run a plan, on this computer unless `where` is set; the window ensures that no other
        runs.
        """
        self.begin(plan, where)
        put, show_status = self._bridge.post(self.consume), self._bridge.post(self.show_status)
        self._run = LiveRun(plan, put, show_status, where, self._asker)
        self._run.on_progress = self._bridge.post(self.prepare)
        self._bridge.submit(self._run.run(), self.end, self._on_failed)

    def begin(self, plan: Plan, where: Where | None = None) -> None:
        """Show a new run of which only the plan is known. Its progress goes to `prepare`,
        `show_status`, `consume` and finally `end`.
        """
        self._started = plan, where
        self.board.clear()
        self.board.expect(plan)
        self.now.clear()
        self.error.show_text("")
        self.alert.show_text("")
        self._path = None
        count = number_of(len(plan.servers), "servers")
        self._top.show_text(plan.name, f"{count} {where or f'on {HERE}'}")
        self._pulse.start()
        self._enter(State.PREPARING)
        self._preparing.begin(calibration_s(plan), len(plan.servers))
        self._desk.set_busy(True)

    def run_this(self) -> None:
        """Run the plan shown again, once its run is over; without one, choose what to run."""
        if self.state is State.IDLE:
            self._desk.page_requested.emit("Start")
        elif self.state is State.OVER and self._started is not None:
            self._desk.run_requested.emit(*self._started)

    def _run_rest(self) -> None:
        """Run the servers that were not measured to their end."""
        if self._started is not None:
            plan, where = self._started
            rest = msgspec.structs.replace(plan, servers=self._left_out)
            self._desk.run_requested.emit(rest, where)

    @property
    def _left_out(self) -> list[str]:
        """Return the ids of servers without all their points."""
        servers = self.now.progress.servers.values()
        return [s.id for s in servers if sum(stop.complete for stop in s.stops) < s.total]

    def _check_machines(self) -> None:
        self._desk.page_requested.emit("Machines")
        self._desk.check_requested.emit()

    def pause_or_resume(self) -> None:
        if self._run is None or not self.state.steerable:
            return
        control = self._run.control
        if self.state is State.RUNNING:
            self._bridge.call(control.pause)
            self._enter(State.PAUSING)
        else:
            self._bridge.call(control.resume)
            self._enter(State.RUNNING)

    def skip(self) -> None:
        if self._run is not None and self._skip.isEnabled():
            self._bridge.call(self._run.control.skip_server)
            self._enter(State.RUNNING)

    def stop(self) -> None:
        running = self.state.active and self.state not in (State.STOPPING, State.ABORTING)
        if self._run is not None and running:
            begun = self.board.model.start is not None
            self._bridge.call(self._run.stop)
            self._enter(State.STOPPING)
            if begun:
                QTimer.singleShot(ABORT_AFTER_MS, self, self._offer_abort)

    @property
    def session(self) -> Path | None:
        return self._run.path if self._run else self._path

    def export(self) -> None:
        """Export the session after the run; until then, the charts on the screen."""
        if self._path is not None:
            ask(self, self._desk, shown_session(self._desk, self._path, self.board.trio))
        elif self.state is not State.IDLE:
            ask(self, self._desk, Charts(self.board.trio, self._top.title.whole))

    def press_stop(self) -> None:
        """Stop; pressed again during a long stop, abort."""
        if self.state is not State.STOPPING:
            self.stop()
        elif self._run is not None and self._stop.isEnabled():
            self._bridge.call(self._run.abort)
            self._enter(State.ABORTING)
            self.error.show_text("")

    def presented(self) -> dict[str, Any]:
        return {
            "status": self._in_short,
            "headline": self._in_large,
            "hint": (("Space", "pause or resume"), ("S", "skip")),
        }

    def _in_short(self) -> tuple[str, str]:
        """Return the status for a presentation, which shows the charts only."""
        if self.state is State.IDLE:
            return _TO_BEGIN, "soft"
        state = "" if self.state is State.RUNNING else self._top.chip.text
        for line in (self.error, self.alert):
            if line.text:
                return " · ".join(filter(None, (state, line.text))), "warn"
        return state, "soft"

    def _in_large(self) -> str:
        """Return the headline of a run without points."""
        headlines = {State.IDLE: "Nothing is running", State.OVER: "No measurements"}
        return headlines.get(self.state, "Preparing")

    def _offer_abort(self) -> None:
        if self.state is State.STOPPING:
            done = sum(len(series.complete) for series in self.board.model.series.values())
            self.error.show_text(
                "Stopping takes a few seconds. Abort ends the run at once and discards the "
                f"current point; the {number_of(done, 'points')} measured before are kept.",
                "warn",
            )
            rename(self._stop, "Abort")
            self._stop.setEnabled(True)

    def refresh(self) -> None:
        super().refresh()
        self.now.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.verdict.bars.setVisible(self.height() >= LOW)

    def handle_key(self, event: QKeyEvent) -> bool:
        control = event.modifiers() == Qt.KeyboardModifier.ControlModifier
        if event.key() == Qt.Key.Key_Period and control:
            self.press_stop()
        elif event.modifiers():
            return super().handle_key(event)
        elif event.key() == Qt.Key.Key_Space:
            self.pause_or_resume()
        elif event.key() == Qt.Key.Key_S:
            self.skip()
        else:
            return super().handle_key(event)
        return True

    def consume(self, document: AnyDocument) -> None:
        self.board.consume(document)
        self.now(document)
        self._preparing.consume(document)
        match document:
            case RunStart():
                self._top.show_text(self._top.title.whole, words.conditions(document))
                if self.state is State.PREPARING:
                    self._enter(State.RUNNING)
            case PointStop():
                self._paused_after = self.board.model.axis.of(document)
            case Note(topic="paused") if self.state is State.PAUSING:
                # Only now: cooling down and starting other servers come first.
                self._enter(State.PAUSED)

    def show_status(self, text: str) -> None:
        self.now.show_status(text)
        if self._preparing.isVisible():
            self._preparing.show_status(text)

    def prepare(self, trial: Trial) -> None:
        self._preparing.prepare(trial)
        self.board.prepare(trial)

    def end(self, outcome: Outcome) -> None:
        self._path = outcome.path
        stop = outcome.stop
        self.board.end()
        self._enter(State.OVER)
        if stop is None:
            self._top.chip.show_text("Stopped before the first point", "warn")
        else:
            text, tone = _ENDED[stop.status]
            self._top.chip.show_text(f"{text} · {self.now.points}", tone)
            reason = stop.reason or (notice("aborted").text() if stop.status == "aborted" else "")
            self.error.show_text(reason, tone)
            if stop.status == "failed":
                self.alert.show_text("")  # its end says it
            ended_early = stop.status != "done" and self._path is not None
            left_out = len(self._left_out) if ended_early else 0
            self._rest.setVisible(0 < left_out < len(self.now.progress.servers))
            elsewhere = self._started is not None and self._started[1] is not None
            self._check.setVisible(elsewhere and stop.status == "failed")
        self._finish()

    def _on_failed(self, sentence: str) -> None:
        self.board.end()
        self._enter(State.OVER)
        self._top.chip.show_text("Failed", "bad")
        self.error.show_text(sentence)
        self._finish()

    def _finish(self) -> None:
        self._run = None
        self._preparing.hide()
        self._pulse.stop()
        for each in self._ended:
            each.setVisible(self._path is not None)
        if any(series.complete for series in self.board.model.series.values()):
            self.verdict.display(self.board.model)
        self.refresh()
        self._desk.set_busy(False)

    def _enter(self, state: State) -> None:
        self.state = state
        self.board.set_paused(state is State.PAUSED)
        self.now.set_paused(state is State.PAUSED)
        self._desk.paused_changed.emit(state is State.PAUSED)
        for each in self._controls:
            each.setVisible(state.active)
            each.setEnabled(state.steerable)
        if state is not State.STOPPING:
            rename(self._stop, "Stop")
        self._stop.setEnabled(state.steerable or state is State.PREPARING)
        resumes = state in (State.PAUSING, State.PAUSED)
        rename(self._pause, *(("Resume", "play") if resumes else (_PAUSE, "pause")))
        self.now.setVisible(state.active and state is not State.PREPARING)
        self._next.setVisible(not state.active)
        idle = state is State.IDLE
        rename(self._next, *(_CHOOSE if idle else ("Run again", "rotate-cw")))
        self.verdict.hide()
        for each in (*self._ended, self._rest, self._check):
            each.hide()
        text = state.value
        if state is State.PAUSED:
            self.now.show_status("Space resumes.")
            text = f"Paused after {self._paused_after}" if self._paused_after else "Paused"
        signs = {
            State.RUNNING: ("ok", "play"),
            State.PAUSING: ("warn", "pause"),
            State.PAUSED: ("warn", "pause"),
        }
        tone, icon = signs.get(state, ("soft", ""))
        self._top.chip.show_text("" if state is State.OVER else text, tone, icon)

    _paused_after = ""

"""Tests a server on a machine, and shows the results."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.machines.cards import remark
from app.machines.prompts import Asker
from app.scrolling import Scrolled
from app.servers.known import FAILED, Known
from app.servers.tryout import HERE, Line, TrialResult, run_trial
from app.theme import Weight
from app.widgets import Chip, Elided, beside, button, column, empty, fill, label, rename, stack
from workbench.machines.profiles import Profile
from workbench.servers.gate import Measured

_HEAD_PX, _LEAST_PX = 22, 24
"""The height of a chip, also where there is none; the least height of the results."""


class Trial(QWidget):
    """One test after another, and none during a run."""

    finished = Signal(object)
    """A `Known` about which more is known now."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._asker = Asker(desk.bridge, self)
        self.profile: Profile | None = None
        """Of the machine; None: this computer."""
        self._known: Known | None = None
        self.under_way: Future[TrialResult] | None = None
        self._trying: Known | None = None
        self._doing = ""
        self._results: dict[tuple[str, str], TrialResult] = {}
        self._measured_before: dict[tuple[str, str], Measured | None] = {}
        self._title = Elided(13, Weight.DemiBold)
        self.chip = Chip()
        head = beside(self._title, None, self.chip)
        head.addStrut(_HEAD_PX)
        self._state = label("", 12, tone="soft", wrap=True)
        self._lines = stack(gap=8)
        scroll = Scrolled(QWidget())
        scroll.setMinimumHeight(_LEAST_PX)
        column(scroll.widget(), self._state, self._lines, None, gap=12)
        self.go = button("Test", "flask-conical", on_click=self.start)
        self.cancel = button("Cancel", "x", on_click=self.stop)
        column(self, head, (scroll, 1), beside((self.go, 1), (self.cancel, 1)), gap=10)
        desk.busy_changed.connect(self._on_busy)
        self._show()

    # Actions

    def set_machine(self, profile: Profile | None) -> None:
        """Set the machine for tests (None: this computer), and end the current one."""
        self.stop()
        self.profile = profile
        self._show()

    def show_server(self, known: Known | None) -> None:
        self._known = known
        self._show()

    def start(self) -> None:
        """Test the selected server."""
        known = self._known
        if known is None or not self.go.isEnabled() or self.under_way is not None:
            return
        before = self._results.pop(self._slot(known), None)
        self._measured_before[self._slot(known)] = known.measured
        # Consent was given after the commands were shown, for this server only.
        install = bool(before and before.needs_consent)
        self._trying, self._doing = known, "Starting"
        notify = self._desk.bridge.post(self._on_progress)
        self.under_way = self._desk.bridge.submit(
            run_trial(
                known.folder,
                notify,
                self._asker,
                shipped=not known.own,
                install=install,
                profile=self.profile,
            ),
            lambda result: self._on_result(known, result),
            lambda sentence: self._on_result(known, TrialResult(False, [Line(sentence, "bad")])),
        )
        self._show()
        self.cancel.setFocus()

    def stop(self) -> None:
        """End the test; the engine stops the server and cleans up."""
        if self.under_way is None or self._trying is None:
            return
        self.under_way.cancel()
        known, self.under_way, self._trying = self._trying, None, None
        self._results[self._slot(known)] = TrialResult(
            False, [Line("Test cancelled.", "muted")], cancelled=True
        )
        self._show()
        if self.isVisible():
            self.go.setFocus()

    def with_result(self, known: Known) -> Known:
        """Return the server with the state after its last test, also where that ended before there
        was a reply to be kept.
        """
        slot = self._slot(known)
        result = self._results.get(slot)
        failed = result and not (result.passed or result.cancelled or result.needs_consent)
        last = known.measured == self._measured_before.get(slot)  # else a run has tested it since
        return replace(known, state=FAILED) if failed and last else known

    def _slot(self, known: Known) -> tuple[str, str]:
        return self.profile.name if self.profile else "", known.key

    def forget(self, known: Known) -> None:
        """Forget the result, as the files have changed."""
        for slot in [slot for slot in self._results if slot[1] == known.key]:
            del self._results[slot]
        if known is self._known or (self._known and self._known.key == known.key):
            self._show()

    # Results

    def _on_progress(self, text: str) -> None:
        self._doing = text
        self._show()

    def _on_result(self, known: Known, result: TrialResult) -> None:
        if self._trying is not known:
            return
        self.under_way = self._trying = None
        self._results[self._slot(known)] = result
        self._show()
        self.finished.emit(known)

    def _on_busy(self, busy: bool) -> None:
        if busy:
            self.stop()
        self._show()

    # Display

    def _show(self) -> None:
        known, trying = self._known, self._trying
        result = self._results.get(self._slot(known)) if known else None
        here = trying is not None and known is not None and trying.key == known.key
        where = self.profile.name if self.profile else HERE
        self._title.show_text(f"{known.name} on {where}" if known else "")
        self.go.setVisible(self.under_way is None)
        needs_consent = bool(result and result.needs_consent)
        text = "Fetch and test again" if needs_consent else "Test again" if result else "Test"
        rename(self.go, text)
        self.go.setEnabled(bool(known and known.runs) and not self._desk.busy)
        if self.under_way is None and self.cancel.hasFocus():
            # Before it disappears; otherwise the focus would go to the next widget.
            self.go.setFocus()
        self.cancel.setVisible(self.under_way is not None)
        state = self._state_of(known, here=here, result=result)
        self._state.setText(state)
        self._state.setVisible(bool(state))
        if result is None or here:
            measured = known.measured if known and not here else None
            failed = measured is not None and not measured.gate.passed
            self.chip.show_text("Failed" if failed else "", "bad")
        elif needs_consent:
            self.chip.show_text("Needs setup", "warn")
        else:
            text, tone = ("Passed", "ok") if result.passed else ("Failed", "bad")
            self.chip.show_text("" if result.cancelled else text, tone)
        empty(self._lines)
        if result is None or here:
            return
        fill(self._lines, *(remark(line.tone, line.sentence, px=12) for line in result.lines))
        for heading, text in result.texts.items():
            shown = label(text, 12, tone="soft", wrap=True, mono=True, selectable=True)
            shown.setMinimumWidth(1)  # a long word does not widen what is above
            fill(self._lines, label(heading, 11, Weight.Medium, tone="muted"), shown)

    def _state_of(self, known: Known | None, *, here: bool, result: TrialResult | None) -> str:
        if known is None:
            return ""
        about = "Starts the server, checks its replies and stops it. "
        states = {
            f"{self._doing}…": here,
            f"Testing {self._trying.name if self._trying else ''}. This server can be tested"
            " afterwards.": self._trying is not None,
            "A run is in progress. Servers can be tested when it is over.": self._desk.busy,
            "Fix its files to test it.": known.entry is None,
            f"{known.state.word}, so there is nothing to test.": not known.runs,
            "": result is not None,
            about + (known.ready.sentence if known.ready else ""): True,
        }
        return next(sentence for sentence, true in states.items() if true)

"""The state of a run in progress, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from PySide6.QtWidgets import QPushButton

from app.widgets import button


class State(Enum):
    """Of the run on the page."""

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


class Controls:
    """Buttons that pause or resume, skip and stop."""

    def __init__(
        self,
        pause: Callable[[], object],
        skip: Callable[[], object],
        stop: Callable[[], object],
    ) -> None:
        self._pause = button(_PAUSE, "pause", on_click=pause)
        self._skip = button("Skip server", "skip-forward", on_click=skip)
        self._stop = button("Stop", "square", kind="danger", on_click=stop)
        self.buttons = (self._pause, self._skip, self._stop)

    @property
    def can_skip(self) -> bool:
        return self._skip.isEnabled()

    @property
    def can_stop(self) -> bool:
        return self._stop.isEnabled()

    def enter(self, state: State) -> None:
        """Show what is possible in a state. The icons need to be dressed anew."""
        for each in self.buttons:
            each.setVisible(state.active)
            each.setEnabled(state.steerable)
        if state is not State.STOPPING:
            _name(self._stop, "Stop")
        self._stop.setEnabled(state.steerable or state is State.PREPARING)
        resumes = state in (State.PAUSING, State.PAUSED)
        _name(self._pause, "Resume" if resumes else _PAUSE)
        self._pause.setProperty("icon_name", "play" if resumes else "pause")

    def offer_abort(self) -> None:
        """Make Stop, which takes its time, abort when it is pressed again."""
        _name(self._stop, "Abort")
        self._stop.setEnabled(True)


_PAUSE = "Pause after this point"


def _name(control: QPushButton, text: str) -> None:
    control.setText(f" {text}")
    control.setAccessibleName(text)

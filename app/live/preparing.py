"""What happens before anything is drawn: the servers are installed and tested."""

from __future__ import annotations

import time
from math import ceil

from PySide6.QtWidgets import QFrame, QProgressBar

from app.live.run import Trial
from app.theme import Weight
from app.widgets import Elided, column, label
from workbench.documents import AnyDocument, PointStart
from workbench.formatting import time_span

_MINUTE_S = 60
_WHY = "Each server is installed, started and tested once, so that none fails during the run."


def remaining(
    trial: Trial, elapsed_s: float, calibration_s: tuple[float, float] = (0.0, 0.0)
) -> str:
    """Return "about 8 s left", if the other tests take as long as those before, with the
    calibration after them; until one has ended, "8 s so far".
    """
    if trial.finished < 1:
        seconds = int(elapsed_s)
        return f"{time_span((seconds, seconds))} so far" if seconds else ""
    others = len(trial.servers) - trial.finished
    low, high = (ceil(elapsed_s / trial.finished * others + more) for more in calibration_s)
    one_unit = high < _MINUTE_S or low >= _MINUTE_S
    about = f"about {time_span((low, high))}" if one_unit else f"up to {time_span((high, high))}"
    return f"{about} left" if high else ""


class Preparing(QFrame):
    """A card above the charts, until the calibration or the first point."""

    def __init__(self) -> None:
        super().__init__(objectName="card")
        self._count = 0
        self._trial, self._begun_s, self._doing = Trial(), time.monotonic(), ""
        self._calibration_s = 0.0, 0.0
        self._step, self._left = Elided(16, Weight.DemiBold), label("", 12, tone="muted")
        self._bar = QProgressBar(textVisible=False, accessibleName="Tested servers")
        self._bar.setFixedHeight(6)
        why = label(_WHY, 12, tone="muted", wrap=True)
        column(self, self._step, self._left, self._bar, why, margin=14, gap=6)
        self.hide()

    def begin(self, calibration_s: tuple[float, float], servers: int) -> None:
        """Show it. `calibration_s`: how long it may take; 0: the clients are not calibrated.
        `servers`: how many are compared.
        """
        self._calibration_s, self._count = calibration_s, servers
        self._trial, self._begun_s, self._doing = Trial(), time.monotonic(), ""
        self.refresh()
        self.show()

    def prepare(self, trial: Trial) -> None:
        if trial.finished <= 0:
            self._begun_s = time.monotonic()
        if trial.now != self._trial.now:
            self._doing = ""  # it was about another server
        self._trial = trial
        self.refresh()

    def show_status(self, text: str) -> None:
        self._doing = text
        self.refresh()

    def consume(self, document: AnyDocument) -> None:
        """What is drawn ends it."""
        if isinstance(document, PointStart) and document.purpose not in ("warm_up", "profile"):
            self.hide()

    def refresh(self) -> None:
        trial, (done, total) = self._trial, self._trial.contestants
        total = total or self._count
        testing = f"Testing {trial.now[1]}" if trial.now else "Preparing the machines"
        self._step.show_text(self._doing or testing)
        left = remaining(trial, time.monotonic() - self._begun_s, self._calibration_s)
        tested = f"{done} of {total} server{'s' * (total != 1)} tested"
        self._left.setText(" · ".join(filter(None, (tested, left))))
        self._bar.setRange(0, max(1, total))
        self._bar.setValue(done)
        self.setAccessibleName(f"Before the first point: {self._step.whole}")

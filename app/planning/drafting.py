"""Has the plan in the form examined while it is edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.bridge import Bridge
from app.planning.form import PlanForm
from app.planning.resources import PlanResources

if TYPE_CHECKING:
    from workbench.plan.editing import Draft

_AFTER_MS = 150


class Drafting(QObject):
    """Examines what is in the form after every change; only the latest result counts."""

    examined = Signal(object)
    """A `Draft`."""
    failed = Signal(str)
    """Why it cannot be examined, in one sentence."""

    def __init__(self, bridge: Bridge, form: PlanForm, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge, self._form = bridge, form
        self.resources: PlanResources | None = None
        """What a plan is examined against; None: not read yet."""
        self.latest: Draft | None = None
        """The latest result, also of what the form no longer shows."""
        self._current = False
        self._request = 0
        self._timer = QTimer(self, singleShot=True, interval=_AFTER_MS)
        self._timer.timeout.connect(self.now)

    @property
    def draft(self) -> Draft | None:
        """Return the draft in the form; None: it is not examined yet."""
        return self.latest if self._current else None

    def outdate(self) -> None:
        """The form has changed."""
        self._current = False

    def soon(self) -> None:
        """Examine the form when nothing more is typed."""
        self._timer.start()

    def now(self) -> None:
        self._timer.stop()
        if self.resources is None:
            return
        self._request += 1
        request, machines = self._request, self._form.machines
        clients = max(1, len(machines.value()["clients"]))
        self._bridge.submit(
            self.resources.examine(
                self._form.data(),
                loopback=machines.alone,
                clients=clients,
                known=machines.facts(self.resources.facts),
                target=machines.value()["target"],
                target_facts=machines.target_facts(self.resources.facts),
                listens_on=machines.listens_on,
            ),
            lambda draft: self._on_draft(request, draft),
            self.failed.emit,
        )

    def _on_draft(self, request: int, draft: Draft) -> None:
        if request == self._request:
            self.latest, self._current = draft, not self._timer.isActive()
            self.examined.emit(draft)

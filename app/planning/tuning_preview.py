"""Shows what kernel settings would change on the machines of a plan; nothing is changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.context import Desk
from app.machines.prompts import Asker
from app.machines.tuning import consenting
from app.planning import resources
from app.planning.machines import Machines

if TYPE_CHECKING:
    from workbench.run.tuning import TuningPlan


class TuningPreview:
    """Connects to the machines when it is asked for."""

    def __init__(self, desk: Desk, machines: Machines, page: QWidget) -> None:
        self._desk, self._machines, self._page = desk, machines, page
        self._asker = Asker(desk.bridge, page)
        machines.preview_requested.connect(self._begin)

    def _begin(self) -> None:
        machines, where = self._machines, self._machines.where
        if where is None or not where.tune:
            return
        machines.show_preview(
            f"Checking {', '.join(dict.fromkeys((where.target, *where.clients)))}…"
        )
        self._desk.bridge.submit(
            resources.preview_tuning(where, self._asker),
            self._show,
            lambda sentence: machines.show_preview(sentence, "bad"),
        )

    def _show(self, plans: list[TuningPlan]) -> None:
        self._machines.show_preview("")
        dialog = consenting(self._page.window(), plans, self._desk.theme, preview=True)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

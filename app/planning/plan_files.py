"""Plan files that the user opens or drops."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge import Bridge
from app.planning import resources

if TYPE_CHECKING:
    from workbench.plan.model import Plan


class PlanFiles(QObject):
    """Reads one after another."""

    plan_read = Signal(object)
    """A `Plan`."""
    session_found = Signal(object)
    """The path of a session: it holds no plan of its own."""
    failed = Signal(str)
    """Why the file cannot be read, in one sentence."""

    def __init__(self, bridge: Bridge, page: QWidget) -> None:
        super().__init__(page)
        self._bridge, self._page = bridge, page
        self._under_way = 0

    @property
    def reading(self) -> bool:
        """Whether a file is being read."""
        return self._under_way > 0

    def ask(self) -> None:
        """Ask for a file."""
        dialog = QFileDialog(self._page, "Open a plan file")
        dialog.setNameFilters(["Plans and sessions (*.yaml *.yml)", "All files (*)"])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda chosen: self.read(Path(chosen)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def read(self, path: Path) -> None:
        """Read a file; a signal follows."""

        def done(plan: Plan | None) -> None:
            self._under_way -= 1
            if plan is None:
                self.session_found.emit(path)
            else:
                self.plan_read.emit(plan)

        def failed(sentence: str) -> None:
            self._under_way -= 1
            self.failed.emit(sentence)

        self._under_way += 1
        self._bridge.submit(resources.read_plan(path), done, failed)

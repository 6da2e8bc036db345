"""What was done on a page, and how it is undone and done again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.bridge import Bridge
from app.widgets import Inline
from workbench import trash
from workbench.trash import Trashed

_MOST = 200


@dataclass
class Step:
    """An edit or a deletion."""

    undo: Callable[[], object]
    redo: Callable[[], object]
    said: str = ""
    """One sentence to show with a button to undo it; empty: none."""
    then: Callable[[], object] = lambda: None
    """Called in the GUI's thread after either."""
    files: bool = True
    """`undo` and `redo` read and write files, and belong in the engine's thread."""
    key: object = None
    """Successive steps with one key are one step."""


class History(QObject):
    """The steps of one page. One that fails is reported and dropped."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self, bridge: Bridge, parent: QObject) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._busy = False

    def add(self, step: Step) -> None:
        self._undone.clear()
        if step.key is not None and self._done and self._done[-1].key == step.key:
            self._done[-1].redo = step.redo
        else:
            self._done.append(step)
            del self._done[:-_MOST]
        self.changed.emit()

    def extend(self, redo: Callable[[], object]) -> None:
        """Replace how the last step is done again: it had a consequence."""
        if self._done and not self._done[-1].files:
            self._done[-1].redo = redo

    def delete(self, what: str, discard: Callable[[], Trashed], then: Callable[[], object]) -> None:
        """Discard something, as a step. `what`: its name in a sentence; `then`: of the step, called
        after this, too.
        """
        kept: list[Trashed] = []

        def redo() -> None:
            kept[:] = [discard()]

        def done(_: object) -> None:
            said = f"Moved {what} to the trash, which keeps it for {trash.KEPT_DAYS} days."
            self.add(Step(lambda: trash.restore(kept[0]), redo, said, then))
            then()

        self._bridge.do(redo, done, self.failed.emit)

    def undo(self) -> None:
        self._carry_out(self._done, self._undone, lambda step: step.undo())

    def redo(self) -> None:
        self._carry_out(self._undone, self._done, lambda step: step.redo())

    @property
    def said(self) -> str:
        """Return what is to be said of the step that would be undone."""
        return self._done[-1].said if self._done else ""

    def _carry_out(self, of: list[Step], to: list[Step], work: Callable[[Step], object]) -> None:
        if not of or self._busy:
            return
        step = of.pop()
        step.key = None

        def over(problem: str = "") -> None:
            self._busy = False
            if not problem:
                to.append(step)
            step.then()
            self.changed.emit()
            if problem:
                self.failed.emit(problem)

        if step.files:
            self._busy = True
            self._bridge.do(lambda: work(step), lambda _: over(), over)
        else:
            work(step)
            over()


class UndoBar(Inline):
    """Says what was done last, where that is worth a sentence, with a button to undo it."""

    def __init__(self, history: History) -> None:
        super().__init__("Undo")
        self.pressed.connect(history.undo)
        history.changed.connect(lambda: self.show_text(history.said, "soft"))

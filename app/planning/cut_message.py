"""The whole message of the focused field, where it is cut beside that and not listed in sight."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QWidget

from app.fields import Line
from app.widgets import Inline


class CutMessage(Inline):
    """Below the form, whose rows therefore stay where they are while somebody types."""

    def __init__(self) -> None:
        super().__init__()
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus)
        self._listed = False

    def display(self, *, listed: bool) -> None:
        """Show it unless all messages are `listed` in sight."""
        self._listed = listed
        self._on_focus(None, QApplication.focusWidget())

    def _on_focus(self, _before: QWidget | None, now: QWidget | None) -> None:
        while now is not None and not isinstance(now, Line):
            now = now.parentWidget()
        cut = now if isinstance(now, Line) and now.cut and not self._listed else None
        self.show_text(cut.note if cut else "", cut.tone if cut else "bad")

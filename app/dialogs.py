"""The base of all dialogs, and questions before what cannot easily be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QScreen, QShowEvent
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QVBoxLayout, QWidget

from app.scrolling import Whole
from app.theme import Weight
from app.widgets import Sign, beside, button, column, label
from workbench.untrusted import safe

_FRAME = QSize(16, 48)
"""For the window manager's borders and title."""


def room_on(screen: QScreen) -> QSize:
    """Return the size that a dialog may have on a screen."""
    return screen.availableGeometry().size() - _FRAME


class Dialog(QDialog):
    """Its layout is a column whose last part are the buttons: on a small screen, or with large
    text, its contents scroll and the buttons stay in view.
    """

    def given(self) -> Any:
        """Return the answer once it is closed; here whether it was accepted."""
        return self.result() == QDialog.DialogCode.Accepted

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        room = room_on(self.screen())
        layout = self.layout()
        if isinstance(layout, QVBoxLayout):
            least = layout.totalMinimumSize().expandedTo(self.minimumSize())
            width = min(max(self.width(), least.width()), room.width())
            high = max(least.height(), layout.totalHeightForWidth(width))
            if least.width() > room.width() or high > room.height():
                focused = self.focusWidget()
                body = self._scroll(layout)
                if focused is not None:
                    focused.setFocus()
                self.setMinimumSize(0, 0)
                self.setMaximumSize(room)
                bar = body.verticalScrollBar().sizeHint().width()
                self.resize(QSize(width + bar, high).boundedTo(room))
                return
        self.resize(self.size().boundedTo(room))

    def _scroll(self, layout: QVBoxLayout) -> Whole:
        """Put its layout, but for the last part, into a scroll area, and return that."""
        around, gap, last = layout.contentsMargins(), layout.spacing(), layout.count() - 1
        stretch, foot = layout.stretch(last), layout.takeAt(last)
        body = QWidget()
        body.setLayout(layout)  # with what is in it
        layout.setContentsMargins(0, 0, 0, 0)
        area = Whole(body)
        outer = column(self, (area, 1), (foot.widget() or foot.layout(), stretch), gap=gap)
        outer.setContentsMargins(around)
        return area


class Confirmation(Dialog):
    """Only a button gives its answer; the focus is on the one that does no harm."""

    def __init__(
        self,
        parent: QWidget,
        title: str,
        body: Sequence[QWidget],
        answers: Sequence[tuple[str, str, Any]],
        *,
        harmless: int = 0,
        sign: Sign | None = None,
        kind: str = "",
    ) -> None:
        """`answers`: text, icon and what `given` returns; the first is also that of Escape.
        `harmless`: the place of the answer with the focus. `sign`: before the title. `kind`: of
        the last button.
        """
        super().__init__(parent)
        self._given = answers[0][2]
        self.setWindowTitle(safe(title))
        self.setMinimumWidth(480)
        last = len(answers) - 1
        self.buttons = [
            button(text, icon, kind=kind * (n == last), on_click=partial(self._give, answer))
            for n, (text, icon, answer) in enumerate(answers)
        ]
        words = label(title, 15, Weight.DemiBold, wrap=True)
        head = beside(*filter(None, [sign]), (words, 1), gap=10)
        column(self, head, *body, beside(None, *self.buttons), margin=20, gap=12)
        self.buttons[harmless].setDefault(True)
        self.buttons[harmless].setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> Any:
        return self._given

    def _give(self, answer: Any) -> None:
        self._given = answer
        self.accept()


SESSION_FILES = "Sessions (*.pong.yaml *.yaml)"


def ask_file(
    parent: QWidget,
    title: str,
    do: Callable[[Path], object],
    *,
    start: Path | None = None,
    kind: str = "",
) -> QFileDialog:
    """Open a choice of a file that exists; `do` gets its path. `start`: the folder to begin with;
    `kind`: of files offered first, as Qt writes it.
    """
    one = QFileDialog.FileMode.ExistingFile
    dialog = QFileDialog(parent, title, str(start or ""), fileMode=one)
    if kind:
        dialog.setNameFilters([kind, "All files (*)"])
    dialog.fileSelected.connect(lambda chosen: do(Path(chosen)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def ask(
    parent: QWidget,
    text: str,
    more: str,
    *,
    go: str,
    do: Callable[[], object],
    cancel: str = "Cancel",
) -> Confirmation:
    """Open a question; `do` is called if the answer is `go`. Enter and Escape cancel."""
    answers = ((cancel, "", False), (go, "", True))
    about = label(more, tone="soft", wrap=True)
    dialog = Confirmation(parent, text, [about], answers, kind="danger")
    return _opened(dialog, do)


def ask_text(
    parent: QWidget,
    title: str,
    question: str,
    text: str,
    do: Callable[[str], object],
    *,
    go: str = "",
) -> Confirmation:
    """Open a field with `text`; `do` gets it edited. `go`: the accepting button, or the title."""
    field = QLineEdit(text, accessibleName=question)
    field.selectAll()
    answers = (("Cancel", "", False), (go or title, "", True))
    dialog = Confirmation(parent, title, [label(question), field], answers, harmless=1)
    field.setFocus()
    return _opened(dialog, lambda: do(field.text()))


def _opened(dialog: Confirmation, do: Callable[[], object]) -> Confirmation:
    dialog.finished.connect(lambda _: do() if dialog.given() else None)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog

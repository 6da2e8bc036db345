"""A confirmation before an action that cannot easily be undone."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QGridLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QWidget,
)

from app.widgets import repolish
from workbench.untrusted import safe

_MARGIN = 20
_SAFE_FIRST = "QDialogButtonBox { button-layout: 3; }"
"""The order of all our dialogs, on every system: first what changes nothing, then the action."""


def ask(
    parent: QWidget,
    text: str,
    more: str,
    *,
    go: str,
    do: Callable[[], object],
    cancel: str = "Cancel",
) -> QMessageBox:
    """Open a question; `do` is called if the answer is `go`. Enter and Escape cancel."""
    dialog = QMessageBox(parent)
    dialog.setWindowTitle("Pongbench")
    dialog.setTextFormat(Qt.TextFormat.PlainText)
    dialog.setText(safe(text))
    dialog.setInformativeText(safe(more))
    keeps = dialog.addButton(cancel, QMessageBox.ButtonRole.RejectRole)
    act = dialog.addButton(go, QMessageBox.ButtonRole.AcceptRole)
    act.setProperty("kind", "danger")
    repolish(act)
    act.clicked.connect(lambda _checked=False: do())
    dialog.setDefaultButton(keeps)
    dialog.setEscapeButton(keeps)
    grid = dialog.layout()
    assert isinstance(grid, QGridLayout)
    grid.setHorizontalSpacing(0)
    indent = grid.itemAt(0).sizeHint().width()  # Qt's, where an icon could be
    grid.setContentsMargins(_MARGIN - indent, _MARGIN, _MARGIN, _MARGIN)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    for buttons in dialog.findChildren(QDialogButtonBox):  # heeded once it is shown
        buttons.setStyleSheet(_SAFE_FIRST)
    return dialog


def ask_text(
    parent: QWidget,
    title: str,
    question: str,
    text: str,
    do: Callable[[str], object],
    *,
    go: str = "",
) -> None:
    """Open a field that contains `text`; `do` gets the edited text. `go`: on the button that
    accepts it; empty: the title.
    """
    dialog = QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(safe(question))
    for label in dialog.findChildren(QLabel):
        label.setTextFormat(Qt.TextFormat.PlainText)
    dialog.setTextValue(text)
    dialog.setOkButtonText(go or title)
    dialog.resize(380, dialog.height())
    dialog.textValueSelected.connect(do)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    layout = dialog.layout()
    assert layout is not None
    layout.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
    for buttons in dialog.findChildren(QDialogButtonBox):
        buttons.setStyleSheet(_SAFE_FIRST)
    field = dialog.findChild(QLineEdit)
    if field is not None:
        field.selectAll()

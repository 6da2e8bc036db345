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
    asked = QMessageBox(parent)
    asked.setWindowTitle("Pongbench")
    asked.setTextFormat(Qt.TextFormat.PlainText)
    asked.setText(safe(text))
    asked.setInformativeText(safe(more))
    keeps = asked.addButton(cancel, QMessageBox.ButtonRole.RejectRole)
    act = asked.addButton(go, QMessageBox.ButtonRole.AcceptRole)
    act.setProperty("kind", "danger")
    act.style().unpolish(act)
    act.style().polish(act)
    act.clicked.connect(lambda _checked=False: do())
    asked.setDefaultButton(keeps)
    asked.setEscapeButton(keeps)
    grid = asked.layout()
    assert isinstance(grid, QGridLayout)
    grid.setHorizontalSpacing(0)
    indent = grid.itemAt(0).sizeHint().width()  # Qt's, where an icon could be
    grid.setContentsMargins(_MARGIN - indent, _MARGIN, _MARGIN, _MARGIN)
    asked.finished.connect(asked.deleteLater)
    asked.open()
    for buttons in asked.findChildren(QDialogButtonBox):  # heeded once it is shown
        buttons.setStyleSheet(_SAFE_FIRST)
    return asked


def ask_text(
    parent: QWidget, title: str, question: str, text: str, do: Callable[[str], object]
) -> None:
    """Open a field that contains `text`; `do` gets the edited text."""
    asked = QInputDialog(parent)
    asked.setWindowTitle(title)
    asked.setLabelText(safe(question))
    for label in asked.findChildren(QLabel):
        label.setTextFormat(Qt.TextFormat.PlainText)
    asked.setTextValue(text)
    asked.setOkButtonText(title)
    asked.resize(380, asked.height())
    asked.textValueSelected.connect(do)
    asked.finished.connect(asked.deleteLater)
    asked.open()
    field = asked.findChild(QLineEdit)
    if field is not None:
        field.selectAll()

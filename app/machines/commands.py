"""The commands run on other machines, in a drawer of the page."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from app.context import Desk
from app.theme import Weight, font
from app.widgets import button, column, label, row

SOURCE = "workbench.machines.commands"
_NONE = "No commands since program start. Check the machine to see them."


class Commands(QFrame):
    """Lines of the log about commands on one machine."""

    HEIGHT = 180

    def __init__(self, desk: Desk, opener: QPushButton) -> None:
        """`opener`: the button that opens it, and closes it."""
        super().__init__()
        self.setObjectName("drawer")
        self._desk, self._opener, self._machine = desk, opener, ""
        self._shown: list[str] = []
        self.setFixedHeight(self.HEIGHT)
        inside = column(self)
        head = row(gap=8)
        head.setContentsMargins(20, 8, 12, 8)
        self._title = label("Commands", 14, Weight.DemiBold)
        self._count = label("", 12, tone="muted")
        head.addWidget(self._title)
        head.addWidget(self._count)
        head.addStretch(1)
        close = button("Close", "x", kind="ghost", on_click=self._close)
        close.setAccessibleName("Close commands")
        head.addWidget(close)
        inside.addLayout(head)
        self.body = QPlainTextEdit()
        self.body.setReadOnly(True)
        self.body.setAccessibleName("Commands run on the machine")
        self.body.setFont(font(12, mono=True))
        self.body.setTabChangesFocus(True)
        self.body.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.body.setProperty("kind", "log")
        inside.addWidget(self.body, 1)
        self.hide()
        opener.toggled.connect(self._show)

    def show_of(self, machine: str) -> None:
        """Show the commands of a machine."""
        self._machine = machine
        self._title.setText(f"Commands on {machine}")
        self._shown = [""]
        self.refresh()

    def refresh(self) -> None:
        """Add new lines; cheap when there are none."""
        if self.isHidden():
            return
        start = f"{self._machine}: "
        lines = [
            f"{line.at:%H:%M:%S}  {line.text.removeprefix(start)}"
            for line in self._desk.log.lines()
            if line.source == SOURCE and line.text.startswith(start)
        ]
        if lines == self._shown:
            return
        self._shown = lines
        self._count.setText(f"{len(lines):,} since program start" if lines else "")
        self.body.setPlainText("\n".join(lines) or _NONE)
        bar = self.body.verticalScrollBar()
        bar.setValue(bar.maximum())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        else:
            super().keyPressEvent(event)

    def _show(self, shown: bool) -> None:
        self.setVisible(shown)
        if shown:
            self.show_of(self._machine)
            self.body.setFocus()

    def _close(self) -> None:
        self._opener.setChecked(False)
        self._opener.setFocus()

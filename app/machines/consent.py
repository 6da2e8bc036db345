"""What tuning would change on the machines of a run, and the consent to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.dialogs import Dialog
from app.machines.cards import remark
from app.machines.changes import ChangesTable, count
from app.scrolling import Scrolled
from app.theme import Theme, Weight, font
from app.widgets import Chip, button, column, dress, frame, label, row

if TYPE_CHECKING:
    from workbench.run.tuning import TuningPlan

_TITLE = "Change kernel settings for this run?"
_PREVIEW = "Changes for the run"
_ABOUT = (
    "They are changed before any server starts and restored when the run ends, even if the run, "
    "the link or this computer fails."
)
_ROOT = {
    "root": "as root",
    "nopasswd": "sudo without password",
    "password": "sudo with password",
    "none": "",
}
_HIGHEST = 440


class ConsentDialog(Dialog):
    """`given` is True to change the settings, None to run without changes, False not to run. Only
    the button itself consents; the focus is on the answer that changes nothing.
    """

    def __init__(
        self,
        parent: QWidget,
        plans: Sequence[TuningPlan],
        theme: Theme | None,
        *,
        preview: bool = False,
    ) -> None:
        super().__init__(parent)
        self._given: bool | None = False
        title = _PREVIEW if preview else _TITLE
        self.setWindowTitle(title)
        self.setMinimumWidth(620)
        inside = column(self, margin=20, gap=12)
        inside.addWidget(label(title, 15, Weight.DemiBold))
        inside.addWidget(label(_ABOUT, tone="soft", wrap=True))
        body = QWidget()
        down = column(body, gap=10)
        for plan in sorted(plans, key=lambda plan: not plan.changes_something):
            down.addWidget(_section(plan))
        down.addStretch(1)
        scroll = Scrolled(body, "Changes")
        scroll.setMinimumHeight(min(_HIGHEST, body.sizeHint().height() + 4))
        inside.addWidget(scroll, 1)
        foot = row()
        if not preview:
            foot.addWidget(button("Cancel", "x", kind="ghost", on_click=self.reject))
        foot.addStretch(1)
        if preview:
            safe = button("Close", on_click=self.reject)
        else:
            safe = button("Run without tuning", on_click=lambda: self._give(None))
            yes = button("Change and run", "check", on_click=lambda: self._give(True))
        safe.setDefault(True)
        foot.addWidget(safe)
        if not preview:
            foot.addWidget(yes)
        inside.addLayout(foot)
        if theme is not None:
            dress(self, theme)
        self.resize(640, self.sizeHint().height() + 24)
        safe.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> bool | None:
        return self._given

    def forget(self) -> None:
        """There is nothing secret here."""

    def _give(self, answer: bool | None) -> None:
        self._given = answer
        self.accept()


def _section(plan: TuningPlan) -> QFrame:
    made = frame("sunken")
    inside: QVBoxLayout = column(made, margin=12, gap=8)
    head = row(gap=8)
    head.addWidget(label(plan.machine, 14, Weight.DemiBold))
    chip = Chip()
    changes = [(change.key, change.now, change.wanted) for change in plan.changes]
    if plan.changes_something:
        chip.show_text(_ROOT[plan.sudo], "soft")
    head.addWidget(chip)
    head.addStretch(1)
    summary = count(changes) if plan.changes_something else "unchanged"
    head.addWidget(label(summary, 12, tone="muted"))
    inside.addLayout(head)
    if plan.why_not:
        inside.addWidget(remark("muted", plan.why_not.text()))
        return made
    table = ChangesTable()
    table.display(changes, plan.nofile)
    inside.addWidget(table)
    if plan.changes_something:
        inside.addWidget(_commands(plan))
    return made


def _commands(plan: TuningPlan) -> QWidget:
    made = QWidget()
    down = column(made, gap=4)
    show = button("Show commands", "terminal", kind="ghost")
    show.setCheckable(True)
    text = label("\n".join(plan.commands()))
    text.setFont(font(12, mono=True))
    text.setWordWrap(True)
    text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    about = label(
        "One program runs as root. It does what these commands would do and keeps a journal to "
        "restore every setting.",
        12,
        tone="muted",
        wrap=True,
    )
    for each in (about, text):
        each.hide()
        show.toggled.connect(each.setVisible)
    down.addWidget(show, 0, Qt.AlignmentFlag.AlignLeft)
    down.addWidget(about)
    down.addWidget(text)
    return made

"""A host key that is not trusted: shown, for the user to decide."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.dialogs import Dialog
from app.theme import Weight, font
from app.widgets import Sign, button, column, frame, label, row, tool
from workbench.formatting import capital
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem

LAST = 4
"""The number of characters of the new fingerprint to type before a changed key is trusted."""


class KeyDialog(Dialog):
    """Nothing is sent to the machine before it is accepted, which only the user's own action does.
    The focus is on the answer that changes nothing. `given`: whether the key is trusted.
    """

    def __init__(self, parent: QWidget, problem: HostKeyProblem) -> None:
        super().__init__(parent)
        name, changed = problem.machine, isinstance(problem, ChangedHostKey)
        self.setWindowTitle(f"Host key · {name}")
        self.setMinimumWidth(480)
        self._inside = column(self, margin=16, gap=10)
        head = row(gap=10)
        tone, icon = ("bad", "octagon-x") if changed else ("warn", "shield-alert")
        title = f"The host key of {name} has changed" if changed else f"Unknown host key: {name}"
        head.addWidget(Sign(tone, icon), 0, Qt.AlignmentFlag.AlignVCenter)
        head.addWidget(label(title, 15, Weight.DemiBold, wrap=True), 1)
        self._inside.addLayout(head)
        at = problem.host if problem.port == 22 else f"{problem.host} port {problem.port}"
        self._add_text(at, "muted")
        trust = button("Trust key", "shield-check", on_click=self.accept)
        if isinstance(problem, ChangedHostKey):
            trust = button("Trust new key", "shield-alert", kind="danger", on_click=self.accept)
            self._show_changed(problem, trust)
        else:
            self._add_text(
                "First connection to this machine; nothing was sent to it. Compare its key with "
                "the one on the machine:"
            )
            self._inside.addWidget(_fingerprint(problem.fingerprint, _kind(problem), "Key"))
            self._add_command(problem)
        foot = row()
        self.safe = button("Cancel", on_click=self.reject)
        foot.addStretch(1)
        foot.addWidget(self.safe)
        foot.addWidget(trust)
        self._inside.addLayout(foot)
        self.safe.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_changed(self, problem: ChangedHostKey, trust: QWidget) -> None:
        self._add_text(
            "Nothing was sent to it. The machine was reinstalled, or this is a possible"
            " man-in-the-middle attack."
        )
        for each in problem.old:
            self._inside.addWidget(_fingerprint(each, "", "Known key"))
        if problem.file:
            self._add_text(f"Stored in {problem.file}", "muted")
        self._inside.addWidget(_fingerprint(problem.fingerprint, _kind(problem), "New key"))
        self._add_command(problem)
        self._add_text(f"Ask the administrator of {problem.machine} before trusting the new key.")
        what = f"the last {LAST} characters of the new key"
        prompt = label(f"Type {what}", tone="soft", wrap=True)
        field = QLineEdit()
        field.setMaxLength(LAST)
        field.setFixedWidth(84)
        field.setFont(font(13, mono=True))
        field.setAccessibleName(capital(what))
        prompt.setBuddy(field)
        across = row(gap=8)
        across.addWidget(prompt, 1)
        across.addWidget(field)
        self._inside.addLayout(across)
        trust.setEnabled(False)
        end = problem.fingerprint[-LAST:]
        field.textChanged.connect(lambda typed: trust.setEnabled(typed == end))

    def _add_text(self, text: str, tone: str = "soft") -> None:
        px = 12 if tone == "muted" else 13
        self._inside.addWidget(label(text, px, tone=tone, wrap=True, selectable=True))

    def _add_command(self, problem: HostKeyProblem) -> None:
        """Add the command that shows the key on the machine itself."""
        command = f"ssh-keygen -lf /etc/ssh/ssh_host_{_kind(problem).lower()}_key.pub"
        self._add_text(f"On {problem.machine}:", "muted")
        across = row(gap=8)
        across.addWidget(label(command, wrap=True, mono=True, selectable=True), 1)
        copy = tool("Copy command", "copy", lambda: QGuiApplication.clipboard().setText(command))
        across.addWidget(copy)
        self._inside.addLayout(across)


def _kind(problem: HostKeyProblem) -> str:
    algorithm = problem.key.get_algorithm()
    return algorithm.removeprefix("ssh-").split("-")[0].upper()


def _fingerprint(text: str, kind: str, name: str) -> QFrame:
    made = frame("sunken")
    inside = column(made, margin=10, gap=2)
    inside.addWidget(label(f"{name} · {kind}" if kind else name, 12, tone="muted"))
    # Two lines: shorter lines are easier to compare.
    half = len(text) // 2 + 3
    shown = label(f"{text[:half]}\n{text[half:]}", mono=True, selectable=True)
    shown.setMinimumHeight(shown.sizeHint().height())
    shown.setAccessibleName(f"{name}: {text}")
    inside.addWidget(shown)
    return made

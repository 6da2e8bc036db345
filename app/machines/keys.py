"""A host key that is not trusted: shown, for the user to decide."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.dialogs import Dialog
from app.theme import Weight, font
from app.widgets import Sign, button, column, empty, label, retone, row, tool
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem

LAST = 4
"""The number of characters of the new fingerprint to type before a changed key is trusted."""


class KeyCard(QFrame):
    """Nothing is sent to the machine before `trusted`, which only the user's own action emits."""

    trusted = Signal(object)
    """The `HostKeyProblem`."""
    refused = Signal()
    """The key was refused."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("inline")
        self._outer = column(self, margin=16)
        self._inside = column(QWidget(self))
        self.problem: HostKeyProblem | None = None
        self.safe: QWidget | None = None
        """The widget to focus: the answer that changes nothing."""
        self.hide()

    def show_problem(self, problem: HostKeyProblem | None) -> None:
        """Show the problem; None hides the card."""
        self.problem, self.safe = problem, None
        empty(self._outer)
        body = QWidget()
        self._inside = column(body, gap=10)
        self._outer.addWidget(body)
        self.setVisible(problem is not None)
        if problem is None:
            return
        if isinstance(problem, ChangedHostKey):
            self._changed(problem.old, str(problem.file or ""))
        else:
            self._unknown()
        assert self.safe is not None
        # Only once it is visible; until then another button would keep the focus.
        focus = partial(self.safe.setFocus, Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(0, self.safe, focus)

    def _unknown(self) -> None:
        problem = self.problem
        assert problem is not None
        retone(self, "warn")
        self._head("warn", "shield-alert", f"Unknown host key: {problem.machine}", _where(problem))
        self._add_text(
            "First connection to this machine; nothing was sent to it. Compare its key with the "
            "one on the machine:"
        )
        self._inside.addWidget(_fingerprint(problem.fingerprint, _kind(problem), "Key"))
        self._add_command()
        trust = button("Trust key", "shield-check", on_click=self._trust)
        self._foot("Cancel", trust)

    def _changed(self, old: list[str], file: str) -> None:
        problem = self.problem
        assert problem is not None
        retone(self, "bad")
        name = problem.machine
        self._head("bad", "octagon-x", f"The host key of {name} has changed", _where(problem))
        self._add_text(
            "Nothing was sent to it. The machine was reinstalled, or this is a possible"
            " man-in-the-middle attack."
        )
        for each in old:
            self._inside.addWidget(_fingerprint(each, "", "Known key"))
        if file:
            self._add_text(f"Stored in {file}", "muted")
        self._inside.addWidget(_fingerprint(problem.fingerprint, _kind(problem), "New key"))
        self._add_command()
        self._add_text(f"Ask the administrator of {name} before trusting the new key.")
        across = row(gap=8)
        prompt = label(f"Type the last {LAST} characters of the new key", tone="soft", wrap=True)
        field = QLineEdit()
        field.setMaxLength(LAST)
        field.setFixedWidth(84)
        field.setFont(font(13, mono=True))
        field.setAccessibleName(f"The last {LAST} characters of the new key")
        prompt.setBuddy(field)
        across.addWidget(prompt, 1)
        across.addWidget(field)
        self._inside.addLayout(across)
        trust = button("Trust new key", "shield-alert", kind="danger", on_click=self._trust)
        trust.setEnabled(False)
        end = problem.fingerprint[-LAST:]
        field.textChanged.connect(lambda typed: trust.setEnabled(typed == end))
        self._foot("Cancel", trust)

    def _head(self, tone: str, icon: str, title: str, where: str) -> None:
        across = row(gap=10)
        across.addWidget(Sign(tone, icon), 0, Qt.AlignmentFlag.AlignVCenter)
        across.addWidget(label(title, 15, Weight.DemiBold, wrap=True), 1)
        self._inside.addLayout(across)
        self._add_text(where, "muted")

    def _add_text(self, text: str, tone: str = "soft") -> None:
        px = 12 if tone == "muted" else 13
        self._inside.addWidget(label(text, px, tone=tone, wrap=True, selectable=True))

    def _add_command(self) -> None:
        """Add the command that shows the key on the machine itself."""
        problem = self.problem
        assert problem is not None
        command = _command_for(problem)
        self._add_text(f"On {problem.machine}:", "muted")
        across = row(gap=8)
        across.addWidget(label(command, wrap=True, mono=True, selectable=True), 1)
        copy = tool("Copy command", "copy", lambda: QGuiApplication.clipboard().setText(command))
        across.addWidget(copy)
        self._inside.addLayout(across)

    def _foot(self, safe: str, trust: QWidget) -> None:
        foot = row()
        self.safe = button(safe, on_click=self.refused.emit)
        foot.addStretch(1)
        foot.addWidget(self.safe)
        foot.addWidget(trust)
        self._inside.addLayout(foot)

    def _trust(self) -> None:
        self.trusted.emit(self.problem)


class KeyDialog(Dialog):
    """An untrusted key that was found while its page is hidden, for example at the start of a run.
    `given`: whether it is trusted.
    """

    def __init__(self, parent: QWidget, problem: HostKeyProblem) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Host key · {problem.machine}")
        self.setMinimumWidth(480)
        inside = column(self, margin=16)
        card = KeyCard()
        card.trusted.connect(self.accept)
        card.refused.connect(self.reject)
        inside.addWidget(card)
        card.show_problem(problem)
        if card.safe is not None:
            card.safe.setFocus(Qt.FocusReason.OtherFocusReason)


def _where(problem: HostKeyProblem) -> str:
    return problem.host if problem.port == 22 else f"{problem.host} port {problem.port}"


def _kind(problem: HostKeyProblem) -> str:
    algorithm = problem.key.get_algorithm()
    return algorithm.removeprefix("ssh-").split("-")[0].upper()


def _command_for(problem: HostKeyProblem) -> str:
    kind = _kind(problem).lower()
    return f"ssh-keygen -lf /etc/ssh/ssh_host_{kind}_key.pub"


def _fingerprint(text: str, kind: str, name: str) -> QFrame:
    made = QFrame()
    made.setObjectName("sunken")
    inside = column(made, margin=10, gap=2)
    inside.addWidget(label(f"{name} · {kind}" if kind else name, 12, tone="muted"))
    # Two lines: shorter lines are easier to compare.
    half = len(text) // 2 + 3
    shown = label(f"{text[:half]}\n{text[half:]}", mono=True, selectable=True)
    shown.setMinimumHeight(shown.sizeHint().height())
    shown.setAccessibleName(f"{name}: {text}")
    inside.addWidget(shown)
    return made

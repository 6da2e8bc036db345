"""Questions to the user: asked in the engine's thread, answered in a dialog."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from app.bridge import Bridge
from app.dialogs import Confirmation, Dialog
from app.fields import Flag
from app.machines.tuning import consenting
from app.theme import font
from app.widgets import Sign, column, frame, label, row, tool
from workbench.consent import Exposure, ForeignCode, Load, Repeated
from workbench.formatting import capital
from workbench.machines import hostkeys
from workbench.machines.hostkeys import ChangedHostKey, HostKeyProblem
from workbench.machines.secrets import Question, Remembered, keyring_problem
from workbench.run.claims import Claim
from workbench.run.tuning import TuningPlan

T = TypeVar("T")
Make: TypeAlias = Callable[[QWidget], Dialog]
"""Creates a dialog of a window."""
_Said: TypeAlias = Exposure | ForeignCode | Load | Repeated | Claim

_KINDS = {
    "password": "Password",
    "passphrase": "Passphrase",
    "sudo": "sudo password",
    "answer": "Answer",
}


_NO = ("Cancel", "x", False)
_LOADED = (
    "Load this running server?",
    "Pongbench asks each time, and remembers no answer.",
    [_NO, ("Load", "", True)],
)
_QUESTIONS = {
    Exposure: (
        "Expose old servers to the network?",
        "On an untrusted network, run the client on the same machine instead.",
        [_NO, ("Expose and run", "", True)],
    ),
    ForeignCode: (
        "Run this program on the clients?",
        "It can read and send what you can. Agree only if you know what it does.",
        [_NO, ("Run", "", True)],
    ),
    Load: _LOADED,
    Repeated: _LOADED,
    Claim: (
        "Another run is on these machines",
        "Side by side, each disturbs the other; both sessions would note it.",
        [("Cancel", "x", "cancel"), ("Run anyway", "", "anyway"), ("Wait", "", "wait")],
    ),
}
"""The title of the question, what to consider, and the answers, as of `Confirmation`."""


class Asker:
    """Questions for the user, called in the engine's thread: `ask` for a secret, `consent` to
    tuning, `agree` to something else, `trust` a host key. One dialog after another; answers are
    passed on and not kept.
    """

    def __init__(self, bridge: Bridge, parent: QWidget) -> None:
        self._bridge, self._parent = bridge, parent
        self._waiting: deque[tuple[Make, asyncio.Future[Any]]] = deque()
        self._shown: Dialog | None = None

    async def ask(self, question: Question) -> str | None:
        """An `Ask` (`workbench.machines.secrets`). Returns None if the user refuses."""
        problem = await asyncio.to_thread(keyring_problem)
        return await self._answer(partial(QuestionDialog, question=question, problem=problem))

    async def consent(self, plans: Sequence[TuningPlan]) -> bool | None:
        """A `Consent` (`workbench.run.tuning`)."""
        return await self._answer(partial(consenting, plans=plans))

    async def agree(self, asked: _Said) -> Any:
        """A `Consent` (`workbench.consent`), to servers without security fixes in a network, to a
        user's program, such as a locustfile, or to load on a server that is running already; and an
        `OnBusy` (`workbench.run.claims`).
        """
        title, about, answers = _QUESTIONS[type(asked)]

        def make(window: QWidget) -> Dialog:
            said = label(f"{asked.text}.", tone="soft", wrap=True)
            body = [said, label(about, 12, tone="muted", wrap=True)]
            harmless = 2 if isinstance(asked, Claim) else 0
            return Confirmation(window, title, body, answers, harmless=harmless)

        return await self._answer(make)

    async def trust(self, problem: HostKeyProblem) -> bool:
        """Return whether the user trusts the key; it is saved then."""
        if not await self._answer(partial(KeyDialog, problem=problem)):
            return False
        await asyncio.to_thread(hostkeys.trust, problem.host, problem.port, problem.key)
        return True

    async def trusting(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work`, which is started again after every key that the
        user trusts.
        """
        while True:
            try:
                return await work()
            except HostKeyProblem as problem:
                if not await self.trust(problem):
                    raise

    async def _answer(self, make: Make) -> Any:
        """Open the dialog from `make`, which gets the window; returns its answer."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._bridge.post(self._put)((make, answer))
        try:
            return await answer
        finally:
            # The answer is no longer needed: the work was cancelled, or the connection is closed.
            self._bridge.post(self._withdraw)(answer)

    def _put(self, request: tuple[Make, asyncio.Future[Any]]) -> None:
        self._waiting.append(request)
        self._next()

    def _next(self) -> None:
        if self._shown is not None or not self._waiting:
            return
        make, answer = self._waiting[0]
        self._shown = dialog = make(self._parent.window())

        def finished(result: int) -> None:
            given = dialog.given()
            dialog.deleteLater()
            self._shown = None
            if self._waiting and self._waiting[0][1] is answer:
                self._waiting.popleft()
                self._bridge.call(lambda: answer.done() or answer.set_result(given))
            self._next()

        dialog.finished.connect(finished)
        dialog.open()

    def _withdraw(self, answer: asyncio.Future[Any]) -> None:
        first = bool(self._waiting) and self._waiting[0][1] is answer
        self._waiting = deque(each for each in self._waiting if each[1] is not answer)
        if first and self._shown is not None:
            self._shown.reject()


class QuestionDialog(Confirmation):
    """The question, the machine that asks, and whether to store the answer. `problem`: why it
    cannot be stored.
    """

    def __init__(self, parent: QWidget, question: Question, problem: str = "") -> None:
        kind, machine = _KINDS[question.kind], question.machine
        plain = question.kind == "answer"
        self.field = QLineEdit(accessibleName=kind, echoMode=QLineEdit.EchoMode.Password)
        self.field.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.keep = Flag("Store in the system keyring")
        again = label("Not accepted. Try again.", 12, tone="bad")
        if plain or problem:
            self.keep.hide()
        if not question.again:
            again.hide()
        body: list[QWidget] = [again, self.field, self.keep]
        if plain:
            title, note = f"{machine} asks", "Never shown, logged or stored."
            body.insert(0, label(question.text.strip().rstrip(":"), tone="soft", wrap=True))
        else:
            title = f"{kind} for {question.account} ({machine})"
            note = f"Never shown or logged. {problem}".strip()
        body.append(label(note, 12, tone="muted", wrap=True))
        answers = [("Cancel", "", False), ("Continue", "arrow-right", True)]
        super().__init__(parent, title, body, answers, harmless=1, kind="primary")
        self.setWindowTitle(f"{kind} · {machine}")
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> str | None:
        """Return the secret, and forget it; None: the user refuses."""
        text = self.field.text()
        self.field.clear()
        if not super().given():
            return None
        return Remembered(text) if self.keep.isChecked() else text


LAST = 4
"""The number of characters of the new fingerprint to type before a changed key is trusted."""


class KeyDialog(Confirmation):
    """A host key that is not trusted. Nothing is sent to the machine before it is accepted, which
    only the user's own action does.
    """

    def __init__(self, parent: QWidget, problem: HostKeyProblem) -> None:
        name, changed = problem.machine, isinstance(problem, ChangedHostKey)
        algorithm = problem.key.get_algorithm().removeprefix("ssh-").split("-")[0]
        command = f"ssh-keygen -lf /etc/ssh/ssh_host_{algorithm.lower()}_key.pub"
        shown = QWidget()
        copy = tool("Copy command", "copy", lambda: QGuiApplication.clipboard().setText(command))
        row(shown, (label(command, wrap=True, mono=True, selectable=True), 1), copy)
        comparing = [_text(f"On {name}:", "muted"), shown]
        at = problem.host if problem.port == 22 else f"{problem.host} port {problem.port}"
        if isinstance(problem, ChangedHostKey):
            title = f"The host key of {name} has changed"
            body = [
                _text(
                    "Nothing was sent to it. The machine was reinstalled, or this is a possible"
                    " man-in-the-middle attack."
                ),
                *(_fingerprint(each, "Known key") for each in problem.old),
                *([_text(f"Stored in {problem.file}", "muted")] if problem.file else []),
                _fingerprint(problem.fingerprint, "New key", algorithm),
                *comparing,
                _text(f"Ask the administrator of {name} before trusting the new key."),
                self._typing(problem.fingerprint[-LAST:]),
            ]
        else:
            title = f"Unknown host key: {name}"
            body = [
                _text(
                    "First connection to this machine; nothing was sent to it. Compare its key "
                    "with the one on the machine:"
                ),
                _fingerprint(problem.fingerprint, "Key", algorithm),
                *comparing,
            ]
        sign, icon = ("bad", "octagon-x") if changed else ("warn", "shield-alert")
        trust = ("Trust new key", "shield-alert") if changed else ("Trust key", "shield-check")
        super().__init__(
            parent,
            title,
            [_text(at, "muted"), *body],
            [("Cancel", "", False), (*trust, True)],
            sign=Sign(sign, icon),
            kind="danger" if changed else "",
        )
        self.setWindowTitle(f"Host key · {name}")
        self.buttons[1].setEnabled(not changed)

    def _typing(self, end: str) -> QWidget:
        """Return a field into which the end of the fingerprint is to be typed."""
        what = f"the last {LAST} characters of the new key"
        made, field = QWidget(), QLineEdit(accessibleName=capital(what), maxLength=LAST)
        prompt = label(f"Type {what}", tone="soft", wrap=True)
        field.setFixedWidth(84)
        field.setFont(font(13, mono=True))
        field.textChanged.connect(lambda typed: self.buttons[1].setEnabled(typed == end))
        prompt.setBuddy(field)
        row(made, (prompt, 1), field)
        return made


def _text(text: str, tone: str = "soft") -> QWidget:
    return label(text, 12 if tone == "muted" else 13, tone=tone, wrap=True, selectable=True)


def _fingerprint(text: str, name: str, algorithm: str = "") -> QFrame:
    made = frame("sunken")
    heading = f"{name} · {algorithm.upper()}" if algorithm else name
    # Two lines: shorter lines are easier to compare.
    half = len(text) // 2 + 3
    shown = label(f"{text[:half]}\n{text[half:]}", mono=True, selectable=True)
    shown.setMinimumHeight(shown.sizeHint().height())
    shown.setAccessibleName(f"{name}: {text}")
    column(made, label(heading, 12, tone="muted"), shown, margin=10, gap=2)
    return made

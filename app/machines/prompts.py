"""Questions to the user: asked in the engine's thread, answered in a dialog."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app.bridge import Bridge
from app.dialogs import Confirmation, Dialog
from app.fields import Tick
from app.machines.keys import KeyDialog
from app.machines.tuning import consenting
from app.theme import Weight
from app.widgets import button, column, label, row
from workbench.consent import Exposure, ForeignCode, OfRunning
from workbench.machines import hostkeys
from workbench.machines.hostkeys import HostKeyProblem
from workbench.machines.secrets import Question, Remembered, keyring_problem
from workbench.run.claims import Answer, Claim
from workbench.run.tuning import TuningPlan

T = TypeVar("T")
Make: TypeAlias = Callable[[QWidget], Dialog]
"""Creates a dialog of a window."""
_Said: TypeAlias = Exposure | ForeignCode | OfRunning | Claim

_KINDS = {
    "password": "Password",
    "passphrase": "Passphrase",
    "sudo": "sudo password",
    "answer": "Answer",
}


class Asker:
    """Questions for the user, called in the engine's thread: `ask` for a secret, `consent` to
    tuning, `expose` old servers, `run_foreign` code, `load` on running servers, `on_busy`
    machines, `trust` a host key. One dialog after another; answers are passed on and not kept.
    """

    def __init__(self, bridge: Bridge, parent: QWidget) -> None:
        self._bridge, self._parent = bridge, parent
        self._waiting: deque[tuple[Make, asyncio.Future[Any]]] = deque()
        self._shown: Dialog | None = None

    async def ask(self, question: Question) -> str | None:
        """An `Ask` (`workbench.machines.secrets`). Returns None if the user refuses."""
        problem = await asyncio.to_thread(keyring_problem)
        answer: str | None = await self._answer(
            partial(QuestionDialog, question=question, problem=problem)
        )
        return answer

    async def consent(self, plans: Sequence[TuningPlan]) -> bool | None:
        """A `Consent` (`workbench.run.tuning`)."""
        answer: bool | None = await self._answer(partial(consenting, plans=plans))
        return answer

    async def expose(self, exposure: Exposure) -> bool:
        """A `Consent` (`workbench.consent`): to servers without security fixes in a network."""
        about = "On an untrusted network, run the client on the same machine instead."
        title = "Expose old servers to the network?"
        return await self._agree(title, exposure, about, "Expose and run")

    async def run_foreign(self, code: ForeignCode) -> bool:
        """A `Consent` (`workbench.consent`): to a user's program, such as a locustfile."""
        about = "It can read and send what you can. Agree only if you know what it does."
        return await self._agree("Run this program on the clients?", code, about, "Run")

    async def load(self, asked: OfRunning) -> bool:
        """A `Consent` (`workbench.consent`): to load on a server that is running already."""
        about = "Pongbench asks each time, and remembers no answer."
        return await self._agree("Load this running server?", asked, about, "Load")

    async def on_busy(self, other: Claim) -> Answer:
        """An `OnBusy` (`workbench.run.claims`)."""
        about = "Side by side, each disturbs the other; both sessions would note it."
        answers = [("Cancel", "x", "cancel"), ("Run anyway", "", "anyway"), ("Wait", "", "wait")]
        title = "Another run is on these machines"
        answer: Answer = await self._confirm(title, other, about, answers, harmless=2)
        return answer

    async def _agree(self, title: str, what: _Said, about: str, go: str) -> bool:
        answers = [("Cancel", "x", False), (go, "", True)]
        return bool(await self._confirm(title, what, about, answers))

    async def _confirm(
        self,
        title: str,
        what: _Said,
        about: str,
        answers: Sequence[tuple[str, str, Any]],
        harmless: int = 0,
    ) -> Any:
        """`what`: would be done; `about`: what to consider; the others as of `Confirmation`."""

        def make(window: QWidget) -> Dialog:
            said = label(f"{what.text}.", tone="soft", wrap=True)
            body = [said, label(about, 12, tone="muted", wrap=True)]
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
                self._bridge.call(_settle, answer, given)
            self._next()

        dialog.finished.connect(finished)
        dialog.open()

    def _withdraw(self, answer: asyncio.Future[Any]) -> None:
        first = bool(self._waiting) and self._waiting[0][1] is answer
        self._waiting = deque(each for each in self._waiting if each[1] is not answer)
        if first and self._shown is not None:
            self._shown.reject()


def _settle(answer: asyncio.Future[Any], given: Any) -> None:
    if not answer.done():
        answer.set_result(given)


class QuestionDialog(Dialog):
    """The question, the machine that asks, and whether to store the answer. `problem`: why it
    cannot be stored.
    """

    def __init__(self, parent: QWidget, question: Question, problem: str = "") -> None:
        super().__init__(parent)
        self._kind = question.kind
        self.setWindowTitle(f"{_KINDS[question.kind]} · {question.machine}")
        self.setMinimumWidth(440)
        inside = column(self, margin=20, gap=10)
        kind, machine = _KINDS[question.kind], question.machine
        if question.kind == "answer":
            inside.addWidget(label(f"{machine} asks", 14, Weight.DemiBold))
            text = question.text.strip().rstrip(":")
            inside.addWidget(label(text, tone="soft", wrap=True))
        else:
            title = f"{kind} for {question.account} ({machine})"
            inside.addWidget(label(title, 14, Weight.DemiBold, wrap=True))
        self.again = label("Not accepted. Try again.", 12, tone="bad")
        self.again.setVisible(question.again)
        inside.addWidget(self.again)
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setInputMethodHints(Qt.InputMethodHint.ImhSensitiveData)
        self.field.setAccessibleName(_KINDS[question.kind])
        inside.addWidget(self.field)
        self.keep = Tick("Store in the system keyring")
        self.keep.setAccessibleName("Store in the system keyring")
        self.keep.setVisible(question.kind != "answer" and not problem)
        inside.addWidget(self.keep)
        note = "Never shown or logged."
        if question.kind == "answer":
            note = "Never shown, logged or stored."
        elif problem:
            note = f"{note} {problem}"
        inside.addWidget(label(note, 12, tone="muted", wrap=True))
        foot = row()
        foot.addStretch(1)
        foot.addWidget(button("Cancel", on_click=self.reject))
        go = button("Continue", "arrow-right", kind="primary", on_click=self.accept)
        go.setDefault(True)
        foot.addWidget(go)
        inside.addLayout(foot)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def given(self) -> str | None:
        """Return the secret, and forget it; None: the user refuses."""
        text = self.field.text()
        self.field.clear()
        if not super().given():
            return None
        return Remembered(text) if self.keep.isChecked() else text

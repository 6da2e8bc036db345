"""Questions at the terminal: of machines, for consent, and where others use the machines."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeAlias

from workbench.consent import Asked
from workbench.errors import BadInput, PongbenchError
from workbench.machines.secrets import Ask, Question, Remembered, keyring_problem
from workbench.run.claims import Answer, Claim, OnBusy
from workbench.untrusted import indented

TERMINAL = "/dev/tty"
LONGEST = 4096
Alone: TypeAlias = Callable[[], AbstractContextManager[object]]
"""Keeps other output off the terminal while the user types."""


def ask_at_terminal(alone: Alone = nullcontext, *, remember: bool = False) -> Ask:
    """An `Ask` for commands, one question after another; without a terminal there is no answer.
    `remember`: stores it in the keyring; raises BadInput if there is none that encrypts."""
    if remember and (problem := keyring_problem()):
        raise BadInput(f"--remember: {problem}")
    turn = asyncio.Lock()

    async def ask(question: Question) -> str | None:
        text = f"{question.text}{' (rejected, try again)' if question.again else ''}: "
        async with turn:
            answer = await _read(text, alone)
        return Remembered(answer) if remember and answer is not None else answer

    return ask


async def confirm_at_terminal(text: str, alone: Alone = nullcontext) -> bool:
    """Show a text and ask for confirmation; without a terminal the answer is no."""
    return (await answer_at_terminal(f"{text} [y/N]", alone)).lower() in ("y", "yes")


async def answer_at_terminal(text: str, alone: Alone = nullcontext) -> str:
    """Show a text and return what is typed after it; without a terminal nothing is."""
    return (await _read(f"{text} ", alone, echo=True) or "").strip()


def is_interactive() -> bool:
    with _terminal() as terminal:
        return terminal is not None


@contextlib.contextmanager
def _terminal() -> Iterator[int | None]:
    """Open it; None: there is none."""
    terminal: int | None
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, AttributeError):  # Windows has neither
        terminal = None
    try:
        yield terminal
    finally:
        if terminal is not None:
            os.close(terminal)


async def _read(prompt: str, alone: Alone, *, echo: bool = False) -> str | None:
    """Return a line without its end; None: there is no terminal, it was closed, or Ctrl-D."""
    with _terminal() as terminal:
        if terminal is None:
            return None
        loop = asyncio.get_running_loop()
        line: asyncio.Future[str | None] = loop.create_future()

        def take() -> None:
            # In the terminal's default mode the whole line arrives at once.
            text = os.read(terminal, LONGEST).decode("utf-8", "replace")
            if not line.done():
                line.set_result(text.rstrip("\r\n") if text else None)

        with alone(), nullcontext() if echo else _without_echo(terminal):
            os.write(terminal, indented(prompt).encode())
            loop.add_reader(terminal, take)
            try:
                return await line
            finally:
                loop.remove_reader(terminal)
                if not echo:
                    os.write(terminal, b"\n")


@contextlib.contextmanager
def _without_echo(terminal: int) -> Iterator[None]:
    import termios  # noqa: PLC0415  not on every system

    before = termios.tcgetattr(terminal)
    silent = termios.tcgetattr(terminal)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSAFLUSH, silent)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


@dataclass(frozen=True)
class Consent:
    """A consent that can be given in advance."""

    option: str
    help: str
    question: str
    otherwise: str
    """What to do where there is no terminal."""

    def at_terminal(
        self, *, yes: bool, alone: Alone = nullcontext
    ) -> Callable[[Asked], Awaitable[bool]]:
        """`yes`: agreed to already. Without a terminal to ask at, the consent raises BadInput."""

        async def consent(asked: Asked) -> bool:
            if yes:
                return True
            if not is_interactive():
                raise BadInput(
                    f"{asked.text}, and there is no terminal to ask at; {self.otherwise}."
                )
            return await confirm_at_terminal(f"{asked.text}. {self.question}", alone)

        return consent


EXPOSE = Consent(
    option="--expose",
    help="allow servers without security fixes to listen on the network",
    question="Let them listen there?",
    otherwise="say --expose, or leave out such servers",
)
LOAD = Consent(
    option="--allow-target",
    help="",
    question="Load it?",
    otherwise="if it is yours, use --allow-target HOST",
)
REPEAT = Consent(
    option="--allow-changes",
    help="allow requests other than GET, HEAD and OPTIONS to a server that is running already",
    question="Make them?",
    otherwise="if that does no harm there, use --allow-changes",
)
FOREIGN_CODE = Consent(
    option="--foreign-code",
    help="allow the plan's locustfile to run on the clients",
    question="Run it?",
    otherwise="if you trust it, use --foreign-code",
)


_ANSWERS: dict[str, Answer] = {"w": "wait", "a": "anyway"}


def add_busy(parser: argparse.ArgumentParser) -> None:
    busy = parser.add_mutually_exclusive_group()
    for answer, does in (
        ("wait", "wait until it has ended"),
        ("anyway", "run beside it; both sessions note it"),
    ):
        help = f"if another run is on these machines, {does}"
        busy.add_argument(f"--{answer}", dest="busy", action="store_const", const=answer, help=help)


def busy_at_terminal(answer: Answer | None, alone: Alone = nullcontext) -> OnBusy:
    """`answer`: given in advance. Raises PongbenchError where there is no terminal to ask at."""

    async def on_busy(other: Claim) -> Answer:
        if answer:
            return answer
        if not is_interactive():
            raise PongbenchError(
                f"{other.text}, and there is no terminal to ask at; use --wait or --anyway.",
                code="busy",
            )
        text = f"{other.text}. Wait, run anyway, or cancel? [w/a/C]"
        given = await answer_at_terminal(text, alone)
        return _ANSWERS.get(given[:1].lower(), "cancel")

    return on_busy

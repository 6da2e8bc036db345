"""Asking for a secret, at a terminal of the test's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
import termios
from collections.abc import Iterator

import pytest

from workbench.commands import asking
from workbench.machines.secrets import Question

QUESTION = Question("box", "password", "bench@box", "Password of bench@box")


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of the terminal: what is shown is read there, what is typed is written."""
    ours, theirs = pty.openpty()
    monkeypatch.setattr(asking, "TERMINAL", os.ttyname(theirs))
    yield ours
    os.close(ours)
    os.close(theirs)


async def shown(person: int) -> str:
    return (await asyncio.to_thread(os.read, person, 1000)).decode()


def echoes(person: int) -> bool:
    return bool(termios.tcgetattr(person)[3] & termios.ECHO)


async def test_an_answer_is_taken_and_not_shown(person: int) -> None:
    asked = asyncio.ensure_future(asking.ask_at_terminal()(QUESTION))
    assert await shown(person) == "Password of bench@box: "
    assert not echoes(person)
    os.write(person, b"se cret\n")
    assert await asked == "se cret"
    assert (await shown(person)).strip() == ""
    assert echoes(person)


async def test_cancelling_leaves_the_terminal_as_it_was(person: int) -> None:
    asked = asyncio.ensure_future(asking.ask_at_terminal()(QUESTION))
    await shown(person)
    asked.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asked
    assert echoes(person)


async def test_one_question_is_asked_at_a_time(person: int) -> None:
    ask = asking.ask_at_terminal()
    both = asyncio.gather(ask(QUESTION), ask(QUESTION))
    assert await shown(person) == "Password of bench@box: "
    os.write(person, b"first\n")
    # What is typed before it asks again is thrown away.
    text = await shown(person)
    while "Password" not in text:
        text += await shown(person)
    assert text.strip() == "Password of bench@box:"
    os.write(person, b"second\n")
    assert await both == ["first", "second"]


async def test_without_a_terminal_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "TERMINAL", "/dev/does-not-exist")
    assert await asking.ask_at_terminal()(QUESTION) is None

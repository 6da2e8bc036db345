"""Passwords and passphrases: from the system's keyring, or asked once. Never written elsewhere."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

SERVICE = "pongbench"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """What a person has to be asked."""

    machine: str
    """Name of the profile."""
    kind: Literal["password", "passphrase", "sudo", "answer"]
    """answer: to what the machine itself asks, for example a one-time code."""
    account: str
    """What it belongs to: "bench@10.0.0.1", or the file of a key."""
    text: str
    """One line to show, without a colon."""
    again: bool = False
    """Whether the last answer was not accepted."""


class Fleeting(str):
    """An answer that its person does not want in the keyring."""


Ask: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""Answers a question; None: the person will not, or nobody is there."""


async def ask_nobody(question: Question) -> str | None:
    """An `Ask` for where nobody is there."""
    return None


class Secrets:
    """What is known so far. One for the life of the program, so that nothing is asked twice."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._asked: set[str] = set()
        """Answers that have not proved right yet; only then they go into the keyring."""
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, question: Question, ask: Ask) -> str | None:
        """The secret: known, or in the keyring, or asked for. None: there is none."""
        key = _key(question)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if question.again:
                await self._forget(key)
            elif key in self._known:
                return self._known[key]
            elif stored := await asyncio.to_thread(_stored, key):
                self._known[key] = stored
                return stored
            answer = await ask(question)
            if answer is not None and question.kind != "answer":
                self._known[key] = answer
                if not isinstance(answer, Fleeting):
                    self._asked.add(key)
            return answer

    async def right(self, question: Question) -> None:
        """It was accepted: keep it."""
        key = _key(question)
        if key in self._asked:
            self._asked.discard(key)
            await asyncio.to_thread(_store, key, self._known[key])

    async def wrong(self, question: Question) -> None:
        """It was not accepted, and nobody gave a better one."""
        await self._forget(_key(question))

    async def _forget(self, key: str) -> None:
        self._known.pop(key, None)
        if key not in self._asked:
            await asyncio.to_thread(_remove, key)
        self._asked.discard(key)


SECRETS = Secrets()


def _key(question: Question) -> str:
    return f"{question.kind} {question.account}"


def _stored(key: str) -> str | None:
    import keyring  # noqa: PLC0415  looks for back ends when it is imported
    import keyring.errors  # noqa: PLC0415

    try:
        return keyring.get_password(SERVICE, key)
    except (keyring.errors.KeyringError, OSError) as error:
        log.info("The keyring cannot be read: %s", error)
        return None


def _store(key: str, secret: str) -> None:
    import keyring  # noqa: PLC0415
    import keyring.errors  # noqa: PLC0415

    try:
        keyring.set_password(SERVICE, key, secret)
    except (keyring.errors.KeyringError, OSError) as error:
        log.info("The keyring cannot be written: %s", error)


def _remove(key: str) -> None:
    import keyring  # noqa: PLC0415
    import keyring.errors  # noqa: PLC0415

    try:
        keyring.delete_password(SERVICE, key)
    except (keyring.errors.KeyringError, OSError) as error:
        log.info("The keyring cannot be written: %s", error)

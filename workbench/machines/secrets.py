"""Passwords and passphrases: from the system's keyring, or asked once. Never written elsewhere.

The keyring gets only what its person wants kept, and only where it encrypts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

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


class Remembered(str):
    """An answer that its person wants in the keyring."""


Ask: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""Answers a question; None: the person will not, or nobody is there."""


async def ask_nobody(question: Question) -> str | None:
    """An `Ask` for where nobody is there."""
    return None


class Secrets:
    """What is known so far. One for the life of the program, so that nothing is asked twice."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._wanted: set[str] = set()
        """Go into the keyring as soon as they have proved right."""
        self._kept: set[str] = set()
        """In the keyring."""
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
                self._kept.add(key)
                return stored
            answer = await ask(question)
            if answer is not None and question.kind != "answer":
                self._known[key] = answer
                if isinstance(answer, Remembered):
                    self._wanted.add(key)
            return answer

    async def right(self, question: Question) -> None:
        """It was accepted: keep it."""
        key = _key(question)
        if key in self._wanted:
            self._wanted.discard(key)
            self._kept.add(key)
            await asyncio.to_thread(_store, key, self._known[key])

    async def wrong(self, question: Question) -> None:
        """It was not accepted, and nobody gave a better one."""
        await self._forget(_key(question))

    async def _forget(self, key: str) -> None:
        self._known.pop(key, None)
        self._wanted.discard(key)
        if key in self._kept:
            self._kept.discard(key)
            await asyncio.to_thread(_remove, key)


SECRETS = Secrets()


def _key(question: Question) -> str:
    return f"{question.kind} {question.account}"


def keyring_problem() -> str:
    """Why this system keeps no secret, one sentence; empty: it does. Waits for the keyring."""
    import keyring  # noqa: PLC0415  looks for back ends when it is imported

    if _keyring() is not None:
        return ""
    found = type(keyring.get_keyring())
    what = (
        f"the keyring here ({found.__module__}.{found.__name__}) is not known to encrypt"
        if not found.__module__.startswith("keyring.backends.")
        else "there is no keyring here"
    )
    return f"Passwords cannot be stored: {what}; log in with a key, or start a keyring service."


def _keyring() -> KeyringBackend | None:
    """The first that encrypts."""
    import keyring  # noqa: PLC0415
    from keyring.backends.chainer import ChainerBackend  # noqa: PLC0415

    chosen = keyring.get_keyring()
    backends = chosen.backends if isinstance(chosen, ChainerBackend) else [chosen]
    return next(filter(_encrypts, backends), None)


def _encrypts(backend: KeyringBackend) -> bool:
    """By what keyring says of its back ends: below 1 they are not recommended, which the null one,
    the failing one and those in plain files are."""
    kind = type(backend)
    if kind.__module__.startswith("keyrings.alt") or "plain" in kind.__name__.lower():
        return False
    try:
        return bool(backend.priority >= 1)
    except RuntimeError:  # it does not work here
        return False


def _stored(key: str) -> str | None:
    import keyring.errors  # noqa: PLC0415

    backend = _keyring()
    try:
        return backend.get_password(SERVICE, key) if backend else None
    except (keyring.errors.KeyringError, OSError) as error:
        log.info("The keyring cannot be read: %s", error)
        return None


def _store(key: str, secret: str) -> None:
    import keyring.errors  # noqa: PLC0415

    backend = _keyring()
    try:
        if backend:
            backend.set_password(SERVICE, key, secret)
    except (keyring.errors.KeyringError, OSError) as error:
        log.warning("The password was not stored; the keyring cannot be written: %s", error)


def _remove(key: str) -> None:
    import keyring.errors  # noqa: PLC0415

    backend = _keyring()
    try:
        if backend:
            backend.delete_password(SERVICE, key)
    except (keyring.errors.KeyringError, OSError) as error:
        log.info("The keyring cannot be written: %s", error)

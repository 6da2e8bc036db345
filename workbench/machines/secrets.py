"""Passwords and passphrases: from the system's keyring, or asked once. They are saved only with the
user's consent, and only in an encrypting keyring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from workbench import environment
from workbench.errors import BadInput
from workbench.messages.plans import Warned, warning

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

SERVICE = "pongbench"
_GET = "get_password"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    machine: str
    kind: Literal["password", "passphrase", "sudo", "answer"]
    """answer: to a prompt of the machine itself, for example for a one-time code."""
    account: str
    """What the secret belongs to: "bench@10.0.0.1", or a key file."""
    text: str
    """One line to display, without a colon."""
    again: bool = False
    """Whether the last answer was rejected."""


class Remembered(str):
    """An answer that the user wants saved in the keyring."""


Ask: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""Answers a question; None: the user declined, or there is no user."""


async def never_ask(question: Question) -> str | None:
    """Answer nothing: an `Ask` for runs without a user."""
    return None


class Secrets:
    """The secrets known so far; one for the whole program, so that nothing is asked twice."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._wanted: set[str] = set()
        """Go into the keyring as soon as they have proved right."""
        self._kept: set[str] = set()
        self._locks: dict[str, asyncio.Lock] = {}

    async def get(self, question: Question, ask: Ask) -> str | None:
        """Return the secret from memory, the keyring or the user; None: there is none."""
        key = _key(question)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if question.again:
                await self.reject(question)
            elif key in self._known:
                return self._known[key]
            elif stored := await asyncio.to_thread(_on_keyring, _GET, key):
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
        key = _key(question)
        if key in self._wanted:
            self._wanted.discard(key)
            self._kept.add(key)
            await asyncio.to_thread(_on_keyring, "set_password", key, self._known[key])

    async def reject(self, question: Question) -> None:
        key = _key(question)
        self._known.pop(key, None)
        self._wanted.discard(key)
        if key in self._kept:
            self._kept.discard(key)
            await asyncio.to_thread(_on_keyring, "delete_password", key)


SECRETS = Secrets()


async def named(names: Collection[str]) -> dict[str, str]:
    """Return the secrets that a plan names: each from the environment variable
    PONGBENCH_SECRET_NAME, whose prefix keeps a foreign plan from any other, or from the keyring
    (`keyring set pongbench NAME`). Raises BadInput, which shows nothing of them."""
    found = {name: await _value(name) for name in sorted(names)}
    if wrong := _unusable(found):
        raise BadInput(" ".join(each.text() for each in wrong))
    return found


async def unusable(names: Collection[str]) -> list[Warned]:
    return _unusable({name: await _value(name) for name in sorted(names)})


def keep(secrets: Mapping[str, str]) -> list[str]:
    """Keep secrets of a plan in the keyring, and for this program until it ends. Returns the names
    of those that are in no keyring. Waits for it."""
    for name, value in secrets.items():
        environment.keep(name, value)
        _on_keyring("set_password", name, value)
    return [name for name, value in secrets.items() if _on_keyring(_GET, name) != value]


def _unusable(found: dict[str, str]) -> list[Warned]:
    return [
        warning("unusable-secret", secret=name, missing=False if value else None)
        for name, value in found.items()
        if not (value and value.isascii() and value.isprintable() and value == value.strip())
    ]


async def _value(name: str) -> str:
    stored: str | None = None
    if not (given := environment.secret(name)):
        stored = await asyncio.to_thread(_on_keyring, _GET, name)
    return given or stored or ""


def _key(question: Question) -> str:
    return f"{question.kind} {question.account}"


def keyring_problem() -> str:
    """Return why this system stores no secrets; empty: it does. Waits for the keyring."""
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
    import keyring  # noqa: PLC0415
    from keyring.backends.chainer import ChainerBackend  # noqa: PLC0415

    chosen = keyring.get_keyring()
    backends = chosen.backends if isinstance(chosen, ChainerBackend) else [chosen]
    return next(filter(_encrypts, backends), None)


def _encrypts(backend: KeyringBackend) -> bool:
    """Return whether a back end encrypts. Its priority tells: below 1 it is not recommended, as for
    the null, failing and plain-file back ends."""
    kind = type(backend)
    if kind.__module__.startswith("keyrings.alt") or "plain" in kind.__name__.lower():
        return False
    try:
        return bool(backend.priority >= 1)
    except RuntimeError:  # The back end does not work here.
        return False


def _on_keyring(method: str, *words: str) -> str | None:
    """Call a method of the keyring. None: there is none, or it failed, which is logged."""
    import keyring.errors  # noqa: PLC0415

    backend = _keyring()
    try:
        found: str | None = getattr(backend, method)(SERVICE, *words) if backend else None
        return found
    except (keyring.errors.KeyringError, OSError) as error:
        level = logging.INFO if method == _GET else logging.WARNING
        log.log(level, "The keyring cannot be used (%s): %s", method, error)
        return None

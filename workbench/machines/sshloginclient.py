"""Our side of a log-in: judges the host's key, and answers the host's prompts."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import asyncssh

from workbench.errors import PongbenchError
from workbench.machines import hostkeys
from workbench.machines.hostkeyrules import Rules
from workbench.machines.secrets import Ask, Question, Secrets
from workbench.machines.sshroute import Hop

LOGIN_WITHIN_S = 30.0
SECRET_ATTEMPTS = 3


class LoginClient(asyncssh.SSHClient):
    """Judges the host's key and answers the host's prompts."""

    def __init__(self, hop: Hop, ask: Ask, secrets: Secrets) -> None:
        self.hop = hop
        self.rules: Rules | None = None
        """For the host's key; without any, none is trusted."""
        self.address = ""
        """The host's, as connected to."""
        self.ask = ask
        self.secrets = secrets
        self.where = ""
        self.keys: list[Path] = []
        """Private keys that may have a passphrase; used when nothing else was accepted."""
        self.refused: PongbenchError | None = None
        """Why the host's key is not trusted."""
        self.used: list[Question] = []
        self.attempts: dict[str, int] = {}
        self.declined: set[str] = set()
        """Accounts a person has no answer for; another way of logging in does not ask again."""
        self.attempted: list[str] = []
        self.limit: asyncio.Timeout | None = None

    def begin_auth(self, username: str) -> None:
        self._allow(LOGIN_WITHIN_S)

    async def ask_a_person(self, question: Question) -> str | None:
        """Ask the user, without a time limit."""
        self._allow(None)
        try:
            return await self.ask(question)
        finally:
            self._allow(LOGIN_WITHIN_S)

    def _allow(self, seconds: float | None) -> None:
        if self.limit:
            now = asyncio.get_running_loop().time()
            with contextlib.suppress(RuntimeError):  # It has already ended.
                self.limit.reschedule(None if seconds is None else now + seconds)

    def meets(self, host: str, address: str, port: int | None) -> tuple[Any, Any, Any]:
        """Called by asyncssh with the address it connects to, to ask for trusted keys. There are
        none, see `connection_made`."""
        self.address = address
        return (), (), ()

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        # asyncssh also looks keys up by address and accepts some that `ssh` refuses. It gets no
        # trusted keys, so that nothing is trusted without `judge`.
        conn.validate_server_host_key = self.judge  # type: ignore[method-assign]

    def judge(self, key_data: bytes) -> asyncssh.SSHKey:
        """Judge the host's key. Raises `asyncssh.HostKeyNotVerifiable`; `refused` has the
        reason."""
        try:
            if self.rules is None:
                raise PongbenchError(f"The host key of '{self.hop.name}' cannot be judged.")
            return hostkeys.judge(self.hop.name, self.rules, self.address, key_data)
        except PongbenchError as problem:
            self.refused = problem
            raise asyncssh.HostKeyNotVerifiable("The host key is not trusted") from None

    async def public_key_auth_requested(self) -> Any:
        while self.keys:
            path = self.keys.pop(0)
            if key := await self._open(path):
                self.attempted.append(str(path))
                return [key]
        return None

    async def password_auth_requested(self) -> str | None:
        if self.hop.auth in ("agent", "key"):
            return None
        return await self._secret("password", self.where, f"Password of {self.where}")

    def kbdint_auth_requested(self) -> str | None:
        return None if self.hop.auth in ("agent", "key") else ""

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Any
    ) -> list[str] | None:
        answers = []
        for text, echo in prompts:
            if not echo and "password" in text.lower():
                answer = await self._secret("password", self.where, f"Password of {self.where}")
            else:
                prompt = f"{self.where} asks: {text.strip().rstrip(':')}"
                question = Question(self.hop.name, "answer", self.where, prompt)
                answer = await self.ask_a_person(question)
            if answer is None:
                return None
            answers.append(answer)
        return answers

    async def _open(self, path: Path) -> asyncssh.SSHKey | None:
        for _ in range(SECRET_ATTEMPTS):
            passphrase = await self._secret("passphrase", str(path), f"Passphrase of {path}")
            if passphrase is None:
                return None
            with contextlib.suppress(asyncssh.KeyImportError, asyncssh.KeyEncryptionError, OSError):
                return await asyncio.to_thread(asyncssh.read_private_key, path, passphrase)
        return None

    async def _secret(self, kind: Any, account: str, text: str) -> str | None:
        attempts = self.attempts[account] = self.attempts.get(account, 0) + 1
        if attempts > SECRET_ATTEMPTS or account in self.declined:
            return None
        question = Question(self.hop.name, kind, account, text, again=attempts > 1)
        secret = await self.secrets.get(question, self.ask_a_person)
        if secret is not None:
            self.used.append(question)
            self.attempted.append("a password" if kind == "password" else account)
        else:
            self.declined.add(account)
        return secret

    async def rejected(self) -> None:
        for question in self.used:
            await self.secrets.reject(question)

    async def accepted(self) -> None:
        for question in self.used[-1:]:
            await self.secrets.right(question)

"""An SSH server in this process, on loopback: no OpenSSH, and its host is this computer."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from workbench.machines import secrets
from workbench.machines.hostkeys import trust
from workbench.machines.profiles import Profile
from workbench.machines.secrets import Question, Secrets

PASSWORD = "correct horse"

Running = asyncssh.SSHServerProcess[bytes]
"""A command at the server's side."""


async def answer(question: Question) -> str | None:
    return PASSWORD


async def run_command(process: Running, around: Sequence[str] = ()) -> None:
    """In a shell, as sshd does. `around`: a command that is given the shell's."""
    assert process.command
    await run_program(process, *around, "/bin/sh", "-c", process.command)


async def run_program(process: Running, *argv: str) -> None:
    """Whatever the command was."""
    program = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert program.stdin and program.stdout
    feeding = asyncio.create_task(feed(process.stdin, program.stdin))
    try:
        with contextlib.suppress(asyncssh.Error, OSError):
            while chunk := await program.stdout.read(1 << 16):
                process.stdout.write(chunk)
                await process.stdout.drain()
        feeding.cancel()
        process.exit(await program.wait())
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        await end(program)


async def feed(source: asyncssh.SSHReader[bytes], program: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while chunk := await source.read(1 << 16):
            program.write(chunk)
            await program.drain()
    program.close()


async def end(program: asyncio.subprocess.Process) -> None:
    """End a program that is no longer needed, if it still runs."""
    with contextlib.suppress(ProcessLookupError):
        program.kill()
    assert program.stdout
    while await program.stdout.read(1 << 20):
        pass
    await program.wait()


class SshHost:
    """A machine behind an SSH server; tests may change it at any time."""

    def __init__(self) -> None:
        self.keys: list[Any] = [asyncssh.generate_private_key("ssh-ed25519")]
        self.server: Callable[[SshHost], Sshd] = Sshd
        self.run: Callable[[Running], Awaitable[None]] = run_command
        """What becomes of a command."""
        self.sessions = 100
        """At most, on a connection at the same time; see MaxSessions."""
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.commands: set[asyncio.Task[None]] = set()
        self.port = 0
        self._acceptor: asyncssh.SSHAcceptor | None = None

    @property
    def key(self) -> asyncssh.SSHKey:
        key: asyncssh.SSHKey = self.keys[0]
        return key

    async def listen(self) -> None:
        """At the same port as before."""
        self._acceptor = await asyncssh.listen(
            "127.0.0.1",
            self.port,
            server_factory=lambda: self.server(self),
            server_host_keys=self.keys,
        )
        self.port = self._acceptor.get_port()

    async def stop(self) -> None:
        """Who is connected stays so."""
        if self._acceptor:
            self._acceptor.close()
            await self._acceptor.wait_closed()

    async def close(self) -> None:
        """Nothing of it is left."""
        await self.stop()
        for connection in self.connections:
            connection.abort()
            await connection.wait_closed()
        if self.commands:
            await asyncio.wait(self.commands, timeout=1)
        for command in self.commands:
            command.cancel()
        await asyncio.gather(*self.commands, return_exceptions=True)
        await asyncio.sleep(0)  # sockets are closed by the loop

    def profile(self, work: Path, **values: Any) -> Profile:
        """Who knows it as the machine "box"; `work` is its work directory."""
        return Profile(
            **{
                "name": "box",
                "connector": "ssh",
                "address": "127.0.0.1",
                "port": self.port,
                "user": "bench",
                "auth": "password",
                "work_dir": str(work),
                "python": sys.executable,
                **values,
            }
        )

    def trusted(self) -> None:
        trust("127.0.0.1", self.port, self.key)


@contextlib.asynccontextmanager
async def ssh_host(**values: Any) -> AsyncIterator[SshHost]:
    """One that listens. `values`: its attributes, where they differ."""
    host = SshHost()
    for name, value in values.items():
        setattr(host, name, value)
    await host.listen()
    try:
        yield host
    finally:
        await host.close()


class Sshd(asyncssh.SSHServer):
    """Accept every user with the right password."""

    def __init__(self, host: SshHost) -> None:
        self.host = host
        self._open = 0

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self.host.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return password == PASSWORD

    def session_requested(self) -> Any:
        if self._open >= self.host.sessions:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "open failed")
        self._open += 1
        channel = self._connection.create_server_channel(encoding=None)
        return channel, asyncssh.SSHServerProcess(self._run, None, 3, False)

    async def _run(self, process: Running) -> None:
        task = asyncio.current_task()
        assert task
        self.host.commands.add(task)
        try:
            await self.host.run(process)
        finally:
            self._open -= 1
            self.host.commands.discard(task)


def at_home(folder: Path, monkeypatch: pytest.MonkeyPatch, *, patience_s: float = 300) -> None:
    """As a user without keys, trusted hosts, keyring or agent. `patience_s`: how long another run
    may hold this computer as a machine."""
    (folder / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PONGBENCH_HOME", str(folder / "pongbench"))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    monkeypatch.setattr(secrets, "SECRETS", Secrets())
    monkeypatch.setattr("workbench.machines.ssh.BUSY_FOR_S", patience_s)

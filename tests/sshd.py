"""An SSH server in this process, on loopback: no OpenSSH, and its host is this computer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence

import asyncssh

PASSWORD = "correct horse"


class Sshd(asyncssh.SSHServer):
    """Lets in whoever knows the password."""

    def __init__(self, connections: list[asyncssh.SSHServerConnection] | None = None) -> None:
        self._connections = connections

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        if self._connections is not None:
            self._connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return password == PASSWORD


async def run_command(
    process: asyncssh.SSHServerProcess[bytes], around: Sequence[str] = ()
) -> None:
    """In a shell, as sshd does. `around`: a command that is given the shell's."""
    assert process.command
    shell = await asyncio.create_subprocess_exec(
        *(*around, "/bin/sh", "-c", process.command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert shell.stdin and shell.stdout
    feeding = asyncio.create_task(feed(process.stdin, shell.stdin))
    with contextlib.suppress(asyncssh.Error, OSError):
        while chunk := await shell.stdout.read(1 << 16):
            process.stdout.write(chunk)
            await process.stdout.drain()
    feeding.cancel()
    await asyncio.gather(feeding, return_exceptions=True)
    process.exit(await shell.wait())


async def feed(source: asyncssh.SSHReader[bytes], shell: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncssh.Error, OSError):
        while chunk := await source.read(1 << 16):
            shell.write(chunk)
            await shell.drain()
    shell.close()


async def listen(
    key: asyncssh.SSHKey,
    port: int = 0,
    connections: list[asyncssh.SSHServerConnection] | None = None,
) -> asyncssh.SSHAcceptor:
    """`connections` gets those that are made, for who wants to end them."""
    return await asyncssh.listen(
        "127.0.0.1",
        port,
        server_factory=lambda: Sshd(connections),
        server_host_keys=[key],
        process_factory=run_command,
        encoding=None,
    )

"""Runs programs of ours on a machine over SSH, each in a channel of its own.

They come over stdin into a Python that is there, so that nothing of them is written there.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import secrets
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any, TypeAlias

import asyncssh
import msgspec

from workbench.errors import PongbenchError
from workbench.machines.sshconnect import Connection, reason

ANSWER_WITHIN_S = 20.0
CHUNK = 1 << 16
SESSIONS = 2
"""Channels beside the runner's; sshd allows ten, where nobody changed MaxSessions."""
CHANNEL_TRIES = 3
NO_PYTHON = 79
"""The exit status of the shell when it found none."""

_BOOT = (
    "import base64;"
    'exec(compile(base64.b64decode(open(0,"rb",0,closefd=False).readline()),"pongbench","exec"))'
)
"""The source is the first line of stdin; what follows is the program's own."""

_FIND = (
    'for p in "$0" python3 python3.14 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3;'
    ' do test "$p" && "$p" -I -S -c "import sys;sys.exit(sys.version_info<(3,10))" 2>/dev/null'
    f' && exec "$p" -I -S -u "$@"; done; python3 -V 2>&1; exit {NO_PYTHON}'
)

Channel: TypeAlias = "asyncssh.SSHClientProcess[bytes]"

log = logging.getLogger("workbench.machines.commands")


class Shell:
    """Runs our programs on the machine, few at a time, each in a channel of its own."""

    def __init__(self, name: str, connection: Connection) -> None:
        self.name = name
        self.connection = connection
        self.commands: list[str] = []
        """What was run there, for the log that people read; the newest last."""
        self._free = asyncio.Semaphore(SESSIONS)

    @contextlib.asynccontextmanager
    async def program(self, what: str, command: str) -> AsyncIterator[Channel]:
        """A channel with a command; closed at the end, whatever happens."""
        async with self._free:
            process = await self.open(what, command)
            try:
                yield process
            finally:
                process.close()

    async def open(self, what: str, command: str) -> Channel:
        """A channel that stays. sshd may have none left for the moment (MaxSessions)."""
        self.commands.append(what)
        log.info("%s: %s", self.name, what)
        for number in range(CHANNEL_TRIES):
            try:
                return await self.connection.ssh.create_process(
                    command, encoding=None, stderr=asyncssh.STDOUT, window=1 << 20
                )
            except asyncssh.ChannelOpenError as error:
                if number == CHANNEL_TRIES - 1:
                    raise PongbenchError(
                        f"'{self.name}' opens no further session ({error.reason}); raise"
                        " MaxSessions in its sshd_config to 3 or more."
                    ) from None
                await asyncio.sleep(0.3)
            except (asyncssh.Error, OSError) as error:
                raise self.gone(error) from None
        raise AssertionError

    async def ask(
        self, what: str, source: Path, python: str, *arguments: str, body: IO[bytes] | None = None
    ) -> Any:
        """Run one of our programs there; the JSON it answers with after its nonce."""
        nonce = secrets.token_hex(16)
        command = command_line(python, nonce, *arguments)
        words = shlex.join([python or "python3", "-", *arguments])
        try:
            async with self.program(f"{what}: {words} < {source.name}", command) as process:
                process.stdin.write(await asyncio.to_thread(encoded, source))
                if body is not None:
                    await self._send(process, body)
                process.stdin.write_eof()
                async with asyncio.timeout(ANSWER_WITHIN_S):
                    output = await read_all(process)
                    status = (await process.wait()).exit_status
        except TimeoutError:
            raise PongbenchError(
                f"'{self.name}' did not answer within {ANSWER_WITHIN_S:.0f} s ({what})."
            ) from None
        except (asyncssh.Error, OSError) as error:
            raise self.gone(error) from None
        _, found, answer = output.rpartition(f"\n{nonce}\n".encode())
        if found:
            return msgspec.json.decode(answer)
        said = output.decode("utf-8", "replace").strip().splitlines()[-1:]
        if status == NO_PYTHON:
            there = said[0] if said and said[0].startswith("Python") else "none at all"
            raise PongbenchError(
                f"'{self.name}' has no Python 3.10 or later ({there}); install one there, or name"
                " it in its profile (python)."
            )
        raise PongbenchError(
            f"'{self.name}' did not do it ({what}); it said: {' '.join(said) or 'nothing'}."
        )

    async def _send(self, process: Channel, body: IO[bytes]) -> None:
        """Stops early when the program ends before it has read all; its answer tells why."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while chunk := await asyncio.to_thread(body.read, 4 * CHUNK):
                process.stdin.write(chunk)
                await process.stdin.drain()

    async def close(self) -> None:
        await self.connection.close()

    def gone(self, error: Exception) -> PongbenchError:
        return PongbenchError(f"The machine '{self.name}' is gone: {reason(error)}.")


def command_line(python: str, *arguments: str) -> str:
    """For a shell of whatever kind: our bootstrap in the first Python that will do."""
    words = ["sh", "-c", _FIND, python, "-c", _BOOT, *arguments]
    return "exec " + " ".join(map(shlex.quote, words))


def encoded(source: Path) -> bytes:
    return base64.b64encode(source.read_bytes()) + b"\n"


async def read_all(process: Channel) -> bytes:
    output = bytearray()
    while chunk := await process.stdout.read(CHUNK):
        output += chunk
        del output[: max(0, len(output) - (4 << 20))]
    return bytes(output)

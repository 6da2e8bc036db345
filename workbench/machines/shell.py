"""Runs our own programs on a machine over SSH, each in a channel of its own. They go to Python over
stdin, so that they leave no files there."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import logging
import secrets
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, TypeAlias, TypeVar

import asyncssh
import msgspec

from workbench.errors import PongbenchError
from workbench.machines.sshconnect import Connection, reason
from workbench.machines.wire import LONGEST_LINE, InvalidMessage, decode, quoted

_FINDER = '''
import importlib, importlib.util, sys

class Packed:
    """Finds the modules in SOURCES."""

    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            return importlib.util.spec_from_loader(name, self, is_package="." not in name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(SOURCES[name], name, "exec"), module.__dict__)

sys.meta_path.insert(0, Packed())
'''


def packed(folder: Path) -> str:
    """Return a package as one text, started by `main` in its module `main`; it imports `from .`."""
    sources = {
        folder.name if path.stem == "__init__" else f"{folder.name}.{path.stem}": path.read_text(
            "utf-8"
        )
        for path in sorted(folder.glob("*.py"))
    }
    start = f"importlib.import_module({f'{folder.name}.main'!r}).main()"
    return f"SOURCES = {sources!r}\n{_FINDER}{start}\n"


T = TypeVar("T")

ANSWER_WITHIN_S = 8.0
WORK_WITHIN_S = 20.0
"""Time limit in seconds for programs that move or remove files."""
OPEN_WITHIN_S = 8.0
CHUNK = 1 << 16
SESSIONS = 2
"""Channels beside the runner's; sshd allows ten by default (MaxSessions)."""
CHANNEL_ATTEMPTS = 3
NO_PYTHON = 79
"""The exit status of the shell when it found no suitable Python."""

_BOOT = (
    "import base64;"
    'exec(compile(base64.b64decode(open(0,"rb",0,closefd=False).readline()),"pongbench","exec"))'
)
"""The source is the first line of stdin; the rest is the program's own input."""

_SUITS = '"$p" -I -S -c "import sys;sys.exit(sys.version_info<(3,10))"'
_FIND = (
    'if test -n "$0"; then p=$0;'
    f' {_SUITS} || {{ "$p" -V 2>&1; exit {NO_PYTHON}; }}; exec "$p" -I -S -u "$@"; fi;'
    " for p in python3 python3.14 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3;"
    f' do {_SUITS} 2>/dev/null && exec "$p" -I -S -u "$@"; done;'
    f" python3 -V 2>&1; exit {NO_PYTHON}"
)
"""A configured Python is the only one that is used."""


class NoPython(PongbenchError):
    """The machine has no Python that suits, and its profile names none."""


Channel: TypeAlias = "asyncssh.SSHClientProcess[bytes]"

log = logging.getLogger("workbench.machines.commands")


class Shell:
    """Runs our programs on the machine, a few concurrently, each in a channel of its own."""

    def __init__(self, name: str, connection: Connection) -> None:
        self.name = name
        self.connection = connection
        self._free = asyncio.Semaphore(SESSIONS)

    @contextlib.asynccontextmanager
    async def program(self, what: str, command: str) -> AsyncIterator[Channel]:
        """Open a channel with a command; it is closed at the end in any case."""
        async with self._free:
            process = await self.open(what, command)
            try:
                yield process
            finally:
                process.close()

    async def open(self, what: str, command: str) -> Channel:
        """Open a channel that stays open. sshd may have none left for the moment (MaxSessions)."""
        log.info("%s: %s", self.name, what)
        for number in range(CHANNEL_ATTEMPTS):
            try:
                async with asyncio.timeout(OPEN_WITHIN_S):
                    return await self.connection.ssh.create_process(
                        command, encoding=None, stderr=asyncssh.STDOUT, window=1 << 20
                    )
            except TimeoutError:
                raise PongbenchError(
                    f"'{self.name}' opened no session within {OPEN_WITHIN_S:.0f} s ({what})."
                ) from None
            except asyncssh.ChannelOpenError as error:
                if number == CHANNEL_ATTEMPTS - 1:
                    raise PongbenchError(
                        f"'{self.name}' refuses further sessions ({error.reason}); raise"
                        " MaxSessions in its sshd_config to 3 or more."
                    ) from None
                await asyncio.sleep(0.3)
            except (asyncssh.Error, OSError) as error:
                raise self.gone(error) from None
        raise AssertionError

    async def ask(
        self,
        what: str,
        source: Path,
        answers: type[T],
        python: str,
        *arguments: str,
        body: IO[bytes] | None = None,
        within_s: float = ANSWER_WITHIN_S,
    ) -> T:
        """Run one of our programs there and return its answer after the nonce. `within_s`: time
        limit of the answer; with `body`, of each piece."""
        nonce = secrets.token_hex(16)
        command = command_line(python, nonce, *arguments)
        words = shlex.join([python or "python3", "-", *arguments])
        try:
            async with self.program(f"{what}: {words} < {source.name}", command) as process:
                # A program that has stopped reading tells by its output and exit why.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    process.stdin.write(await asyncio.to_thread(encoded, source))
                    await feed(process, body, within_s)
                async with asyncio.timeout(within_s):
                    output = await read_all(process)
                    ended = await process.wait()
            _, found, answer = output.rpartition(f"\n{nonce}\n".encode())
            if found:
                return decode(msgspec.json.Decoder(answers), answer, LONGEST_LINE)
        except TimeoutError:
            raise PongbenchError(
                f"'{self.name}' did not answer within {within_s:.0f} s ({what})."
            ) from None
        except InvalidMessage as error:
            raise PongbenchError(
                f"'{self.name}' sent an invalid answer ({what}): {error}."
            ) from None
        except (asyncssh.Error, OSError) as error:
            raise self.gone(error) from None
        lines = output[-4000:].decode("utf-8", "replace").strip().splitlines()[-1:]
        reply = quoted(" ".join(lines))
        if ended.exit_status == NO_PYTHON and python:
            raise PongbenchError(
                f"'{self.name}' cannot use the Python that its profile names, {python}:"
                f" {reply or 'it did not start'}; name one of 3.10 or later (python), or none."
            )
        if ended.exit_status == NO_PYTHON:
            version = reply if reply.startswith("Python") else "none at all"
            raise NoPython(
                f"'{self.name}' has no Python 3.10 or later ({version}); install one there, or name"
                " it in its profile (python)."
            )
        if self.connection.ssh.is_closed():
            raise self.gone(asyncssh.ConnectionLost("the connection was closed"))
        words = f"it said: {reply}" if reply else "no output"
        raise PongbenchError(f"'{self.name}' failed to {what}: {end_of(ended)}, and {words}.")

    async def test_sessions(self) -> None:
        """Check that sshd allows as many sessions as a run needs. Raises PongbenchError."""
        async with contextlib.AsyncExitStack() as stack:
            for number in range(SESSIONS):
                what = f"open session {number + 2}: cat"
                stack.callback((await self.open(what, "exec cat")).close)

    async def close(self) -> None:
        await self.connection.close()

    def gone(self, error: Exception) -> PongbenchError:
        sentence = f"The machine '{self.name}' is gone: {reason(error)}."
        return PongbenchError(sentence, code="machine-gone")


def end_of(ended: asyncssh.SSHCompletedProcess) -> str:
    """Describe how a command there ended, for use in a sentence."""
    if ended.exit_signal:
        return f"it was ended there by SIG{ended.exit_signal[0]}"
    if ended.exit_status is None:
        return (
            "the session was closed before anything ran in it (perhaps no more processes may be"
            " started there, or this user may run no commands)"
        )
    return f"it ended with status {ended.exit_status}"


def command_line(python: str, *arguments: str) -> str:
    """Return a command for any shell: our bootstrap in the first suitable Python."""
    words = ["sh", "-c", _FIND, python, "-c", _BOOT, *arguments]
    return "exec " + " ".join(map(shlex.quote, words))


def encoded(source: Path) -> bytes:
    """Return a program, a file or a folder, as the first line of its input."""
    text = packed(source).encode() if source.is_dir() else source.read_bytes()
    return base64.b64encode(text) + b"\n"


async def feed(process: Channel, body: IO[bytes] | None, within_s: float) -> None:
    """Send a file, each piece within the time limit, and the end of the input."""
    while body is not None and (chunk := await asyncio.to_thread(body.read, 4 * CHUNK)):
        process.stdin.write(chunk)
        async with asyncio.timeout(within_s):
            await process.stdin.drain()
    process.stdin.write_eof()


async def read_all(process: Channel) -> bytes:
    output = bytearray()
    while chunk := await process.stdout.read(CHUNK):
        output += chunk
        if len(output) > LONGEST_LINE:
            raise InvalidMessage(f"more than {LONGEST_LINE >> 20} MiB")
        await asyncio.sleep(0)  # Let other tasks run.
    return bytes(output)

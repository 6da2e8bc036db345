"""A machine over SSH: the runner at the other end of a channel, files by tar through others.

It needs only sshd and Python 3.10 or later there; an installed program brings its own where there
is none. Our programs are sent over stdin, so that they leave no files there.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import platform
import re
import secrets
import shlex
import sys
import tarfile
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Annotated

import asyncssh
import msgspec

from workbench import paths
from workbench.closing import to_the_end
from workbench.errors import PongbenchError
from workbench.machines.base import INTERPRETERS, Machine, Platform
from workbench.machines.bundle import Bundle, archived, mode_of, own_platform
from workbench.machines.local import ERRANDS
from workbench.machines.profiles import Profile
from workbench.machines.runner_client import LEASE_S, RUNNER, Link, MachineBusy
from workbench.machines.secrets import Ask, never_ask
from workbench.machines.shell import (
    WORK_WITHIN_S,
    Channel,
    NoPython,
    Shell,
    command_line,
    encoded,
    feed,
    read_all,
)
from workbench.machines.sshconnect import connect, reason
from workbench.machines.tuning import LeftTuning
from workbench.machines.wire import Count, Folder, Ready, Text, Version, Word, quoted

CONNECT_WITHIN_S = 5.0

BUSY_FOR_S = LEASE_S + 1
"""How long the run of a killed workbench keeps its machine, in seconds."""


async def open_ssh(profile: Profile, *, ask: Ask = never_ask, exclusive: bool = True) -> SshMachine:
    """Log in, survey it, remove leftovers of crashed runs, start a runner. `exclusive`: see
    `Link.open`. Raises PongbenchError; `hostkeys.UnknownHostKey` and `ChangedHostKey` wait for
    a person's word, `runner_client.MachineBusy` says whose run is there."""
    shell = await open_shell(profile, ask)
    try:
        survey = await survey_machine(shell, profile)
        fit(profile.name, survey)
        await clean(shell, survey)
        return await start(profile, shell, survey, exclusive=exclusive)
    except BaseException:
        await to_the_end(shell.close())
        raise


async def open_shell(profile: Profile, ask: Ask = never_ask) -> Shell:
    """Log in and do nothing else. Raises like `open_ssh`."""
    return Shell(profile.name, await connect(profile, ask))


async def start(
    profile: Profile, shell: Shell, survey: Survey, *, exclusive: bool = True
) -> SshMachine:
    """Start the runner and return the machine, which owns the shell from then on. Waits a moment
    for another run, which may just have been killed."""
    give_up = time.monotonic() + BUSY_FOR_S
    while True:
        what = f"start the runner: {survey.python} - < {RUNNER.name}"
        process = await shell.open(what, command_line(survey.python))
        channel = _Channel(process)
        link = Link(shell.name, channel, channel)
        try:
            with contextlib.suppress(BrokenPipeError):
                # If it has already ended, its last output names the cause.
                process.stdin.write(await asyncio.to_thread(encoded, RUNNER))
            introduction = await link.open(survey.work_dir, exclusive=exclusive)
            return SshMachine(profile, shell, survey, link, introduction)
        except MachineBusy:
            await link.close()
            if time.monotonic() > give_up:
                raise
            await asyncio.sleep(0.5)
        except BaseException:
            await link.close()
            raise


LEAST_PROCESSES = 24
"""For runner, guardian, sessions, sampler and a small server, beside one agent per core."""
FEW_PROCESSES = 400
"""Servers with one thread per connection need more."""


class Survey(msgspec.Struct, frozen=True):
    """The answer of the errand `survey`."""

    python: Folder
    version: Version
    machine: Word
    libc: tuple[Word, Word]
    user: Text
    work_dir: Folder
    free_bytes: Count
    connection: Annotated[list[Word], msgspec.Meta(max_length=4)]
    """[our address, our port, its address, its port] as seen there; empty: unknown."""
    noexec: str = ""
    """The mount point of the work directory, if files on it may not be executed."""
    cores: Count = 1
    processes_left: Count | None = None
    """How many more processes may be started; None: no known limit."""
    left_tuned: LeftTuning | None = None


def fit(machine: str, survey: Survey) -> None:
    """Check that a run can work there. Raises PongbenchError."""
    if survey.noexec:
        raise PongbenchError(
            f"Programs cannot be executed in the work directory of '{machine}', {survey.work_dir}:"
            f" {survey.noexec} is mounted noexec; set another directory in the profile"
            " (work_dir), or mount it exec."
        )
    least = LEAST_PROCESSES + survey.cores
    if survey.processes_left is not None and survey.processes_left < least:
        raise PongbenchError(
            f"{survey.user} may start only {survey.processes_left:,} more processes on '{machine}',"
            f" but a run needs {least}: end some, or raise the limit (ulimit -u, TasksMax of"
            " systemd)."
        )


class LeftoverRun(msgspec.Struct, frozen=True):
    run: Text
    processes: list[Text] = []


class ActiveRun(msgspec.Struct, frozen=True):
    run: Text
    holder: Text = ""


class Cleaned(msgspec.Struct, frozen=True):
    """The answer of the errand `clean`."""

    killed: Count
    removed: Count
    found: list[LeftoverRun]
    alive: list[ActiveRun]


class Done(msgspec.Struct, frozen=True):
    """The answer of the errands `receive`, `size` and `remove`."""

    bytes: Count = 0
    error: str = ""


class SshMachine(Machine):
    def __init__(
        self, profile: Profile, shell: Shell, survey: Survey, link: Link, introduction: Ready
    ) -> None:
        super().__init__(link, survey.work_dir, introduction)
        self.shell = shell
        self.survey = survey
        self.platform = Platform(survey.version, survey.machine, *survey.libc)
        ours, _, theirs, _ = [*survey.connection, "", "", "", ""][:4]
        self.our_address = ours
        self.bind = profile.bind or theirs or shell.connection.host
        # Right behind NAT and a jump host as well.
        self.reach = profile.reach or self.bind

    async def put(self, source: Path, target: str) -> str:
        with tempfile.SpooledTemporaryFile(1 << 22) as archive:
            try:
                await asyncio.to_thread(pack, source, PurePosixPath(target).name, archive)
            except OSError as error:
                raise PongbenchError(
                    f"Cannot copy {source} to '{self.name}': {error.strerror}: {error.filename}."
                ) from None
            folder = str(PurePosixPath(target).parent)
            await self._receive(f"copy {target}", archive, folder, "")
        return f"{self.run_dir}/{target}"

    async def bring(self, archive: Path, name: str) -> str:
        place = f"{self.cache_dir}/{name}"
        (there,) = await self.read([f"{place}/.whole"])
        if there is None:
            with await asyncio.to_thread(archive.open, "rb") as file:
                await self._receive(f"bring {name}", file, f"tmp/{secrets.token_hex(8)}", place)
        return place

    async def _receive(self, what: str, archive: IO[bytes], folder: str, place: str) -> None:
        arguments = (self.survey.python, "receive", self.run_dir, folder, place)
        answer = await self.shell.ask(
            what, ERRANDS, Done, *arguments, body=archive, within_s=WORK_WITHIN_S
        )
        if answer.error:
            if self._link.failure:
                raise self._link.failure
            raise PongbenchError(f"Cannot copy to '{self.name}' ({what}): {quoted(answer.error)}.")

    @contextlib.asynccontextmanager
    async def route_to(self, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
        if await reachable(host, port):
            yield host, port
            return
        ssh = self.shell.connection.ssh
        try:
            # A forwarded port accepts every connection, even if it leads nowhere.
            async with asyncio.timeout(CONNECT_WITHIN_S):
                _, writer = await ssh.open_connection(host, port)
            writer.close()
            listener = await ssh.forward_local_port("127.0.0.1", 0, host, port)
        except (asyncssh.Error, OSError) as error:
            why = "no answer" if isinstance(error, TimeoutError) else reason(error)
            raise PongbenchError(
                f"Port {port} of {host} cannot be reached, neither directly nor through"
                f" '{self.name}' ({why}); check its address for the others in its profile (reach)."
            ) from None
        try:
            yield "127.0.0.1", listener.get_port()
        finally:
            listener.close()
            await listener.wait_closed()

    @contextlib.asynccontextmanager
    async def leading_here(self, host: str, port: int) -> AsyncIterator[tuple[str, int]]:
        ssh = self.shell.connection.ssh
        try:
            listener = await ssh.forward_remote_port("127.0.0.1", 0, host, port)
        except (asyncssh.Error, asyncssh.ChannelListenError, OSError):
            raise PongbenchError(
                f"'{self.name}' cannot reach this computer through SSH; its sshd has to allow it"
                " (AllowTcpForwarding)."
            ) from None
        try:
            found = await self.read(["/proc/net/tcp", "/proc/net/tcp6"])
            if others_reach(listener.get_port(), "".join(text or "" for text in found)):
                raise PongbenchError(
                    f"The sshd of '{self.name}' lets others use forwarded ports; set GatewayPorts"
                    " there to no."
                )
            yield "127.0.0.1", listener.get_port()
        finally:
            listener.close()
            with contextlib.suppress(TimeoutError, asyncssh.Error):
                async with asyncio.timeout(1.0):  # The connection may be dead.
                    await listener.wait_closed()

    async def _close(self) -> None:
        await self._link.close()
        if not self._link.ended_itself:
            with contextlib.suppress(PongbenchError, TimeoutError):
                async with asyncio.timeout(LEASE_S):
                    await clean(self.shell, self.survey)
        await self.shell.close()


_LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")
"""As /proc/net/tcp has it: 127.0.0.1, ::1 and ::ffff:127.0.0.1."""


def others_reach(port: int, tables: str) -> bool:
    """Return whether a port listens beyond loopback, by the tables of /proc/net/tcp and tcp6."""
    ours = re.findall(rf"^ *\d+: ([0-9A-F]+):{port:04X} \S+ 0A", tables, re.MULTILINE)
    return any(address not in _LOOPBACK for address in ours)


async def survey_machine(shell: Shell, profile: Profile) -> Survey:
    """Raises PongbenchError when no suitable Python is found or can be brought."""

    async def survey(python: str) -> Survey:
        return await shell.ask("survey it", ERRANDS, Survey, python, "survey", profile.work_dir)

    try:
        return await survey(profile.python)
    except NoPython:
        # Only an installed program on Linux has a Python that it can send.
        if not getattr(sys, "frozen", False) or sys.platform != "linux":
            raise
    return await survey(await bring_interpreter(shell, profile.work_dir))


async def clean(shell: Shell, survey: Survey) -> Cleaned:
    """Remove leftovers of crashed runs; see `remote.errands`."""
    what = "remove leftovers of crashed runs"
    arguments = (survey.python, "clean", survey.work_dir)
    return await shell.ask(what, ERRANDS, Cleaned, *arguments, within_s=WORK_WITHIN_S)


class _Channel:
    """A channel as the streams that a link reads from and writes to."""

    def __init__(self, process: Channel) -> None:
        self._process = process

    @contextlib.contextmanager
    def _breaks(self) -> Iterator[None]:
        try:
            yield
        except (asyncssh.Error, OSError) as error:
            raise ConnectionError(reason(error)) from None

    async def read(self, size: int, /) -> bytes:
        with self._breaks():
            return await self._process.stdout.read(size)
        raise AssertionError

    def write(self, data: bytes, /) -> None:
        with self._breaks():
            self._process.stdin.write(data)

    async def drain(self) -> None:
        with self._breaks():
            await self._process.stdin.drain()

    def close(self) -> None:
        self._process.close()

    async def wait_closed(self) -> None:
        with self._breaks():
            await self._process.wait_closed()


def pack(source: Path, name: str, archive: IO[bytes]) -> None:
    """Return a tar of a file or a tree under `name`, rewound."""

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if "__pycache__" in member.name:
            return None
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        if sys.platform == "win32":  # whose files have no modes
            below = PurePosixPath(member.name).relative_to(name)
            member.mode = mode_of(source / below) if member.isreg() else 0o755
        return member

    with tarfile.open(fileobj=archive, mode="w:gz", compresslevel=1) as tar:
        tar.add(source, arcname=name, filter=plain)
    archive.seek(0, io.SEEK_SET)


async def reachable(host: str, port: int) -> bool:
    with contextlib.suppress(OSError):
        async with asyncio.timeout(2.0):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            return True
    return False


@dataclass(frozen=True)
class CleanMachine:
    shell: Shell
    survey: Survey
    cleaned: Cleaned

    async def remove_cache(self) -> int:
        """Remove all of the work directory. Returns the bytes removed. Raises PongbenchError."""
        if self.cleaned.alive:
            raise PongbenchError(
                f"'{self.shell.name}' is in use, so {self.survey.work_dir} was kept. Try again"
                " later."
            )
        return await cache_size(self.shell, self.survey, remove=True)


@asynccontextmanager
async def clean_machine(profile: Profile, ask: Ask) -> AsyncIterator[CleanMachine]:
    """Log in and remove leftovers of crashed runs. Raises like `ssh.open_ssh`."""
    shell = await open_shell(profile, ask)
    try:
        survey = await survey_machine(shell, profile)
        yield CleanMachine(shell, survey, await clean(shell, survey))
    finally:
        await shell.close()


async def cache_size(shell: Shell, survey: Survey, *, remove: bool = False) -> int:
    """Return the size of the work directory in bytes; `remove`: it is removed."""
    what = f"{'remove' if remove else 'measure'} the work directory"
    arguments = (survey.python, "remove" if remove else "size", survey.work_dir)
    found = await shell.ask(what, ERRANDS, Done, *arguments, within_s=WORK_WITHIN_S)
    if found.error:
        text = f"{survey.work_dir} of '{shell.name}' stays: {quoted(found.error)}."
        raise PongbenchError(text)
    return found.bytes


_WANTED = b"wanted\n"
UNPACK = """
umask 022
case $0 in "~/"*) d=$HOME/${0#??} ;; *) d=$0 ;; esac
d=$d/$1
test "$(uname -s) $(uname -m)" = "$2" || { echo "this one is for $2"; exit 1; }
if ! test -e "$d/.whole"; then
    mkdir -p "$d.$$" || exit 1
    trap 'rm -rf "$d.$$"' EXIT
    echo wanted
    gzip -dc | tar -xf - -C "$d.$$" || exit 1
    "$d.$$/bin/python3" -I -c "import ssl, ctypes" || exit 1
    rm -rf "$d"
    mv "$d.$$" "$d" || exit 1
fi
echo "$d/bin/python3"
"""
"""Arguments: the work directory, the place below it, system and processor. Says that it wants the
archive, if it does, and then where it is; or what went wrong."""


async def bring_interpreter(shell: Shell, work_dir: str) -> str:
    """Copy this program's own Python (see `packaging/interpreter.py`) into the work directory,
    by sh, tar and gzip, once. Returns its path. Raises PongbenchError."""
    archive = await archived(interpreter_of(paths.SHIPPED))
    name = archive.name.partition(".")[0].removeprefix("interpreter-")
    system = f"{platform.system()} {platform.machine()}"
    words = ["sh", "-c", UNPACK, work_dir, f"{INTERPRETERS}{name}", system]
    try:
        async with shell.program(
            f"bring Pongbench's own Python, {name}", "exec " + shlex.join(words)
        ) as process:
            async with asyncio.timeout(WORK_WITHIN_S):
                said = await process.stdout.readline()
            if said == _WANTED:
                with archive.open("rb") as file:
                    await feed(process, file, WORK_WITHIN_S)
                said = b""
            async with asyncio.timeout(WORK_WITHIN_S):
                said += await read_all(process)
                ended = await process.wait()
    except TimeoutError:
        raise PongbenchError(
            f"'{shell.name}' did not take Pongbench's own Python within {WORK_WITHIN_S:.0f} s."
        ) from None
    except (asyncssh.Error, OSError) as error:
        raise shell.gone(error) from None
    lines = said.decode("utf-8", "replace").strip().splitlines()
    if ended.exit_status == 0 and lines:
        return lines[-1]
    raise PongbenchError(
        f"'{shell.name}' has no Python 3.10 or later, and Pongbench's own does not run there"
        f" ({quoted(lines[-1]) if lines else 'no output'}); install one there."
    )


def interpreter_of(shipped: Path) -> Bundle:
    """Return the interpreter below `shipped`, its libraries and standard library, no packages."""
    found = [shipped / name for name in ("bin/python3", "pyvenv.cfg", "base_library.zip")]
    found += shipped.glob("python3.*/lib-dynload/*.so")
    for path in shipped.glob("lib*.so*"):  # a link leads into a package's own folder
        if not path.is_symlink() and not path.name.startswith("libpython"):
            found.append(path)
    sources = {path.relative_to(shipped).as_posix(): path for path in found}
    links = {f"lib/{path.name}": str(path.readlink()) for path in (shipped / "lib").iterdir()}
    return Bundle("interpreter", own_platform(), "", sources=sources, links=links)

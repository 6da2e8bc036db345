"""The client side of a runner: a machine over a pair of asyncio streams."""

from __future__ import annotations

import asyncio
import contextlib
import getpass
import json
import logging
import os
import platform
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from workbench.closing import ended, to_the_end
from workbench.errors import PongbenchError
from workbench.machines import wire
from workbench.machines.pulse import Pulse
from workbench.machines.wire import LONGEST_LINE, InvalidMessage, decode, quoted
from workbench.remote import REMOTE

T = TypeVar("T")

ANSWER_WITHIN_S = 8.0


def resolve(future: asyncio.Future[Any] | None, value: object) -> bool:
    """Resolve a pending answer. Returns whether it was still waited for."""
    if future is None or future.done():
        return False
    future.set_result(value)
    return True


MAX_UNREAD = 8 << 20
"""Bytes of output kept for a slow reader; older lines are dropped and counted."""
PER_LINE = 64
"""Overhead of a line in bytes, however short it is."""
TAIL_LINES, TAIL_WIDTH = 20, 1 << 16
STOPPED_WITHIN_S = 13.0
"""Seconds after the grace period: a runner spends up to 10 s on processes that resist."""
SLICE_S = 0.02
"""The longest time, in seconds, for which a reader of lines may keep the event loop."""


@dataclass(frozen=True)
class Command:
    """A program to start on a machine. Never passed through a shell."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to a minimal environment (PATH, HOME, LANG=C.UTF-8, TMPDIR in the run directory)."""
    cwd: str = ""
    """Relative to the machine's run directory, or absolute."""
    nofile: int = 0
    """Wanted soft descriptor limit; 0: the machine's. Raised as far as the hard limit allows."""
    cpus: Sequence[int] = ()
    """Cores to run on; empty: any."""


class Process:
    """A program under the runner at the other end of a link, its stderr merged into its stdout."""

    def __init__(self, link: Link, key: str, pid: int) -> None:
        self._link = link
        self._key = key
        self.pid = pid
        self._unread: deque[bytes] = deque()
        self._unread_bytes = 0
        self._tail: deque[bytes] = deque(maxlen=TAIL_LINES)
        self.news = asyncio.Event()
        """Of its output; also set when the link has failed."""
        self._ended = False
        self.dropped = 0
        """Lines lost because nobody read them in time."""
        self._exit = link.expect()
        self._stopped: asyncio.Future[Any] | None = None

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield its output line by line, without the newline, until it closes it; to one reader."""
        while True:
            began = time.monotonic()
            while self._unread:
                line = self._unread.popleft()
                self._unread_bytes -= len(line) + PER_LINE
                yield line
                # A slow reader of lines must not delay the heartbeats.
                if time.monotonic() - began > SLICE_S:
                    await asyncio.sleep(0)
                    began = time.monotonic()
            if self._ended:
                return
            if self._link.failure:
                raise self._link.failure
            self.news.clear()
            await self.news.wait()

    def tail(self) -> list[str]:
        """Return the last lines of output (at most 20), with and without a reader."""
        return [line.decode("utf-8", "replace") for line in self._tail]

    async def send(self, line: bytes) -> None:
        """Write one line (without newline) to its stdin."""
        text = line.decode("utf-8", "surrogateescape")
        await self._link.send(op="write", id=self._key, line=text)

    async def wait(self) -> int:
        """Wait for its exit status; negative: the signal that ended it."""
        status: int = await asyncio.shield(self._exit)
        return status

    async def stop(self, grace_s: float = 1.0) -> int:
        """Send SIGTERM to all its descendants, after `grace_s` SIGKILL. Raises PongbenchError when
        a process survives that, such as one that has become root."""
        if self._stopped is None:
            self._stopped = self._link.expect()
            await self._link.send(op="stop", id=self._key, grace_s=grace_s)
        stopped = asyncio.shield(self._stopped)
        what = f"end process {self.pid}"
        if await self._link.in_time(stopped, what, grace_s + STOPPED_WITHIN_S):
            raise PongbenchError(
                f"Process {self.pid} of '{self._link.name}' or what it started cannot be ended:"
                " perhaps it became another user, such as root; end it there."
            )
        exit = asyncio.shield(self._exit)
        return int(await self._link.in_time(exit, f"report how process {self.pid} ended"))

    def take(self, line: bytes) -> None:
        self._tail.append(line[:TAIL_WIDTH])
        self._unread.append(line)
        self._unread_bytes += len(line) + PER_LINE
        while self._unread_bytes > MAX_UNREAD:
            self._unread_bytes -= len(self._unread.popleft()) + PER_LINE
            self.dropped += 1
        self.news.set()

    def take_event(self, event: wire.OfProcess) -> None:
        match event:
            case wire.Exit():
                resolve(self._exit, event.status)
            case wire.Eof():
                self._ended = True
                self.news.set()
            case wire.Stopped():
                resolve(self._stopped, event.left)
            case wire.Dropped():
                self.dropped += event.lines


RUNNER = REMOTE / "runner"
LEASE_S = 4.0
HEARTBEAT_S = 1.0
SILENT_S = 4.0
"""A runner silent for this many seconds counts as lost: it has ended itself or soon will."""
ABSENT_WITHIN_S = 10.0
"""A link that is lost so soon after this program did not run was lost because of that."""
LONGEST_RUN_S = 24 * 3600.0
OPEN_WITHIN_S = 8.0
CLOSE_WITHIN_S = 10.0
MAX_NOISE = 1 << 20
CHUNK = 1 << 16
"""Bytes read at a time, so that other machines get their turn in between."""

log = logging.getLogger(__name__)


class MachineBusy(PongbenchError):
    """A run of the same user or of root is on the machine. `holder`: its owner, if reported;
    otherwise `there`: the process that holds the machine."""

    def __init__(self, machine: str, holder: str, there: str = "") -> None:
        holder, there = quoted(holder), quoted(there)
        if holder:
            who = f"'{machine}' is in use by {holder}" + (f" (there: {there})" if there else "")
            what = "wait until it ends, or use another machine"
        else:
            who = f"'{machine}' is in use by {there}, for an unknown run"
            what = "wait until it ends, end it there, or use another machine"
        super().__init__(f"{who}; {what}.")
        self.holder = holder or there


class Reader(Protocol):
    """The stream a link reads from. Raises OSError when the connection breaks."""

    async def read(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    """The stream a link writes to; waiting raises OSError when the connection breaks."""

    def write(self, data: bytes, /) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


class Link:
    """One runner: sends it commands and receives its events and the output of its programs. When it
    ends, falls silent or sends invalid messages, all that waits gets the same `PongbenchError`."""

    def __init__(self, name: str, reader: Reader, writer: Writer) -> None:
        self.name = name
        self.failure: PongbenchError | None = None
        """Once it has failed, everything that waits and every later command raises this."""
        self.ended_itself = False
        """Whether the runner said that it has cleaned up."""
        self._reader, self._writer = reader, writer
        self._waiting: set[asyncio.Future[Any]] = set()
        self._answers: dict[str, tuple[type, asyncio.Future[Any]]] = {}
        """By key: the event expected as the answer, and the future that waits for it."""
        self._count = 0
        self._processes: WeakValueDictionary[str, Process] = WeakValueDictionary()
        """Those somebody still holds: a long run starts many."""
        self._stray: deque[bytes] = deque(maxlen=5)
        self._pulse = Pulse()
        self._lease_s = LEASE_S
        self._closing = False
        self._over = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def open(
        self, cache: str, *, lease_s: float = LEASE_S, exclusive: bool = False
    ) -> wire.Ready:
        """Configure the runner and return what it reports about itself. `exclusive`: raises
        MachineBusy while the same user or root has such a run there; others are reported."""
        self._lease_s = lease_s
        nonce = secrets.token_hex(16)
        ready = self.expect("ready", wire.Ready)
        self._tasks = [asyncio.create_task(self._read(nonce))]
        await self.send(
            nonce=nonce,
            cache=cache,
            run=secrets.token_hex(8),
            holder=f"process {os.getpid()} of {whoami()} on {platform.node()}",
            lease_s=lease_s,
            max_s=LONGEST_RUN_S,
            exclusive=exclusive,
        )
        introduction: wire.Ready = await self.in_time(ready, "start its runner", OPEN_WITHIN_S)
        self._tasks += [asyncio.create_task(self._beat()), asyncio.create_task(self._listen())]
        return introduction

    async def lost(self) -> PongbenchError:
        await self._over.wait()
        assert self.failure
        return self.failure

    async def start(self, command: Command) -> Process:
        key = self._next()
        started = self.expect(key, wire.Started)
        what = {"argv": [*command.argv], "env": {**command.env}, "cpus": [*command.cpus]}
        await self.send(op="start", id=key, cwd=command.cwd, nofile=command.nofile, **what)
        process: Process = await self.in_time(started, "start a program")
        return process

    async def ping(self) -> tuple[int, int]:
        """Return (offset_us, uncertainty_us) of its clock, from one round trip."""
        key = self._next()
        answer = self.expect(key, wire.Pong)
        sent = time.monotonic_ns()
        await self.send(op="ping", n=key)
        there_us, received = await self.in_time(answer, "answer")
        return (sent + received) // 2000 - there_us, (received - sent) // 2000 + 1

    async def read(self, paths: Sequence[str]) -> list[str | None]:
        key = self._next()
        answer = self.expect(key, wire.Read)
        await self.send(op="read", n=key, paths=list(paths))
        texts: list[str | None] = await self.in_time(answer, "read its files")
        if len(texts) != len(paths):
            self._fail_invalid(f"{len(texts)} texts for {len(paths)} files")
            raise await self.lost()
        return texts

    async def close(self) -> None:
        """End the run and the link. Never raises for what has already ended."""
        await to_the_end(self._close())

    async def _close(self) -> None:
        self._closing = True
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_WITHIN_S):
                    # Removing files can take long, without any message in between.
                    await ended(*self._tasks[1:])
                    with contextlib.suppress(PongbenchError):
                        await self.send(op="bye")
                    await asyncio.gather(*self._tasks[:1])
        finally:
            self._fail("it was closed")
            self._writer.close()
            await ended(*self._tasks)
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(1.0):  # The connection may be dead.
                    await self._writer.wait_closed()

    def expect(self, key: str = "", answer: type = object) -> asyncio.Future[Any]:
        """Return a future that fails when the link does; `key` matches it to its `answer`."""
        if self.failure:
            raise self.failure
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        if key:
            self._answers[key] = answer, future
        return future

    async def in_time(
        self, answer: asyncio.Future[T], what: str, within_s: float = ANSWER_WITHIN_S
    ) -> T:
        """Wait for an answer. Raises PongbenchError, "did not `what` within ...", when late."""
        try:
            async with asyncio.timeout(within_s):
                return await answer
        except TimeoutError:
            raise PongbenchError(f"'{self.name}' did not {what} within {within_s:.0f} s.") from None

    async def send(self, **message: Any) -> None:
        if self.failure:
            raise self.failure
        try:
            self._write(**message)
            async with asyncio.timeout(ANSWER_WITHIN_S):
                await self._writer.drain()
        except TimeoutError:
            self._fail(f"it took nothing for {ANSWER_WITHIN_S:.0f} s")
        except OSError as error:
            # The runner's last message, which is still on its way, names the cause.
            await asyncio.wait(self._tasks[:1], timeout=1)
            self._fail(f"the connection broke ({error.strerror or error})")
        if self.failure:
            raise self.failure from None

    def _write(self, **message: Any) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    def _answer(self, key: str, event: wire.Event, value: object) -> bool:
        """Resolve a pending answer. Returns whether it was still waited for."""
        wanted, future = self._answers.pop(key, (None, None))
        if wanted is not type(event):
            raise InvalidMessage(f"an unexpected answer ({type(event).__name__.lower()})")
        return resolve(future, value)

    def _refuse(self, key: str, sentence: str) -> None:
        _, future = self._answers.pop(key, (None, None))
        if future and not future.done():
            future.set_exception(PongbenchError(sentence))

    def _next(self) -> str:
        self._count += 1
        return str(self._count)

    async def _beat(self) -> None:
        with contextlib.suppress(PongbenchError):
            while True:
                await self.send(op="ping", n="")
                await asyncio.sleep(HEARTBEAT_S)

    async def _listen(self) -> None:
        await self._pulse.stops(SILENT_S)
        self._fail(f"it has not answered for {SILENT_S:.0f} s")

    async def _read(self, nonce: str) -> None:
        rest = b""
        try:
            chunk = await self._skip_noise(nonce.encode())
            while chunk:
                now = time.monotonic_ns()
                self._pulse.beat()
                *lines, rest = (rest + chunk).split(b"\n")
                if len(rest) > LONGEST_LINE:
                    raise InvalidMessage(f"a line of more than {LONGEST_LINE >> 20} MiB")
                for line in lines:
                    self._take(line, now)
                # A machine that never stops sending must not keep the others waiting.
                await asyncio.sleep(0)
                chunk = await self._reader.read(CHUNK)
            said = quoted(b" ".join(self._stray).decode("utf-8", "replace")[-300:])
            self._fail("the connection was closed" + (f" after saying: {said}" if said else ""))
        except OSError as error:
            self._fail(f"the connection broke ({error.strerror or error})")
        except InvalidMessage as error:
            self._fail_invalid(str(error))
        except Exception as error:
            log.exception("What the runner on %s said cannot be read", self.name)
            self._fail_invalid(f"{type(error).__name__}: {quoted(str(error))}")

    async def _skip_noise(self, nonce: bytes) -> bytes:
        """Skip the output of a login shell; return what follows the nonce."""
        seen = b""
        while chunk := await self._reader.read(CHUNK):
            seen += chunk
            _, found, rest = seen.partition(b"\n" + nonce + b"\n")
            if found:
                return rest or await self._reader.read(CHUNK)
            self._stray.extend(seen[-2000:].splitlines()[-5:])
            if len(seen) > MAX_NOISE:
                raise InvalidMessage(f"more than {MAX_NOISE >> 20} MiB before it began")
            await asyncio.sleep(0)
        return b""

    def _take(self, line: bytes, now: int) -> None:
        key, _, payload = line.partition(b" ")
        if key == b"-":
            self._take_event(payload, now)
        elif process := self._processes.get(key[:32].decode("ascii", "replace")):
            process.take(payload)
        elif line:
            self._stray.append(line[-2000:])

    def _take_event(self, payload: bytes, now: int) -> None:
        match event := decode(wire.DECODER, payload, LONGEST_LINE):
            case wire.Ready():
                self._answer("ready", event, event)
            case wire.Pong(n, monotonic_us):
                if n:
                    self._answer(n, event, (monotonic_us, now))
            case wire.Read(n, texts):
                self._answer(n, event, texts)
            case wire.Started(key, pid):
                started = Process(self, key, pid)
                self._processes[key] = started
                if not self._answer(key, event, started):  # The caller was cancelled.
                    self._write(op="stop", id=key, grace_s=0)
            case wire.Failed(key, error):
                self._refuse(key, f"'{self.name}' cannot start it: {quoted(error)}.")
            case wire.Busy(holder, there):
                self.failure = self.failure or MachineBusy(self.name, holder, there)
            case wire.Fatal(error):
                self.failure = self.failure or PongbenchError(
                    f"No run directory can be made on '{self.name}': {quoted(error)}; name another"
                    " folder in `work_dir` of its profile, or PONGBENCH_HOME for this computer."
                )
                self._fail("its runner ended")
            case wire.End(why, left, code):
                self.ended_itself = not left
                self._fail("it was closed" if why == "bye" else quoted(why), code or "machine-gone")
            case _:
                if process := self._processes.get(event.id):
                    process.take_event(event)

    def _fail_invalid(self, what: str) -> None:
        self._fail(f"its runner sent an invalid message ({what})")

    def _fail(self, why: str, code: str = "machine-gone") -> None:
        absence = self._pulse.absence(self._lease_s - HEARTBEAT_S, ABSENT_WITHIN_S)
        if absence and not self.failure and not self._closing:
            # Without contact for as long as its lease, a runner ends itself.
            self.failure = PongbenchError(absence.text(), code="lease-expired")
        if self.failure is None:
            sentence = f"The machine '{self.name}' is gone: {why}."
            self.failure = PongbenchError(sentence, code=code)
        for future in list(self._waiting):
            if not future.done():
                future.set_exception(self.failure)
                future.exception()  # No caller waits for it any more.
        self._over.set()
        for process in self._processes.values():
            process.news.set()


def whoami() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # The system has no entry for this user.
        return "somebody"

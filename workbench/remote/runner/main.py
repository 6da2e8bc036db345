"""Starts guardian and runner, which carries out the commands of the workbench, and reports what
happens to the programs."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from .claims import Claimed, Run, claim
from .program import (
    POLL_S,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    PROCESS_MARK,
    Program,
    descendants,
    end_descendants,
    environment,
    has_mark,
    prctl,
    send_signal,
)

MAX_UNSENT = 8 << 20
"""With this many bytes waiting for a slow reader, further lines are dropped and counted."""
PER_LINE = 64
"""Overhead of a line in bytes for whoever reads it, however short it is."""
LONGEST_S = 10.0
"""From SIGKILL on: the kernel may take as long to free the memory of a process. Those that have
become another user's stay."""
GRACE_S = 0.3
"""Time from SIGTERM to SIGKILL when the run ends without a `bye`, in seconds."""


class Runner:
    """Carries out commands until the run ends; see the docstring of the package."""

    def __init__(self, config: Mapping[str, Any], run: Run, umask: int) -> None:
        self.run_folder = run
        self.lease_s = float(config["lease_s"])
        self.max_s = float(config["max_s"])
        self.holder = str(config["holder"])
        self.input = b""
        self.output = bytearray(f"\n{config['nonce']}\n".encode())
        self.umask = umask
        self.programs: dict[str, Program] = {}
        """Those that run, or whose output is still open."""
        self.kill_at: dict[str, float] = {}
        self.pid = os.getpid()
        self.poll = select.epoll()
        self.handlers: dict[int, Callable[[], object]] = {}
        self.claim: socket.socket | None = None
        self.beside: list[str] = []

    # -- the loop

    def run(self) -> NoReturn:
        signals, wake_up = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_up, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        os.set_blocking(0, False)
        os.set_blocking(1, False)
        self._listen(0, lambda: self._on_input(os.read(0, 1 << 16)))
        self._listen(signals, lambda: self._on_signals(os.read(signals, 512)))
        self.poll.register(1, 0)
        if self.claim:
            self._listen(self.claim.fileno(), self._report_holder)
        self.event(
            "ready",
            run=self.run_folder.path,
            python=sys.executable,
            version=".".join(map(str, sys.version_info[:3])),
            cpus=sorted(os.sched_getaffinity(0)),
            beside=self.beside,
        )
        self.renewed = started = time.monotonic()
        while True:
            self._write()
            self.poll.modify(1, select.EPOLLOUT if self.output else 0)
            left_s = self.renewed + self.lease_s - time.monotonic()
            wait_s = POLL_S if self.kill_at else min(0.5, max(0.0, left_s))
            for descriptor, what in self.poll.poll(wait_s):
                if descriptor == 1:
                    if what & (select.EPOLLERR | select.EPOLLHUP):
                        self.end("nobody listens any more")
                elif descriptor in self.handlers:
                    with contextlib.suppress(BlockingIOError):
                        self.handlers[descriptor]()
            for key in list(self.kill_at):
                self._go_on_stopping(key)
            now = time.monotonic()
            if now - self.renewed > self.lease_s:
                self.end("no heartbeat from the workbench", code="lease-expired")
            if now - started > self.max_s:
                self.end("the time limit of a run is over", code="time-limit")

    def end(self, why: str, grace_s: float = GRACE_S, *, code: str = "") -> NoReturn:
        left = end_descendants(grace_s)
        self.run_folder.remove()
        self.event("end", why=why, code=code, left=left)
        give_up = time.monotonic() + 0.3
        with contextlib.suppress(OSError):
            while self.output and time.monotonic() < give_up:
                with contextlib.suppress(BlockingIOError):
                    del self.output[: os.write(1, self.output[: 1 << 16])]
                    continue
                time.sleep(0.005)
        os._exit(0)

    def event(self, name: str, **values: Any) -> None:
        self.output += b"- " + json.dumps({"ev": name, **values}).encode() + b"\n"

    def _listen(self, descriptor: int, handler: Callable[[], object]) -> None:
        self.handlers[descriptor] = handler
        self.poll.register(descriptor, select.EPOLLIN)

    def _forget(self, descriptor: int) -> None:
        if self.handlers.pop(descriptor, None):
            self.poll.unregister(descriptor)

    def _write(self) -> None:
        try:
            while self.output:
                del self.output[: os.write(1, self.output[: 1 << 16])]
            for program in self.programs.values():
                program.unsent = 0
        except BlockingIOError:
            pass
        except OSError:
            self.end("nobody listens any more")

    def _report_holder(self) -> None:
        assert self.claim
        asking, _ = self.claim.accept()
        with asking, contextlib.suppress(OSError):
            asking.setblocking(False)
            asking.send(self.holder.encode())

    def _on_signals(self, numbers: bytes) -> None:
        for number in set(numbers) - {signal.SIGCHLD}:
            name = signal.Signals(number).name
            self.end(f"its runner got {name}, from a user there or a shutdown")
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    break
                for key, program in list(self.programs.items()):
                    if program.process.pid == pid and program.status is None:
                        self._on_exit(key, program, os.waitstatus_to_exitcode(status))

    def _on_input(self, chunk: bytes) -> None:
        if not chunk:
            self.end("the connection was closed")
        self.renewed = time.monotonic()
        *lines, self.input = (self.input + chunk).split(b"\n")
        for line in lines:
            message = json.loads(line)
            getattr(self, "do_" + message.pop("op"))(**message)

    # -- commands

    def do_ping(self, n: int) -> None:
        self.event("pong", n=n, monotonic_us=time.monotonic_ns() // 1000)

    def do_read(self, n: int, paths: Sequence[str]) -> None:
        self.event("read", n=n, texts=[read_text(path) for path in paths])

    def do_bye(self, grace_s: float = 1.0) -> None:
        self.end("bye", grace_s)

    def do_start(self, *, id: str, env: Mapping[str, str], cwd: str, **asked: Any) -> None:
        folder = self.run_folder
        try:
            program = Program(
                id,
                env={**environment(folder.path, folder.lock, id), **env},
                cwd=os.path.join(folder.path, cwd),
                umask=self.umask,
                **asked,
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            where = getattr(error, "filename", None)
            said = getattr(error, "strerror", None) or str(error)
            self.event("failed", id=id, error=f"{said}: {where}" if where else said)
            return
        self.programs[id] = program
        self._listen(program.stdout, lambda: self._on_output(id, program))
        self.event("started", id=id, pid=program.process.pid)

    def do_write(self, id: str, line: str) -> None:
        program = self.programs.get(id)
        if program and program.process.stdin and not program.process.stdin.closed:
            if len(program.unwritten) > MAX_UNSENT:
                program.dropped += 1
                return
            program.unwritten += line.encode("utf-8", "surrogateescape") + b"\n"
            self._feed(program)

    def do_stop(self, id: str, grace_s: float) -> None:
        for pid in self._family(id):
            send_signal(pid, signal.SIGTERM)
            send_signal(pid, signal.SIGCONT)  # A stopped process would not handle SIGTERM.
        self.kill_at[id] = time.monotonic() + grace_s

    # -- programs

    def _family(self, key: str) -> list[int]:
        """Return the processes of a program: its descendants and those that daemonised."""
        program, own = self.programs.get(key), set()
        if program and program.status is None:
            own = {program.process.pid, *descendants(program.process.pid)}
        mark = f"{PROCESS_MARK}={key}".encode()
        return [pid for pid in descendants(self.pid) if pid in own or has_mark(pid, mark)]

    def _feed(self, program: Program) -> None:
        """Write pending input to a program's stdin, as much as it accepts."""
        assert program.process.stdin
        try:
            while program.unwritten:
                del program.unwritten[: os.write(program.stdin, program.unwritten[: 1 << 16])]
        except BlockingIOError:
            if program.stdin not in self.handlers:
                self.handlers[program.stdin] = lambda: self._feed(program)
                self.poll.register(program.stdin, select.EPOLLOUT)
            return
        except OSError:  # The program closed its stdin.
            program.unwritten.clear()
        self._forget(program.stdin)

    def _on_output(self, key: str, program: Program) -> bool:
        """Forward a program's output. Returns whether more may follow."""
        chunk = os.read(program.stdout, 1 << 16)
        lines = program.lines(chunk) if chunk else program.last_line()
        fits = max(len(self.output), 2 * program.unsent) <= MAX_UNSENT
        if not fits:
            program.dropped += lines.count(b"\n")
        if program.dropped and (fits or not chunk):
            self.event("dropped", id=key, lines=program.dropped)
            program.dropped = 0
        if fits:
            program.unsent += len(lines) + PER_LINE * lines.count(b"\n")
            self.output += lines
        if not chunk:
            assert program.process.stdout
            self._forget(program.stdout)
            program.process.stdout.close()
            self.event("eof", id=key)
            self._release(key, program)
        return bool(chunk)

    def _on_exit(self, key: str, program: Program, status: int) -> None:
        program.status = program.process.returncode = status
        self._forget(program.stdin)
        assert program.process.stdin and program.process.stdout
        program.process.stdin.close()
        with contextlib.suppress(BlockingIOError):  # Output from before it ended.
            for _ in range(32):
                if program.process.stdout.closed or not self._on_output(key, program):
                    break
        self.event("exit", id=key, status=status)
        self._release(key, program)

    def _release(self, key: str, program: Program) -> None:
        """Release the resources of a program that has ended: a long run starts many."""
        assert program.process.stdout
        if program.status is not None and program.process.stdout.closed:
            self.programs.pop(key, None)

    def _go_on_stopping(self, key: str) -> None:
        program = self.programs.get(key)
        family = self._family(key)
        reaped = program is None or program.status is not None
        late_s = time.monotonic() - self.kill_at[key]
        if (reaped and not family) or late_s > LONGEST_S:
            del self.kill_at[key]
            self.event("stopped", id=key, left=len(family))
        elif late_s >= 0:
            for pid in family:
                send_signal(pid, signal.SIGKILL)


def read_text(path: str) -> str | None:
    """Return the first 256 KiB of a file; None if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return file.read(1 << 18).decode("utf-8", "replace")
    except OSError:
        return None


def guard(runner: int, run: Run) -> NoReturn:
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: send_signal(runner, signal.SIGTERM))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)  # So that only the runner holds the connection.
    while os.waitpid(-1, 0)[0] != runner:
        pass
    end_descendants(0)
    run.remove()
    os._exit(0)


def main() -> None:
    with open(0, "rb", buffering=0, closefd=False) as stdin:  # Commands follow the first line.
        line = stdin.readline()
    if not line.endswith(b"\n"):
        sys.exit(1)
    config = json.loads(line)
    umask = os.umask(0o077)
    cache = os.path.realpath(os.path.expanduser(config["cache"]))
    try:
        run = Run(cache, config["run"], config["holder"])
    except OSError as error:
        event = {"ev": "fatal", "error": f"{error.strerror}: {error.filename or cache}"}
        os.write(1, f"\n{config['nonce']}\n- {json.dumps(event)}\n".encode())
        sys.exit(1)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    guardian = os.getpid()
    try:
        runner = os.fork()
    except OSError:
        run.remove()
        raise
    if runner:
        guard(runner, run)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    body = Runner(config, run, umask)
    if config.get("exclusive"):
        try:
            body.claim, body.beside = claim()
        except Claimed as claimed:
            holder, there = claimed.args
            body.event("busy", holder=holder, there=there)
            body.end("another run is on this machine")
    if os.getppid() != guardian:
        body.end("the guardian died")
    try:
        body.run()
    except Exception as error:
        body.end(f"an error in the runner: {type(error).__name__}: {error}")

"""Runs programs on a machine, and ends all of them when its connection ends.

A single file for the standard library of Python 3.10 or later: it is sent to other people's
machines. Two processes stand for a run. The *guardian* is the parent, and the subreaper
in case the *runner*, its only child, is killed; the runner is the subreaper of its programs, so
that daemonised processes stay within reach. Each ends everything when the other one ends.

The first line on stdin is the configuration (JSON):
    nonce, cache, run, holder, lease_s, max_s, exclusive (refuse while this user or root has a run)
then commands, one JSON object a line; each renews the lease:
    {"op": "hb"}
    {"op": "start", "id", "argv", "env", "cwd", "nofile", "cpus"} -> started | failed
    {"op": "write", "id", "line"}             a line for its stdin
    {"op": "stop", "id", "grace_s"}           -> (exit) stopped
    {"op": "read", "n", "paths"}              -> read: texts, null for an unreadable file
    {"op": "ping", "n"}                       -> pong: monotonic_us
    {"op": "bye", "grace_s"}                  -> end; the run is over
On stdout, after the line `<nonce>`, every line is `<id> <payload>`: the merged output of the
program with that id, or, for the id `-`, an event of the runner in JSON:
    ready, busy, fatal, started, failed, exit, eof, stopped, dropped, read, pong, end
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import pwd
import re
import resource
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

MAX_LINE = 1 << 20
"""Longer lines of output are cut to this length."""
MAX_UNSENT = 8 << 20
"""With this many bytes waiting for a slow reader, further lines are dropped and counted."""
GRACE_S = 0.3
"""Time from SIGTERM to SIGKILL when the run ends without a `bye`, in seconds."""
POLL_S = 0.02

RUN_MARK = "PONGBENCH_RUN"
"""Environment variable of every started program: the lock of its run, for the janitor."""
PROCESS_MARK = "PONGBENCH_PROCESS"

PASSED_ON = (
    *("HOME", "USER", "LOGNAME", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)
CLAIM = "pongbench/"
"""Prefix of abstract socket names; the user id follows. The kernel frees a name with its owner."""
MOST_BESIDE = 3
"""At most this many runs of other users are reported."""
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None)


def prctl(option: int, value: int) -> None:
    libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


class Run:
    """The run's directory (0700) and its lock, held while guardian or runner are alive."""

    def __init__(self, cache: str, name: str, holder: str) -> None:
        runs = os.path.join(cache, "runs")
        os.makedirs(runs, mode=0o700, exist_ok=True)
        self.path = os.path.join(runs, name)
        self.lock = self.path + ".lock"
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        while True:
            self._descriptor = os.open(self.lock, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._descriptor), os.stat(self.lock)):
                    break
            os.close(self._descriptor)  # A janitor removed it before it was locked.
        try:
            os.write(self._descriptor, holder.encode())
            os.makedirs(os.path.join(self.path, "tmp"), mode=0o700)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        remove_tree(self.path)
        with contextlib.suppress(OSError):
            os.unlink(self.lock)


def remove_tree(path: str) -> None:
    """Remove a directory, including subdirectories without write permission."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        for folder, names, _ in os.walk(path):
            for name in names:
                below = os.path.join(folder, name)
                if not os.path.islink(below):
                    os.chmod(below, 0o700)
        shutil.rmtree(path, ignore_errors=True)


def descendants(root: int) -> list[int]:
    """Return the processes below `root`, without zombies."""
    children: dict[int, list[int]] = {}
    alive = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                children.setdefault(int(parent), []).append(int(name))
                if state not in b"ZX":
                    alive.add(int(name))
    found = []
    todo = [root]
    while todo:
        below = children.get(todo.pop(), [])
        todo += below
        found += [pid for pid in below if pid in alive]
    return found


def send_signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def may_signal(pid: int) -> bool:
    """Return False for a process that has become another user's."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return False
    except OSError:
        pass
    return True


def end_descendants(grace_s: float) -> int:
    """Send SIGTERM, after `grace_s` SIGKILL, until no child is left. Returns how many survived that
    for two seconds."""
    kill_at = time.monotonic() + grace_s
    asked: set[int] = set()
    while True:
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return 0
        now = time.monotonic()
        left = descendants(os.getpid())
        if now > kill_at + 2:
            return len(left)
        for pid in left:
            if now >= kill_at:
                send_signal(pid, signal.SIGKILL)
            elif pid not in asked:
                asked.add(pid)
                send_signal(pid, signal.SIGTERM)
        time.sleep(POLL_S / 2)


def has_mark(pid: int, mark: bytes) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return mark in file.read().split(b"\0")
    return False


class Claimed(Exception):
    """A run of this user or of root is on the machine: what it reports about itself, and its owner
    according to the kernel."""


def claim() -> tuple[socket.socket, list[str]]:
    """Claim the machine for this run, and return the runs of other users on it.

    Any user can take any abstract socket name, so only this user and root can keep a run out. If
    another user holds our name, a random one is used. Raises Claimed.
    """
    own = f"{CLAIM}{os.getuid()}"
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        name = own
        try:
            ours.bind("\0" + own)
        except OSError:
            time.sleep(POLL_S)  # It may not be listening yet.
            examine_claim(own)
            name = f"{own}/{os.urandom(8).hex()}"
            ours.bind("\0" + name)
        ours.listen(64)
        ours.setblocking(False)
        found = {other: examine_claim(other) for other in claims() if other != name}
    except BaseException:
        ours.close()
        raise
    return ours, list(dict.fromkeys(found.values()))[:MOST_BESIDE]


def claims() -> list[str]:
    """Return the names of all claims on this machine."""
    with open("/proc/net/unix", "rb") as file:
        names = re.findall(
            rb" @(%s\d{1,10}(?:/[0-9a-f]{16})?)$" % CLAIM.encode(), file.read(), re.M
        )
    # Accepted connections carry the name of their listening socket.
    return sorted({name.decode() for name in names})


def examine_claim(name: str) -> str:
    """Describe the process of another user that holds a name. Raises Claimed when it belongs to
    this user or to root."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect("\0" + name)
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            return f"a process that does not answer; `sudo ss -xlp` shows it, as @{name}"
        pid, uid, _ = struct.unpack("3i", credentials)
        there = f"process {pid} of {user_name(uid)}{command_of(pid)}"
        if uid in (os.getuid(), 0):
            asking.settimeout(1.0)
            reply = b""
            with contextlib.suppress(OSError):
                reply = asking.recv(500)
            raise Claimed(reply.decode("utf-8", "replace"), there)
        return there


def user_name(uid: int) -> str:
    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read(200).replace(b"\0", b" ").decode("utf-8", "replace").split()
        return f" ({' '.join(words)[:80]})" if words else ""
    return ""


class Program:
    """A started program: its process, its output split into lines, its stdin."""

    def __init__(self, key: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout
        self.prefix = key.encode() + b" "
        self.process = process
        self.stdin = process.stdin.fileno()
        self.stdout = process.stdout.fileno()
        self.unwritten = bytearray()
        self.partial = bytearray()
        self.dropped = 0
        self.status: int | None = None
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)

    def lines(self, chunk: bytes) -> bytes:
        """Return the lines that `chunk` completes, each with its prefix and newline."""
        head, newline, rest = chunk.partition(b"\n")
        self.partial += head[: MAX_LINE - len(self.partial)]
        if not newline:
            return b""
        first = self.prefix + self.partial + newline
        whole, newline, last = rest.rpartition(b"\n")
        self.partial = bytearray(last)
        if not newline:
            return first
        return first + self.prefix + whole.replace(b"\n", b"\n" + self.prefix) + newline

    def last_line(self) -> bytes:
        """Return the output after the last newline as a line."""
        line = self.prefix + self.partial + b"\n" if self.partial else b""
        self.partial = bytearray()
        return line


class Runner:
    """Carries out commands until the run ends; see the module's docstring."""

    def __init__(self, config: Mapping[str, Any], run: Run, rest: bytes, umask: int) -> None:
        self.run_folder = run
        self.lease_s = float(config["lease_s"])
        self.max_s = float(config["max_s"])
        self.holder = str(config["holder"])
        self.input = bytearray(rest)
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
        self.event("ready", **self.introduction())
        self._handle_commands()
        started = time.monotonic()
        self.renewed = started
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

    def introduction(self) -> dict[str, Any]:
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        return {
            "run": self.run_folder.path,
            "pid": self.pid,
            "python": sys.executable,
            "version": ".".join(map(str, sys.version_info[:3])),
            "boot": boot,
            "cpus": sorted(os.sched_getaffinity(0)),
            "beside": self.beside,
        }

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
        self.input += chunk
        self._handle_commands()

    def _handle_commands(self) -> None:
        self.renewed = time.monotonic()
        *lines, rest = self.input.split(b"\n")
        self.input = rest
        for line in lines:
            message = json.loads(line)
            getattr(self, "do_" + message.pop("op"))(**message)

    # -- commands

    def do_hb(self) -> None:
        """Do nothing more: any command renews the lease."""

    def do_ping(self, n: int) -> None:
        self.event("pong", n=n, monotonic_us=time.monotonic_ns() // 1000)

    def do_read(self, n: int, paths: Sequence[str]) -> None:
        self.event("read", n=n, texts=[read_text(path) for path in paths])

    def do_bye(self, grace_s: float = 1.0) -> None:
        self.end("bye", grace_s)

    def do_start(
        self,
        *,
        id: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str,
        nofile: int,
        cpus: Sequence[int],
    ) -> None:
        def prepare() -> None:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != self.pid:
                os._exit(127)  # The runner died before it reported this.
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, limit)
            if cpus:
                os.sched_setaffinity(0, cpus)

        try:
            limit = descriptor_limit(nofile)
            missing = sorted(set(cpus) - os.sched_getaffinity(0))
            if missing:
                raise ValueError(f"core {missing[0]} is not among those this machine allows")
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=os.path.join(self.run_folder.path, cwd),
                env={**self._environment(id), **env},
                start_new_session=True,
                umask=self.umask,
                preexec_fn=prepare,  # noqa: PLW1509  no threads here
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.event("failed", id=id, error=explain(error))
            return
        program = self.programs[id] = Program(id, process)
        self._listen(program.stdout, lambda: self._on_output(id, program))
        self.event("started", id=id, pid=process.pid, nofile=limit[0] if limit else 0)

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

    def _environment(self, key: str) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TMPDIR": os.path.join(self.run_folder.path, "tmp"),
            RUN_MARK: self.run_folder.lock,
            PROCESS_MARK: key,
        }

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
        self._pass_on(key, program, program.lines(chunk) if chunk else program.last_line())
        if not chunk:
            self._close_output(key, program)
        return bool(chunk)

    def _pass_on(self, key: str, program: Program, lines: bytes) -> None:
        if len(self.output) > MAX_UNSENT:
            program.dropped += lines.count(b"\n")
            return
        if program.dropped:
            self.event("dropped", id=key, lines=program.dropped)
            program.dropped = 0
        self.output += lines

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

    def _close_output(self, key: str, program: Program) -> None:
        assert program.process.stdout
        self._forget(program.stdout)
        program.process.stdout.close()
        if program.dropped:
            self.event("dropped", id=key, lines=program.dropped)
            program.dropped = 0
        self.event("eof", id=key)
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
        # Our processes will end, however long the kernel takes to free their memory.
        longest_s = 10 if any(map(may_signal, family)) else 2
        if (reaped and not family) or late_s > longest_s:
            del self.kill_at[key]
            self.event("stopped", id=key, left=len(family))
        elif late_s >= 0:
            for pid in family:
                send_signal(pid, signal.SIGKILL)


def descriptor_limit(wanted: int) -> tuple[int, int] | None:
    """Return (soft, hard) limits to set for `wanted` descriptors; None: leave them unchanged."""
    if not wanted:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY or wanted <= hard:
        return wanted, hard
    with open("/proc/sys/fs/nr_open") as file:
        wanted = max(hard, min(wanted, int(file.read())))
    # Raising the hard limit needs a capability, which even root may lack.
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, wanted))
    except (OSError, ValueError):
        return hard, hard
    return wanted, wanted


def explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return error.strerror + where
    return str(error)


def read_text(path: str) -> str | None:
    """Return the first 256 KiB of a file; None if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            return file.read(1 << 18).decode("utf-8", "replace")
    except OSError:
        return None


def read_config() -> tuple[dict[str, Any], bytes]:
    """Return the first line and the bytes received after it. Exits when there is no first line."""
    line = bytearray()
    while b"\n" not in line:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            sys.exit(1)
        line += chunk
    first, _, rest = bytes(line).partition(b"\n")
    return json.loads(first), rest


def guard(runner: int, run: Run) -> NoReturn:
    """Run the guardian: wait for the runner to end, then end whatever is left."""
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
    config, rest = read_config()
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
    body = Runner(config, run, rest, umask)
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


if __name__ == "__main__":
    main()

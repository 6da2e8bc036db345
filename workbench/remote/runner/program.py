"""A program that is started: its process, its output split into lines, its stdin."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

POLL_S = 0.02
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
libc = ctypes.CDLL(None)


def prctl(option: int, value: int) -> None:
    libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


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


def end_descendants(grace_s: float) -> int:
    """Send SIGTERM, after `grace_s` SIGKILL. Returns how many children survived two seconds."""
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


MAX_LINE = 1 << 20
"""Longer lines of output are cut to this length."""

RUN_MARK = "PONGBENCH_RUN"
"""Environment variable of every started program: the lock of its run, for the janitor."""
PROCESS_MARK = "PONGBENCH_PROCESS"

PASSED_ON = (
    *("HOME", "USER", "LOGNAME", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)


class Program:
    def __init__(
        self,
        key: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        nofile: int,
        cpus: Sequence[int],
        umask: int,
    ) -> None:
        """Start it; it dies with this process. Raises OSError, ValueError, SubprocessError."""
        runner = os.getpid()

        def prepare() -> None:
            prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != runner:
                os._exit(127)  # The runner died before it reported this.
            if limit:
                resource.setrlimit(resource.RLIMIT_NOFILE, limit)
            if cpus:
                os.sched_setaffinity(0, cpus)

        limit = descriptor_limit(nofile)
        missing = sorted(set(cpus) - os.sched_getaffinity(0))
        if missing:
            raise ValueError(f"core {missing[0]} is not among those this machine allows")
        self.process = process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=env,
            start_new_session=True,
            umask=umask,
            preexec_fn=prepare,  # noqa: PLW1509  no threads here
        )
        assert process.stdin and process.stdout
        self.prefix = key.encode() + b" "
        self.stdin, self.stdout = process.stdin.fileno(), process.stdout.fileno()
        self.unwritten, self.partial = bytearray(), bytearray()
        self.dropped = 0
        self.unsent = 0
        """Bytes of output, with the overhead of each line, since all was sent last; of one program
        at most half of what may wait, so that one which floods does not cost others theirs."""
        self.status: int | None = None
        os.set_blocking(self.stdin, False)
        os.set_blocking(self.stdout, False)

    def lines(self, chunk: bytes) -> bytes:
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
        line = self.prefix + self.partial + b"\n" if self.partial else b""
        self.partial = bytearray()
        return line


def environment(run: str, lock: str, key: str) -> dict[str, str]:
    return {
        **{name: os.environ[name] for name in PASSED_ON if name in os.environ},
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "TMPDIR": os.path.join(run, "tmp"),
        RUN_MARK: lock,
        PROCESS_MARK: key,
    }


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

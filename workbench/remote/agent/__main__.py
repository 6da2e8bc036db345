"""The agent's first process, the supervisor: starts one worker per core, and forwards commands and
events.

    python -m workbench.remote.agent [--workers N] [--cpus 1,2] [--worker MODULE]

It never imports gevent, so that forking the workers is safe, and it offers no load itself.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import importlib
import json
import os
import platform
import resource
import selectors
import signal
import struct
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .protocol import VERSION

_PR_SET_PDEATHSIG = 1


@dataclass
class WorkerProcess:
    """A worker as the supervisor sees it."""

    number: int
    pid: int
    commands: int
    output: int
    received: bytes = b""


def main(argv: list[str]) -> int:
    """Serve until stdin closes, a signal arrives or a worker dies."""
    parser = argparse.ArgumentParser(prog="agent", description="Pongbench load agent")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cpus", default="", help="cores, comma-separated; worker k gets k-th")
    parser.add_argument("--worker", default=f"{__package__}.worker", help="its `run` is a worker")
    args = parser.parse_args(argv)
    cpus = [int(cpu) for cpu in args.cpus.split(",") if cpu]
    raise_descriptor_limit()
    processes = [_fork_worker(number, cpus, args.worker) for number in range(args.workers)]
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    try:
        _say({"ev": "hello", "version": VERSION})
        return _serve(processes)
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(process.pid, signal.SIGKILL)
                os.waitpid(process.pid, 0)


def raise_descriptor_limit() -> None:
    """Raise the descriptor limit as far as allowed: each connection needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _serve(processes: list[WorkerProcess]) -> int:
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ, None)
    for process in processes:
        selector.register(process.output, selectors.EVENT_READ, process)
    received = b""
    while True:
        for key, _ in selector.select():
            if key.data is not None:
                if not _pass_up(key.data):
                    text = f"worker {key.data.number} {_ended(key.data.pid)}"
                    _say({"ev": "error", "text": text})
                    return 1
                continue
            data = os.read(0, 65536)
            if not data:
                return 0
            *lines, received = (received + data).split(b"\n")
            for line in lines:
                _pass_down(line, processes)


def _pass_down(line: bytes, processes: list[WorkerProcess]) -> None:
    """Send a command to every worker with its own share."""
    try:
        command = json.loads(line)
        op = command["op"]
        first = command["load"].get("share", 0) if op == "point" else 0
    except (ValueError, KeyError, TypeError, AttributeError):
        _say({"ev": "error", "text": f"not a command: {line[:80]!r}"})
        return
    for process in processes:
        if op == "point":
            mine = {**command, "load": {**command["load"], "share": first + process.number}}
            os.write(process.commands, json.dumps(mine).encode() + b"\n")
        else:
            os.write(process.commands, line + b"\n")


def _pass_up(process: WorkerProcess) -> bool:
    data = os.read(process.output, 1 << 20)
    whole, newline, rest = (process.received + data).rpartition(b"\n")
    process.received = rest
    if newline:
        _write(whole + newline)
    return bool(data)


def _say(event: dict[str, Any]) -> None:
    _write(json.dumps(event).encode() + b"\n")


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def _fork_worker(number: int, cpus: Sequence[int], worker: str) -> WorkerProcess:
    commands_out, commands_in = os.pipe()
    output_out, output_in = os.pipe()
    supervisor = os.getpid()
    pid = os.fork()
    if pid:
        os.close(commands_out)
        os.close(output_in)
        return WorkerProcess(number, pid, commands_in, output_out)
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(1)
        if cpus:
            os.sched_setaffinity(0, {cpus[number % len(cpus)]})
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ask_for_short_slices()
        os.close(commands_in)
        os.close(output_out)
        # gevent must not be there before the fork.
        importlib.import_module(worker).run(number, commands_out, output_in)
    except Exception as error:
        text = f"worker {number} ended by {type(error).__name__}: {error}"
        event = {"ev": "error", "id": None, "worker": number, "text": text}
        os.write(output_in, json.dumps(event).encode() + b"\n")
    finally:
        os._exit(1)


def _ended(pid: int) -> str:
    """Return how a worker ended that closed its output: "ended with status 7"."""
    for _ in range(500):  # It may still be ending.
        # It is not reaped, so that its number stays its own until all are ended.
        if found := os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            how = "with status" if found.si_code == os.CLD_EXITED else "by signal"
            return f"ended {how} {found.si_status}"
        time.sleep(0.01)
    return "ended"


_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
"""The number of the system call, which C libraries before glibc 2.41 do not have."""
_KEEP_POLICY = 8
_SHORTEST_NS = 100_000


def ask_for_short_slices() -> None:
    """Ask for the shortest slices of CPU time there are (Linux 6.12 and later; others ignore it).

    A process with a shorter slice than the one that runs may take over as soon as it wakes, unless
    it has had its share of the core (see docs/tools.md for what that gains). The share stays the
    same, and no privilege is needed.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is None:
        return
    # struct sched_attr: size, policy, flags, nice, priority, runtime, deadline, period.
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = struct.pack("=IIQiIQQQ", 48, 0, _KEEP_POLICY, nice, 0, _SHORTEST_NS, 0, 0)
    ctypes.CDLL(None).syscall(number, 0, attributes, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The agent's first process, the supervisor: starts one worker per core, and forwards commands and
events.

    python -m workbench.remote.agent [--workers N] [--cpus 1,2] [--worker MODULE]

It never imports gevent, so that forking the workers is safe, and it offers no load itself.
"""

from __future__ import annotations

import argparse
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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """Serve until stdin closes, a signal arrives or a worker dies; the others die with this."""
    parser = argparse.ArgumentParser(prog="agent", description="Pongbench load agent")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--cpus", default="", help="cores, comma-separated; worker k gets k-th")
    parser.add_argument("--worker", default=f"{__package__}.worker", help="its `run` is a worker")
    args = parser.parse_args(argv)
    cpus = [int(cpu) for cpu in args.cpus.split(",") if cpu]
    raise_descriptor_limit()
    workers = [_fork_worker(number, cpus, args.worker) for number in range(args.workers)]
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _write(1, {"ev": "hello"})
    selector = selectors.DefaultSelector()
    selector.register(0, selectors.EVENT_READ, None)
    for worker in workers:
        selector.register(worker.output, selectors.EVENT_READ, worker)
    while True:
        for key, _ in selector.select():
            data, worker = os.read(key.fd, 1 << 20), key.data
            if worker is not None and not data:
                _write(1, {"ev": "error", "text": f"worker {worker.number} {_ended(worker.pid)}"})
                return 1
            if worker is not None:
                _pass_up(worker, data)
            elif data:
                for each in workers:
                    os.write(each.commands, data)
            else:
                return 0


def raise_descriptor_limit() -> None:
    """Raise the descriptor limit as far as allowed: each connection needs one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _pass_up(worker: WorkerProcess, data: bytes) -> None:
    """Write whole lines, so that those of several workers do not mix."""
    whole, newline, worker.received = (worker.received + data).rpartition(b"\n")
    os.write(1, whole + newline)


def _write(descriptor: int, event: dict[str, Any]) -> None:
    os.write(descriptor, json.dumps(event).encode() + b"\n")


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
        _write(output_in, {"ev": "error", "id": None, "worker": number, "text": text})
    finally:
        os._exit(1)


def _ended(pid: int) -> str:
    """Return how a worker ended that closed its output: "ended with status 7"."""
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"


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

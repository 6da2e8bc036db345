"""What receiving a message costs the ZeroMQ client beyond pyzmq's own `recv`, and why.

The catalogue's source sends PUSH to PULL over tcp. Loops that do ever more of what the client does
take the same messages in turns, in one process, as does the client's own loop. Printed is the CPU
time of the receiving thread per message: time in which it waits for the sender does not count, nor
does the thread of libzmq that reads the socket.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from time import monotonic_ns, perf_counter_ns, thread_time_ns
from typing import Any

import zmq
from zeromq import free_port

from workbench import paths
from workbench.remote.agent.protocol import Load
from workbench.remote.generators.zeromq import GIVEN, Point, _receive

ROUNDS = int(os.environ.get("ROUNDS", "7"))
SIZES = [int(size) for size in os.environ.get("SIZES", "32,512").split(",")]
COUNT = 300_000
IN_SLICES = "in slices of 20 ms"


def bare(receive: Callable[[], bytes], count: int) -> None:
    for _ in range(count):
        receive()


def in_slices(receive: Callable[[], bytes], count: int) -> None:
    left = iter(range(count))
    while True:
        try:
            for _ in left:
                receive()
        except zmq.Again:
            continue
        return


def looked_at(receive: Callable[[], bytes], count: int) -> None:
    for _ in range(count):
        if receive()[GIVEN]:
            pass


def added_up(receive: Callable[[], bytes], count: int) -> None:
    number = untimed = 0
    while number < count:
        data = receive()
        number += 1
        if not data[GIVEN]:
            untimed += 1


def all_timed(receive: Callable[[], bytes], count: int) -> None:
    for _ in range(count):
        receive()
        monotonic_ns()


def not_copied(receive: Callable[..., Any], count: int) -> None:
    for _ in range(count):
        receive(copy=False)


LOOPS: dict[str, Callable[[Callable[[], bytes], int], None]] = {
    "recv": bare,
    IN_SLICES: in_slices,
    "and look for a header": looked_at,
    "and add up two counts": added_up,
    "and read the clock": all_timed,
    "recv(copy=False)": not_copied,
}
OURS = "the client's loop"


def main() -> int:
    port = free_port()
    program = str(paths.RESOURCES / "apps" / "zeromq.py")
    server = subprocess.Popen([sys.executable, program, "push-pull", "127.0.0.1", str(port), "128"])
    try:
        for size in SIZES:
            found: defaultdict[str, list[tuple[float, float]]] = defaultdict(list)
            for _ in range(ROUNDS):
                for name in (*LOOPS, OURS):
                    found[name].append(measure(name, port, size))
            report(size, found)
    finally:
        server.kill()
        server.wait()
    return 0


def measure(name: str, port: int, size: int) -> tuple[float, float]:
    """Return the receiving thread's CPU time of one message, in ns, and messages per second."""
    options = {"message_size": size, "transport": "tcp", "high_water_mark": 1000}
    load = Load("127.0.0.1", port, "zeromq", options, mode="closed", concurrency=1, seconds=3600)
    point = Point(load, lambda event, **data: None, lambda: False)
    point.connect(monotonic_ns())
    point.started_ns = monotonic_ns()
    point.next_window = point.until_ns = 1 << 62
    if name not in (OURS, IN_SLICES):
        point.sock.rcvtimeo = -1
    point.ask(op="start")
    point.sock.recv()
    gc.disable()
    began, cpu = perf_counter_ns(), thread_time_ns()
    if name == OURS:
        _receive(point, COUNT, lambda now, heard: False)
    else:
        LOOPS[name](point.sock.recv, COUNT)
    cpu, took = thread_time_ns() - cpu, perf_counter_ns() - began
    gc.enable()
    point.ask(op="stop")
    point.close()
    return cpu / COUNT, COUNT / took * 1e9


def report(size: int, found: dict[str, list[tuple[float, float]]]) -> None:
    print(f"\n{size} bytes: CPU time of the receiving thread per message, median of {ROUNDS}")
    base = [cpu for cpu, _ in found["recv"]]
    for name, each in found.items():
        cpu = statistics.median(ns for ns, _ in each)
        ratio = statistics.median(ns / b for (ns, _), b in zip(each, base, strict=True))
        per_s = statistics.median(rate for _, rate in each)
        print(f"{name:>26}  {cpu:>6.0f} ns  {ratio:>5.2f} times recv  {per_s:>10,.0f}/s")


if __name__ == "__main__":
    sys.exit(main())

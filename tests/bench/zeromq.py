"""Throughput and latency of the ZeroMQ client and servers, compared with the library's programs.

`local_thr` and `remote_thr` send PUSH to PULL, `local_lat` and `remote_lat` REQ to REP. They are
compiled from the sources of ZeroMQ (`SOURCE=folder`, for example of `apt-get source zeromq3`), and
linked with the libzmq of pyzmq's wheel, so that all sides run the same library. The same loops in
Python without anything measured in them, against each other and against the programs in C, show
what Python costs at each end. Everything is interleaved; medians are printed.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import zmq

from workbench import paths
from workbench.load.base import Client, PointSpec
from workbench.load.fleet import ZEROMQ as TOOL
from workbench.machines.local import open_local

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SIZES = [int(size) for size in os.environ.get("SIZES", "32,512,8192,131072").split(",")]
SECONDS = 2.0
PROGRAMS = ("local_thr", "remote_thr", "local_lat", "remote_lat")
SEND = "s = c.socket(zmq.PUSH); s.connect(a)\nfor _ in range(n): s.send(m)\ns.close(); c.term()"
RECEIVE = (
    "s = c.socket(zmq.PULL); s.bind(a); s.recv(); t = time.perf_counter()\n"
    "for _ in range(n - 1): s.recv()\nprint(n / (time.perf_counter() - t))"
)
ASK = (
    "s = c.socket(zmq.REQ); s.connect(a); t = time.perf_counter()\n"
    "for _ in range(n): s.send(m); s.recv()\nprint((time.perf_counter() - t) / n * 5e5)"
)
ANSWER = (
    "s = c.socket(zmq.REP); s.bind(a)\nfor _ in range(n): s.send(s.recv())\ns.close(); c.term()"
)

Measure = Callable[[int, int], float]
"""Of a size and a number of messages: messages per second, or microseconds of one way."""


def main() -> int:
    source = os.environ.get("SOURCE", "")
    if not source or not Path(source, "perf", "local_thr.cpp").is_file():
        print("give the sources of ZeroMQ: SOURCE=folder, for example of apt-get source zeromq3")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        build(Path(source), Path(folder))
        c = {name: [str(Path(folder, name))] for name in PROGRAMS}
        python = {
            name: [
                sys.executable,
                "-c",
                f"import sys, time, zmq\na, z, n = sys.argv[1:]\n"
                f"n = int(n); m = bytes(int(z)); c = zmq.Context()\n{text}",
            ]
            for name, text in zip(PROGRAMS, (RECEIVE, SEND, ANSWER, ASK), strict=True)
        }
        both = {"C": c, "Python": python}
        throughput: dict[str, Measure] = {
            f"{a} to {b}": partial(peers, both[b]["local_thr"], both[a]["remote_thr"], printer=0)
            for a in both
            for b in both
        }
        latency: dict[str, Measure] = {
            f"{a} and {b}": partial(peers, both[b]["local_lat"], both[a]["remote_lat"], printer=1)
            for a, b in (("C", "C"), ("Python", "Python"))
        }
        compare("messages/s", throughput | {"ours": partial(ours, "push-pull")}, 1_000_000)
        compare("us, one way", latency | {"ours": partial(ours, "req-rep")}, 8_000)
    return 0


def build(source: Path, folder: Path) -> None:
    """Compile the programs against the library in pyzmq's wheel."""
    libraries = Path(zmq.__file__).parents[1] / "pyzmq.libs"
    (library,) = libraries.glob("libzmq-*.so*")
    for name in PROGRAMS:
        subprocess.run(
            [
                *("g++", "-O2", "-o", folder / name, source / "perf" / f"{name}.cpp", library),
                *(f"-Wl,-rpath,{libraries}", "-Wl,--allow-shlib-undefined"),
            ],
            check=True,
        )


def compare(unit: str, measures: dict[str, Measure], most: int) -> None:
    print(f"\n{unit:>12}  " + "".join(f"{name:>20}" for name in measures), flush=True)
    for size in SIZES:
        count = max(2_000, min(most, (1 << 29) // size))
        found: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(ROUNDS):
            for name, measure in measures.items():
                found[name].append(measure(size, count))
        medians = {name: statistics.median(values) for name, values in found.items()}
        print(
            f"{size:>12}  " + "".join(f"{value:>20,.1f}" for value in medians.values()), flush=True
        )


def peers(local: list[str], remote: list[str], size: int, count: int, *, printer: int) -> float:
    """Run two programs; `printer`: which of them prints the figure."""
    address = f"tcp://127.0.0.1:{free_port()}"
    argv = [[*program, address, str(size), str(count)] for program in (local, remote)]
    started = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in argv]
    outputs = [process.communicate(timeout=120)[0] for process in started]
    lines = outputs[printer].splitlines()
    named = [line for line in lines if line.startswith(("mean throughput", "average latency"))]
    return float((named or lines)[0].rpartition(":")[2].split()[0])


def ours(pattern: str, size: int, count: int) -> float:
    """Measure for `SECONDS`, not `count` messages."""
    port = free_port()
    argv = [sys.executable, str(paths.RESOURCES / "apps" / "zeromq.py"), pattern, "127.0.0.1"]
    server = subprocess.Popen([*argv, str(port), "128"])
    try:
        return asyncio.run(_ours(pattern, size, port))
    finally:
        server.kill()
        server.wait()


async def _ours(pattern: str, size: int, port: int) -> float:
    options = {"message_size": size, "transport": "tcp", "high_water_mark": 1000}
    spec = PointSpec(
        host="127.0.0.1",
        port=port,
        workload="zeromq",
        options=options,
        mode="closed",
        concurrency=1,
        seconds=SECONDS,
    )
    with tempfile.TemporaryDirectory() as cache:
        machine = await open_local(cache_dir=Path(cache))
        load = await TOOL.start([Client(machine)])
        try:
            report = await load.run(spec, started=lambda at: None, on_window=lambda window: None)
        finally:
            await load.close()
            await machine.close()
    per_s = report.replies_in_schedule / report.schedule_s
    return per_s if pattern == "push-pull" else 1e6 / per_s / 2


def free_port() -> int:
    with zmq.Context() as context, context.socket(zmq.REP) as found:
        return found.bind_to_random_port("tcp://127.0.0.1")


if __name__ == "__main__":
    sys.exit(main())

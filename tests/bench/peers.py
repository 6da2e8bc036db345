"""What a connection, a request and a MB cost the load agent, beside `ab`, `httperf` and `wrk`.

One target (nginx answering from memory) on one core, every generator alone on another. CPU is
user and system time of the whole process as the kernel accounts it, start-up subtracted for all
alike. Runs are interleaved and repeated; medians and the ratio of each round are printed. Machines
are noisy: a ratio within a round says more than figures of different rounds.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "process"))

from agents import Agent, agent, target

ROUNDS = int(os.environ.get("ROUNDS", "5"))
CONNECTIONS = 30_000
REQUESTS = 400_000
KEPT = 50
"""Connections of the keep-alive comparison, as for `wrk -c50`."""
LONG = [(102_400, 0), (1 << 20, 0), (10 << 20, 0), (1 << 20, 30), (1 << 20, 100), (1 << 20, 16_384)]
"""Bytes of long replies, and of their chunks."""
LONG_MEGABYTES = 4_000
CONCURRENCY = 100
OPEN_RATE = 12_000
BUSY = 0.65
"""Share of a core at which the open loop is compared, too: near saturation, where CPU is what
counts. At a lower rate a worker mostly waits, and waking up for single connections costs more of
each; a closed loop never waits."""
HTTPERF_RATE = 6_000
PATIENCE_S = 20.0
HTTPERF_TRIES = 2
"""Now and then httperf waits for ever for a last connection."""

NGINX = """
worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 20000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 3600;
  client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
  uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{ default_type text/plain; return 200 "Pong!"; }}
  }}
}}
"""


@dataclass(frozen=True)
class Cost:
    """CPU microseconds for each connection or request."""

    user_us: float
    system_us: float

    @property
    def us(self) -> float:
        return self.user_us + self.system_us


Generator = Callable[[int], Cost]


def main(only: str = "") -> int:
    """`only`: "long" for long replies alone."""
    missing = [tool for tool in ("nginx", "ab", "httperf", "wrk") if not _which(tool)]
    if missing or len(os.sched_getaffinity(0)) < 2:
        print(f"needs two cores and {', '.join(missing) or 'nginx, ab, httperf, wrk'}")
        return 1
    target_core, client_core = sorted(os.sched_getaffinity(0))[:2]
    with nginx(target_core) as port:
        os.sched_setaffinity(0, {client_core})
        if only != "long":
            short(port)
        for size, chunk in LONG:
            with long_replies(target_core, size, chunk) as at:
                framing = f"in chunks of {chunk:,} bytes" if chunk else "plain"
                megabytes = size / (1 << 20)
                both: dict[str, Generator] = {
                    "agent": lambda port, megabytes=megabytes: agent_long(port, megabytes),
                    "wrk": lambda port, megabytes=megabytes: wrk(port, 1, megabytes),
                }
                what = f"CPU us per MB, replies of {megabytes:.4g} MB {framing}"
                compare(what, both, at, "wrk")
    return 0


def short(port: int) -> None:
    """Connections and calls with short replies."""
    busy = round(BUSY * 1e6 / ab(port).us)
    connections: dict[str, Generator] = {
        "agent, closed loop": agent_closed,
        f"agent at {OPEN_RATE:,}/s": lambda port: agent_open(port, OPEN_RATE),
        f"agent at {busy:,}/s": lambda port: agent_open(port, busy),
        "ab": ab,
        "httperf": httperf,
    }
    compare("CPU us per new connection", connections, port, "ab")
    requests: dict[str, Generator] = {"agent": agent_kept, "wrk": wrk}
    compare("CPU us per keep-alive request", requests, port, "wrk")


def compare(what: str, generators: dict[str, Generator], port: int, peer: str) -> None:
    costs: dict[str, list[Cost]] = {name: [] for name in generators}
    for _ in range(ROUNDS):
        for name, generator in generators.items():
            costs[name].append(generator(port))
    print(f"\n{what}: median of {ROUNDS} interleaved rounds")
    print(f"{'':22}{'user':>8}{'system':>8}{'both':>8}   ratio to {peer}, median (each round)")
    for name, found in costs.items():
        ratios = [mine.us / theirs.us for mine, theirs in zip(found, costs[peer], strict=True)]
        finished = [c for c in found if not math.isnan(c.us)] or found
        middle = [
            statistics.median(values)
            for values in zip(*((c.user_us, c.system_us, c.us) for c in finished), strict=True)
        ]
        reported = [ratio for ratio in ratios if not math.isnan(ratio)] or ratios
        rounds = " ".join(f"{ratio:.2f}" for ratio in ratios)
        figures = "".join(f"{value:8.2f}" for value in middle)
        print(f"{name:22}{figures}   {statistics.median(reported):.2f} ({rounds})")


@contextlib.contextmanager
def nginx(core: int) -> Iterator[int]:
    port = 18_800
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "nginx.conf")
        config.write_text(NGINX.format(folder=folder, port=port))
        argv = ["taskset", "-c", str(core), _which("nginx") or "", "-c", str(config)]
        with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:
            try:
                wait_for(port)
                yield port
            finally:
                process.terminate()


def ab(port: int) -> Cost:
    """`ab`, as in the benchmark of 2013, without keep-alive."""
    argv = ["ab", "-q", "-n", str(CONNECTIONS), "-c", str(CONCURRENCY), f"http://127.0.0.1:{port}/"]
    output, cost = spend(argv, CONNECTIONS)
    _must("Complete requests:", CONNECTIONS, output)
    return cost


def httperf(port: int) -> Cost:
    """`httperf`, as in the benchmark of 2009. It polls the clock all the time (`--hog`)."""
    argv = ["httperf", "--hog", "--timeout=5", "--server=127.0.0.1", f"--port={port}", "--uri=/"]
    argv += [f"--rate={HTTPERF_RATE}", f"--num-conns={CONNECTIONS}", "--num-calls=1"]
    argv += ["--send-buffer=4096", "--recv-buffer=16384"]
    for _ in range(HTTPERF_TRIES):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return spend(argv, CONNECTIONS)[1]
    return Cost(float("nan"), float("nan"))


@contextlib.contextmanager
def long_replies(core: int, size: int, chunk: int) -> Iterator[int]:
    """A server whose replies have a body of `size` bytes, in chunks of `chunk`; 0: plain."""
    with target("long", f"{size}/{chunk}", ("taskset", "-c", str(core))) as server:
        yield server.port


def wrk(port: int, connections: int = KEPT, each: float = 1) -> Cost:
    """`each`: things in a request."""
    argv = ["wrk", "-t1", f"-c{connections}", "-d4s", f"http://127.0.0.1:{port}/"]
    before = _children_cpu()
    output = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    done = re.search(r"(\d+) requests in", output)
    assert done, output
    return _cost(before, _children_cpu(), int(done[1]) * each)


def agent_long(port: int, megabytes: float) -> Cost:
    calls = round(LONG_MEGABYTES / megabytes)
    load = {"connections": 1, "concurrency": 1, "calls_per_connection": calls}
    return agent_cost(port, calls, each=megabytes, mode="closed", protocol="http/1.1", **load)


def agent_closed(port: int) -> Cost:
    """The same load shape as `ab`'s."""
    return agent_cost(
        port, CONNECTIONS, mode="closed", concurrency=CONCURRENCY, connections=CONNECTIONS
    )


def agent_open(port: int, rate_per_s: int) -> Cost:
    """The same load shape as `httperf`'s."""
    return agent_cost(port, CONNECTIONS, rate_per_s=rate_per_s, connections=CONNECTIONS)


def agent_kept(port: int) -> Cost:
    return agent_cost(
        port,
        REQUESTS,
        mode="closed",
        concurrency=KEPT,
        connections=KEPT,
        calls_per_connection=REQUESTS // KEPT,
        protocol="http/1.1",
    )


def agent_cost(port: int, things: int, each: float = 1, **load: object) -> Cost:
    """CPU time of all processes of the agent, minus that of an agent without load, for each of
    `things`; `each`: how many of those are in a call."""
    before = _children_cpu()
    with agent():
        pass
    idle = _children_cpu()
    with agent() as running:
        _offer(running, port, things, load)
    return _cost(idle, _children_cpu(), things * each, less=_minus(idle, before))


def _offer(running: Agent, port: int, things: int, load: dict[str, object]) -> None:
    outcome = running.run(port, timeout_s=30.0, **{"protocol": "pong", **load})
    assert outcome.total("replies") == things, outcome.errors


def spend(argv: list[str], things: int) -> tuple[str, Cost]:
    before = _children_cpu()
    result = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    return result.stdout, _cost(before, _children_cpu(), things)


def _children_cpu() -> tuple[float, float]:
    """(user, system) seconds of all terminated children."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime, usage.ru_stime


def _minus(a: tuple[float, float], b: tuple[float, float]) -> tuple[float, float]:
    return a[0] - b[0], a[1] - b[1]


def _cost(
    before: tuple[float, float],
    after: tuple[float, float],
    things: float,
    less: tuple[float, float] = (0.0, 0.0),
) -> Cost:
    user, system = _minus(_minus(after, before), less)
    return Cost(user / things * 1e6, system / things * 1e6)


def _which(tool: str) -> str | None:
    return shutil.which(tool) or shutil.which(tool, path="/usr/sbin:/sbin")


def _must(label: str, number: int, output: str) -> None:
    found = re.search(rf"{label}\s+(\d+)", output)
    assert found and int(found[1]) == number, output


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "nginx did not start"
            time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

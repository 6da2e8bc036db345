"""Workers of Locust as far as their master sees them, many in one process without gevent:
python locust_fakes.py PLACE PORT WORKERS RATE
python locust_fakes.py PLACE cost

PLACE: where Locust is; RATE: requests per second of each that has users; cost: CPU time that one
report takes of the master, without any network.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from importlib.metadata import version
from typing import Any

sys.path[:0] = [sys.argv[1]]

import msgpack
import zmq

EVERY_S = 3.0
WINDOW_S = 0.2
NAMES = ("page", "item")


def bucket(us: int) -> int:
    return us if us < 2048 else ((e := us.bit_length() - 11) << 10) + (us >> e)


class Content:
    """What each report has: Locust's own part, and that of our plug-in."""

    def __init__(self, rate: int) -> None:
        draw = random.Random(1)
        size, windows = int(rate * EVERY_S / len(NAMES)), round(EVERY_S / WINDOW_S)
        times = {name: [draw.lognormvariate(2, 0.5) for _ in range(size)] for name in NAMES}
        self.requests = size * len(NAMES)
        self.stats = [self.entry(name, "GET", times[name]) for name in NAMES]
        self.total = self.entry("Aggregated", "", [ms for of in times.values() for ms in of])
        self.counted = [
            (
                back + 1,
                n,
                list(Counter(bucket(round(ms * 1000)) for ms in of[back::windows]).items()),
            )
            for back in range(windows)
            for n, of in enumerate(times.values())
        ]

    def entry(self, name: str, method: str, times: list[float]) -> dict[str, Any]:
        now = time.time()
        return {
            "name": name,
            "method": method,
            "last_request_timestamp": now,
            "start_time": now,
            "num_requests": len(times),
            "num_none_requests": 0,
            "num_failures": 0,
            "total_response_time": sum(times),
            "max_response_time": max(times),
            "min_response_time": min(times),
            "total_content_length": 100 * len(times),
            "response_times": dict(Counter(round(ms) for ms in times)),
            "num_reqs_per_sec": {int(now) - back: len(times) // 3 for back in range(3)},
            "num_fail_per_sec": {},
        }

    def report(self, users: dict[str, int]) -> dict[str, Any]:
        ns, busy = time.monotonic_ns(), bool(users)
        window = ns // round(WINDOW_S * 1e9)
        return {
            "stats": self.stats if busy else [],
            "stats_total": self.total,
            "errors": {},
            "user_classes_count": users,
            "user_count": sum(users.values()),
            "pongbench": {
                "now": ns,
                "cpu": time.process_time_ns(),
                "client": "",
                "counted": [[window - b, n, of, []] for b, n, of in self.counted] if busy else [],
                "places": [["", self.requests]] if busy else [],
            },
        }


class Fake:
    """One worker."""

    def __init__(self, context: Any, port: int, number: int, of: int) -> None:
        self.name = f"fake{number}_{random.getrandbits(128):032x}"
        self.sock = context.socket(zmq.DEALER)
        self.sock.setsockopt(zmq.IDENTITY, self.name.encode())
        self.sock.connect(f"tcp://127.0.0.1:{port}")
        self.users: dict[str, int] = {}
        self.state = "ready"
        self.beats = time.monotonic() + number / of
        self.reports = time.monotonic() + EVERY_S * number / of
        self.send("client_ready", version("locust"))

    def send(self, kind: str, data: Any) -> int:
        packed: bytes = msgpack.dumps((kind, data, self.name))
        self.sock.send(packed)
        return len(packed)

    def take(self) -> bool:
        """Do what the master says. Returns whether it goes on."""
        kind, data, _ = msgpack.loads(self.sock.recv(), strict_map_key=False)
        if kind == "spawn":
            self.users, self.state = data["user_classes_count"], "running"
            count = {"user_classes_count": self.users, "user_count": sum(self.users.values())}
            self.send("spawning", None)
            self.send("spawning_complete", count)
        elif kind == "stop":
            self.users, self.state = {}, "ready"
            self.send("client_stopped", None)
            self.send("client_ready", version("locust"))
        return bool(kind != "quit")


def main(port: int, workers: int, rate: int) -> None:
    content, context, poller = Content(rate), zmq.Context(), zmq.Poller()
    fakes = {}
    for number in range(workers):
        fake = Fake(context, port, number, workers)
        fakes[fake.sock] = fake
        poller.register(fake.sock, zmq.POLLIN)
    size, late_s, parent = 0, 0.0, os.getppid()
    while fakes and os.getppid() == parent:
        for sock, _ in poller.poll(20):
            if sock in fakes and not fakes[sock].take():
                del fakes[sock]
                poller.unregister(sock)
        now = time.monotonic()
        for fake in fakes.values():
            if now >= fake.beats:
                fake.beats += 1.0
                usage = {"current_cpu_usage": 50, "current_memory_usage": 10**8}
                fake.send("heartbeat", {"state": fake.state, **usage})
            if now >= fake.reports:
                late_s = max(late_s, now - fake.reports)
                fake.reports += EVERY_S
                size = max(size, fake.send("stats", content.report(fake.users)))
    print(
        f"  a report has {size:,} bytes; these workers were at most {late_s:.2f} s late themselves"
    )


def cost(rate: int = 200, reports: int = 1_000) -> None:
    import locust  # noqa: PLC0415  it changes sockets
    from locust.env import Environment  # noqa: PLC0415
    from locust.rpc import Message  # noqa: PLC0415
    from locust.runners import WorkerNode  # noqa: PLC0415

    from workbench.remote.agent.protocol import Load  # noqa: PLC0415
    from workbench.remote.generators.locust import master  # noqa: PLC0415

    content, took = Content(rate), {}
    for ours in (False, True):
        environment = Environment(user_classes=[], events=locust.event.Events())
        runner = environment._create_runner(
            master.Master, master_bind_host="127.0.0.1", master_bind_port=0
        )
        runner.clients["h_1"] = WorkerNode("h_1")
        if ours:
            worker = master.MasterWorker.__new__(master.MasterWorker)
            worker.reporters, worker.invalid, worker.runner, worker.team = {}, set(), runner, set()
            load = Load(host="h", port=1, workload="locust", seconds=60.0)
            worker.test = test = master.Test(load, len(NAMES))
            test.start_ns = time.monotonic_ns() - 10**10
            test.end_ns = test.start_ns + 60 * 10**9
            environment.events.worker_report.add_listener(worker.on_report)
        packed = msgpack.dumps(("stats", content.report({"Visitor": 2_000}), "h_1"))
        before = time.process_time()
        for _ in range(reports):
            runner.handle_message("h_1", Message.unserialize(packed))
        took[ours] = 1e6 * (time.process_time() - before) / reports
        if ours:
            assert test.clients["h"].replies == reports * content.requests
    print(
        f"a report of {content.requests} requests ({len(packed):,} bytes) takes"
        f" {took[True]:.0f} µs of the master, of which Locust itself {took[False]:.0f} µs"
    )


if __name__ == "__main__":
    if sys.argv[2:] == ["cost"]:
        cost()
    else:
        main(*map(int, sys.argv[2:5]))

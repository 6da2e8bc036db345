"""Response times of long replies: the load agent beside two other clients, at the same server.

`curl` reads the framing, as every client of HTTP must. The plain client is a blocking socket that
reads into one buffer until it has as many bytes as the reply has: it parses nothing, so no client
can be quicker. Runs are interleaved; medians of all rounds are printed, and the difference from
each in units of what is allowed (10 % and 0.2 ms): negative where the agent is quicker.
"""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "process"))

from agents import HTTP, agent, target

from workbench.analysis import histogram

ROUNDS = int(os.environ.get("ROUNDS", "5"))
RATE_PER_S, CALLS = 20, 60
SIZES = (102_400, 1 << 20, 10 << 20)
CHUNKS = (0, 30, 100, 16_384)
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def main() -> int:
    print(f"p50 in ms at {RATE_PER_S}/s, one connection for each call, {ROUNDS} rounds")
    titles = ("agent", "curl", "plain", "to curl", "to plain")
    print(f"{'bytes':>12}{'chunks':>8}{''.join(f'{each:>9}' for each in titles)}")
    for size in SIZES:
        for chunk in CHUNKS:
            with target("long", f"{size}/{chunk}") as server:
                whole = length(server.port)
                rounds = [
                    (by_agent(server.port), by_curl(server.port), plainly(server.port, whole))
                    for _ in range(ROUNDS)
                ]
            ours, *others = (statistics.median(times) for times in zip(*rounds, strict=True))
            times = "".join(f"{each:9.2f}" for each in (ours, *others))
            parts = "".join(f"{(ours - each) / (0.1 * each + 0.2):9.0%}" for each in others)
            print(f"{size:12,}{chunk:8,}{times}{parts}", flush=True)
    return 0


def by_agent(port: int) -> float:
    with agent() as it:
        outcome = it.run(port, **HTTP, rate_per_s=RATE_PER_S, connections=CALLS)
    assert outcome.total("replies") == CALLS, outcome.errors
    times = histogram.percentiles(outcome.reports[0]["histograms"]["service"])
    assert times
    return times.p50 / 1000


def by_curl(port: int) -> float:
    """One process for each call, as the agent has one connection: curl's own clock begins after
    its start."""
    command = ["curl", "--silent", "--output", os.devnull, "--write-out", "%{time_total}"]
    times = []
    began = time.monotonic()
    for number in range(CALLS):
        time.sleep(max(0.0, began + number / RATE_PER_S - time.monotonic()))
        address = f"http://127.0.0.1:{port}/"
        said = subprocess.run([*command, address], capture_output=True, check=True, text=True)
        times.append(float(said.stdout))
    return statistics.median(times) * 1000


def plainly(port: int, size: int) -> float:
    buffer, times = bytearray(65_536), []
    began = time.monotonic()
    for number in range(CALLS):
        time.sleep(max(0.0, began + number / RATE_PER_S - time.monotonic()))
        sent, left = time.monotonic(), size
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(REQUEST)
            while left:
                left -= sock.recv_into(buffer)
            times.append(time.monotonic() - sent)
    return statistics.median(times) * 1000


def length(port: int) -> int:
    """Bytes of the whole reply."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(REQUEST)
        sock.shutdown(socket.SHUT_WR)
        size = 0
        while data := sock.recv(1 << 20):
            size += len(data)
    return size


if __name__ == "__main__":
    sys.exit(main())

"""What 10,000 WebSockets held open cost one worker of the load agent, and how late its echoes are,
compared with a bare epoll client in C (`websocket.c`) on the same server, the null server.

The two take turns. Memory is the peak of the process; per connection, less that of a run with 100.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "process"))

from agents import ROOT, agent

from workbench.analysis.histogram import percentiles

ROUNDS = int(os.environ.get("ROUNDS", "3"))
HELD = int(os.environ.get("HELD", "10000"))
FEW = 100
PER_S, RATE, SECONDS = 1_000.0, 100.0, 10
NULL = ROOT / "resources/servers/null-websocket/server.py"


def of_agent(port: int, held: int) -> tuple[float, float, float]:
    """Return p50 and p99 in us, and the peak memory of the worker in kB."""
    with agent() as load:
        outcome = load.run(
            port,
            workload="websocket",
            options={"message_size": 64, "reconnect_s": 0},
            rate_per_s=RATE,
            connections=int(RATE * SECONDS),
            held=held,
            held_per_s=PER_S,
            ramp_s=held / PER_S + 0.5,
        )
        children = Path(f"/proc/{load.process.pid}/task/{load.process.pid}/children")
        status = Path(f"/proc/{children.read_text().split()[0]}/status").read_text()
        memory = int(status.partition("VmHWM:")[2].split()[0])
    figures = outcome.reports[0]["figures"]
    assert figures["survivors"] == held and not outcome.errors, (figures, outcome.errors)
    found = percentiles(outcome.histogram("latency"))
    assert found
    return found.p50, found.p99, memory


def of_c(program: Path, port: int, held: int) -> tuple[float, float, float]:
    argv = [program, port, held, PER_S, int(RATE * SECONDS), RATE]
    made = subprocess.run([str(part) for part in argv], check=True, capture_output=True, text=True)
    p50, p99, memory, _ = map(float, made.stdout.split())
    return p50, p99, memory


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "websocket")
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["gcc", "-O2", "-o", program, source], check=True)
        port = 28_901
        argv = [sys.executable, str(NULL), "--port", str(port), "--backlog", "4096"]
        with subprocess.Popen(argv) as server:
            time.sleep(1.0)
            try:
                compare(program, port)
            finally:
                server.kill()


def compare(program: Path, port: int) -> None:
    idle = {"agent": of_agent(port, FEW)[2], "C": of_c(program, port, FEW)[2]}
    print(f"{'':8}{'p50 us':>10}{'p99 us':>10}{'peak kB':>10}{'B/connection':>14}")
    found: dict[str, list[tuple[float, float, float]]] = {"agent": [], "C": []}
    for _ in range(ROUNDS):
        found["agent"].append(of_agent(port, HELD))
        found["C"].append(of_c(program, port, HELD))
    for name, rounds in found.items():
        p50, p99, memory = (statistics.median(column) for column in zip(*rounds, strict=True))
        each = 1024 * (memory - idle[name]) / (HELD - FEW)
        print(f"{name:8}{p50:>10,.0f}{p99:>10,.0f}{memory:>10,.0f}{each:>14,.0f}")


if __name__ == "__main__":
    main()

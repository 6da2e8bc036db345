"""Capacity and accuracy of one worker of the load agent.

`python tests/bench/agent.py [ceiling] [open] [truth]`: all three by default. One server on one
core, the agent on another. Machines are noisy: each figure is the median of several rounds, with
the best and the worst.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "process")]

from agents import Agent, Outcome, agent, target

from workbench.analysis.histogram import mean, percentile

ROUNDS = 5
FULL_RATE = 14_000
OPEN = 15_000
SLEEPER = Path(__file__).with_name("sleeper.py")


def main(wanted: list[str]) -> int:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        print("needs two cores, one for the server and one for the agent")
        return 1
    parts: dict[str, Callable[[int, int], None]] = {
        "ceiling": ceiling,
        "open": open_at_once,
        "truth": truth,
    }
    for name in wanted or parts:
        parts[name](cores[0], cores[1])
    return 0


def ceiling(server_core: int, agent_core: int) -> None:
    """The null server at the full rate, and at parts of it, in turns with a program that only
    sleeps: as late as that is every program of the machine."""
    with pinned_target("null", "0", server_core) as null, pinned_agent(agent_core) as load:
        for rate in (FULL_RATE, FULL_RATE // 2, FULL_RATE // 4, FULL_RATE // 8):
            outcomes, bare = [], []
            for _ in range(ROUNDS):
                outcomes.append(offer(load, null.port, rate, 2 * rate))
                bare.append(asleep(rate, 2 * rate, agent_core))
            print(f"\n{rate:,} connections/s for 2 s against the null server, {ROUNDS} rounds")
            tell("errors, unsent", "", [lost(o) for o in outcomes])
            tell("offered / plan", "", [o.total("due") / (2 * rate) for o in outcomes], 5)
            for n, q in enumerate((0.5, 0.99)):
                late = [(percentile(o.histogram("lateness"), q) or 0) / 1000 for o in outcomes]
                tell(f"lateness p{q * 100:g}", "ms", late, 3)
                tell("  of a bare sleep", "ms", [each[n] for each in bare], 3)
                tell("  ratio", "", [a / b[n] for a, b in zip(late, bare, strict=True)], 2)
            cpu = [100 * at_end(o, "cpu_us") / at_end(o, "wall_us") for o in outcomes]
            tell("CPU of the worker", "% of its core", cpu, 1)


def asleep(rate: float, count: int, core: int) -> list[float]:
    """The lateness of `sleeper.py`, p50 and p99 in ms."""
    argv = ["taskset", "-c", str(core), sys.executable, str(SLEEPER), str(rate), str(count)]
    return [float(ms) for ms in subprocess.check_output(argv, text=True).split()]


def open_at_once(server_core: int, agent_core: int) -> None:
    """A server that accepts but never answers."""
    with pinned_target("hold", "0", server_core) as sustained, pinned_agent(agent_core) as load:
        memory: list[int] = []
        outcome = load.run(
            sustained.port,
            lambda window: memory.append(resident(load)),
            protocol="pong",
            rate_per_s=OPEN / 4,
            connections=OPEN,
            timeout_s=8.0,
        )
    most = max(window["in_flight"] for window in outcome.windows)
    print(f"\n{most:,} connections open at once; errors while they opened: ", end="")
    print({name: n for name, n in outcome.errors.items() if name != "client-timo"} or "none")
    print(f"memory of the agent, supervisor and worker together: {max(memory) / 1e6:.0f} MB")


def truth(server_core: int, agent_core: int) -> None:
    """Servers whose response is known."""
    with pinned_target("pong", "0.005", server_core) as slow, pinned_agent(agent_core) as load:
        outcomes = [offer(load, slow.port, 150, 450) for _ in range(ROUNDS)]
    print("\na server that spins for 5 ms before it answers")
    middle = [(percentile(o.histogram("service"), 0.5) or 0) / 1000 for o in outcomes]
    tell("service time p50", "ms", middle, 3)
    with pinned_target("stall", "1/5", server_core) as stalls, pinned_agent(agent_core) as load:
        outcome = offer(load, stalls.port, 200, 6_000, timeout_s=10.0)
    print("\na server that stands still for 1 s in every 5, at 200/s for 30 s")
    latency = outcome.histogram("latency")
    # A fifth of the connections meets a stall, each for the rest of it: uniform from 0 to 1 s.
    for q in (0.85, 0.9, 0.95, 0.99):
        expected = (q - 0.8) / 0.2
        found = (percentile(latency, q) or 0) / 1e6
        print(
            f"  latency p{q * 100:<4g}{found:7.3f} s, by arithmetic {expected:.3f} s,"
            f" {100 * (found / expected - 1):+.1f} %"
        )
    print(f"  latency mean {(mean(latency) or 0) / 1e6:.3f} s, by arithmetic 0.100 s")


def offer(load: Agent, port: int, rate: float, connections: int, timeout_s: float = 5.0) -> Outcome:
    return load.run(
        port, protocol="pong", rate_per_s=rate, connections=connections, timeout_s=timeout_s
    )


def lost(outcome: Outcome) -> float:
    return sum(outcome.errors.values()) + outcome.total("unsent")


def at_end(outcome: Outcome, name: str) -> int:
    """A figure of the only worker at the schedule's end."""
    value: int = outcome.reports[0]["at_schedule_end"][name]
    return value


def tell(what: str, unit: str, values: list[float], digits: int = 0) -> None:
    best, middle, worst = min(values), statistics.median(values), max(values)
    print(f"  {what:20}{middle:9,.{digits}f} {unit:14} ({best:,.{digits}f} to {worst:,.{digits}f})")


def resident(load: Agent) -> int:
    """Bytes used by the supervisor and its workers."""
    pid = load.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    pages = sum(int(Path(f"/proc/{p}/statm").read_text().split()[1]) for p in [pid, *children])
    return pages * os.sysconf("SC_PAGE_SIZE")


def pinned_target(mode: str, argument: str, core: int):  # type: ignore[no-untyped-def]
    return target(mode, argument, wrap=("taskset", "-c", str(core)))


def pinned_agent(core: int):  # type: ignore[no-untyped-def]
    return agent(wrap=("taskset", "-c", str(core)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

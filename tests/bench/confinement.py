"""What confinement costs a server: CPU per connection with and without it, interleaved.

`python tests/bench/confinement.py [SERVER...]`: the null server and some others by default. Both
run at once on one core, are loaded in turns by an agent on another, and read from
/proc/PID/schedstat; each figure is the median of several rounds, with the best and the worst.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1] / "process")]

from agents import agent

import workbench.servers.deploy as deploying
from workbench.machines.local import open_local
from workbench.machines.runner_client import Command
from workbench.servers.catalogue import Catalogue

SERVERS = ("null", "asyncio-protocol", "tornado")
ROUNDS = 12
RATE = 2_000
CONNECTIONS = 4_000


async def main(names: list[str]) -> int:
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        print("needs two cores, one for the servers and one for the agent")
        return 1
    machine = await open_local()
    catalogue = Catalogue.load(extra_dirs=[])
    try:
        for name in names or SERVERS:
            entry = catalogue[name]
            confined = await deploying.deploy(machine, entry, cpus=cores[:1])
            kept, deploying.confined = deploying.confined, as_it_is
            try:
                bare = await deploying.deploy(machine, entry, cpus=cores[:1])
            finally:
                deploying.confined = kept
            print(f"\n{entry.name}, confined by {confined.confinement.text}")
            servers = {"confined": confined, "bare": bare}
            await asyncio.to_thread(compare, servers, cores[1])
            await confined.stop()
            await bare.stop()
    finally:
        await machine.close()
    return 0


async def as_it_is(machine: object, entry: object, command: Command, runtime: object) -> Command:
    return command


def compare(servers: dict[str, Any], core: int) -> None:
    costs: dict[str, list[float]] = {name: [] for name in servers}
    with agent(wrap=("taskset", "-c", str(core))) as load:
        for turn in range(ROUNDS + 1):
            for name in sorted(servers, reverse=bool(turn % 2)):
                server = servers[name]
                before = spent_us(server.pid)
                outcome = load.run(
                    server.port,
                    protocol="pong",
                    rate_per_s=RATE,
                    connections=CONNECTIONS,
                    timeout_s=5.0,
                )
                if turn:  # the first is for warming up
                    spent = spent_us(server.pid) - before
                    costs[name].append(spent / outcome.total("replies"))
    for name, cost in costs.items():
        middle, best, worst = statistics.median(cost), min(cost), max(cost)
        print(f"  {name:10}{middle:8.2f} us of CPU a connection ({best:.2f} to {worst:.2f})")
    pairs = zip(costs["confined"], costs["bare"], strict=True)
    ratios = sorted(100 * (with_ / without - 1) for with_, without in pairs)
    print(f"  {statistics.median(ratios):+.1f} % ({ratios[0]:+.1f} to {ratios[-1]:+.1f} by round)")


def spent_us(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1000


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1:])))

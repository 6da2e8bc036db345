"""A workbench with machines open and something running on each, to be killed by tests.

Arguments: the names of profiles. Prints "ready" when all run, and what happened to each machine.
"""

from __future__ import annotations

import asyncio
import sys

from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.opening import open_machine
from workbench.machines.profiles import load_profile
from workbench.machines.runner_client import Command

TROUBLE = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.environ.clear()
        while True:
            open("daemon", "w").write("here")
            time.sleep(0.1)
    os._exit(0)
os.makedirs("deep/down")
print("here", flush=True)
time.sleep(600)
"""


async def main(names: list[str]) -> None:
    machines = [await open_machine(load_profile(name)) for name in names]
    await asyncio.gather(*map(trouble, machines))
    print("ready", flush=True)
    await asyncio.gather(*map(until_gone, machines))


async def trouble(machine: Machine) -> None:
    process = await machine.start(Command([*machine.python, "-c", TROUBLE]))
    async for line in process.lines():
        if line == b"here":
            break


async def until_gone(machine: Machine) -> None:
    try:
        while True:
            await machine.read(["/proc/uptime"])
            await asyncio.sleep(0.1)
    except PongbenchError as error:
        print(error, flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))

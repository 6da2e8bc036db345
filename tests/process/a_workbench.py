"""A program with a machine open and all kinds of stubborn processes on it, to be killed by tests.

Arguments: the cache directory, a mark that everything it starts bears, the lease in seconds, and
"settled" (prints so when all run) or "starting" (keeps starting programs).
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from workbench.machines.local import open_local
from workbench.machines.runner_client import Command

SLEEPER = "import time; print('here', flush=True); time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + SLEEPER
FAMILY = "import os; [os.fork() for _ in range(3)]; " + SLEEPER
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", MARK], {})
    os._exit(0)
os.wait()
print("here", flush=True)
time.sleep(600)
"""
BUILDER = """
import os, time
print("here", flush=True)
for number in range(10**9):
    os.makedirs(f"runtime/{number}/lib")
    open(f"runtime/{number}/lib/module.py", "w").write("x" * 5000)
    os.chmod(f"runtime/{number}/lib", 0o500)
    time.sleep(0.01)
"""


async def main(cache: Path, mark: str, lease_s: float, what: str) -> None:
    machine = await open_local(cache_dir=cache, lease_s=lease_s)

    def command(program: str) -> Command:
        program = program.replace("MARK", repr(mark))
        return Command([sys.executable, "-c", program, mark], env={"MARK": mark})

    while what == "starting":
        await machine.start(command(FAMILY))
        await asyncio.sleep(0.05)
    for program in (SLEEPER, DEAF, FAMILY, DAEMON, BUILDER):
        process = await machine.start(command(program))
        async for line in process.lines():
            if line == b"here":
                break
    print(json.dumps({"run_dir": machine.run_dir}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    cache, mark, lease_s, what = sys.argv[1:]
    asyncio.run(main(Path(cache), mark, float(lease_s), what))

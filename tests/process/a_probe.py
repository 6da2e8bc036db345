"""Deploys the server `probe` on this computer, as whoever runs this, and prints what it found.

    python a_probe.py FOLDER OPENED WANTED      the server's, one to keep from it, what it is to try

`WANTED` is JSON; {run}, {cache}, {venv} and {parent} in it are filled in. OPENED is the folder of a
server that runs beside it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

from workbench.machines.local import open_local
from workbench.servers.deploy import deploy
from workbench.servers.entry_reading import load_entry

PTRACE_SEIZE = 0x4206


async def main(folder: str, beside: str, wanted: str) -> None:
    machine = await open_local()
    try:
        other = await deploy(machine, load_entry(Path(beside)))
        probe = await deploy(machine, load_entry(Path(folder)))
        found = ask(probe.port, {})
        values = {
            "run": machine.run_dir,
            "cache": machine.cache_dir,
            "other": folder_of(other.pid),
            "parent": str(found["parent"]),
        }
        for name, value in values.items():
            wanted = wanted.replace(f"{{{name}}}", value)
        found = ask(probe.port, json.loads(wanted))
        record = probe.record().confinement
        traced = {"server": trace(probe.pid), "child": trace_child()}
        print(json.dumps({**found, "run": machine.run_dir, "record": record, "traced": traced}))
    finally:
        await machine.close()


def folder_of(pid: int) -> str:
    return str(Path(f"/proc/{pid}/cwd").readlink())


def trace(pid: int) -> str:
    """What an attempt to trace it, as a profiler does, ends with; the tracer goes at once."""
    seize = (
        "import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True);"
        f"failed = libc.ptrace({PTRACE_SEIZE}, int(sys.argv[1]), None, None);"
        "print(os.strerror(ctypes.get_errno()) if failed else 'traced')"
    )
    return subprocess.check_output([sys.executable, "-c", seize, str(pid)], text=True).strip()


def trace_child() -> str:
    """The same with a program that nothing confines."""
    with subprocess.Popen(["sleep", "60"]) as child:
        message = trace(child.pid)
        child.kill()
    return message


def ask(port: int, wanted: dict[str, object]) -> dict[str, object]:
    path = urllib.parse.quote(json.dumps(wanted))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port}/{path}", timeout=60) as answer:
        found: dict[str, object] = json.loads(answer.read())
        return found


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

"""Starts servers with the fewest privileges possible, whatever the machine's user has."""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.machines.base import Command, Machine
from workbench.remote import REMOTE
from workbench.rights import Confinement
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Runtime

LAUNCHER = REMOTE / "confine.py"
SPECIFICATION = "PONGBENCH_CONFINE"


async def confined(
    machine: Machine, entry: ServerEntry, command: Command, runtime: Runtime
) -> Command:
    """Wrap a command to run with those privileges. Its `cwd` is the folder of its files on the
    machine, its `env` the additions to every server's environment."""
    home = _home(machine, command)
    paths = [
        *runtime.placeholders.values(),
        *(path for value in runtime.env.values() for path in value.split(":")),
    ]
    task = {
        "folder": command.cwd,
        "home": home,
        "tmp": f"{machine.run_dir}/tmp/{Path(home).name}",
        "cache": machine.cache_dir,
        "uses": [path for path in paths if path.startswith("/")],
        "env": dict(command.env),
        "rights": sorted(entry.rights),
        "report": f"{home}.json",
    }
    launcher = await machine.tool(LAUNCHER)
    return Command(
        [*machine.python, launcher, *command.argv],
        env={SPECIFICATION: msgspec.json.encode(task).decode()},
        cwd=command.cwd,
        nofile=command.nofile,
        cpus=command.cpus,
    )


async def in_force(machine: Machine, command: Command) -> Confinement:
    """Return the privileges in force of a server started with `confined(command)`."""
    (text,) = await machine.read([f"{_home(machine, command)}.json"])
    return msgspec.json.decode(text or "{}", type=Confinement)


def _home(machine: Machine, command: Command) -> str:
    return f"{machine.run_dir}/homes/{Path(command.cwd).name}"

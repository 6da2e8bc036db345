"""Starts servers with as few rights as they can do with, whatever the machine's user has."""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.machines.base import Command, Machine
from workbench.rights import Confinement
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Runtime

LAUNCHER = Path(__file__).with_name("confine.py")
SPECIFICATION = "PONGBENCH_CONFINE"


async def confined(
    machine: Machine, entry: ServerEntry, command: Command, runtime: Runtime
) -> Command:
    """The same command with those rights. Its `cwd` is the folder of its files on the machine, its
    `env` all that it has beyond what every server has."""
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
    launcher = await machine.put(LAUNCHER, f"tools/{LAUNCHER.name}")
    return Command(
        [*machine.python, launcher, *command.argv],
        env={SPECIFICATION: msgspec.json.encode(task).decode()},
        cwd=command.cwd,
        nofile=command.nofile,
        cpus=command.cpus,
    )


async def in_force(machine: Machine, command: Command) -> Confinement:
    """Of a server that was started with `confined(command)`."""
    (text,) = await machine.read([f"{_home(machine, command)}.json"])
    return msgspec.json.decode(text or "{}", type=Confinement)


def _home(machine: Machine, command: Command) -> str:
    return f"{machine.run_dir}/homes/{Path(command.cwd).name}"

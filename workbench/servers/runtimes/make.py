"""Compiling servers: commands run once on the machine, with their output cached by content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.wire import Folder, quoted
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import Programs
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.builders import LONGEST_BUILD_S, run_builder
from workbench.servers.runtimes.packed import pack

MAKER = Path(__file__).with_name("make_server.py")


class _Made(msgspec.Struct):
    made: Folder


async def make(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    programs: Programs,
    notify: Notify,
) -> str:
    """Return the folder with the compiled files of `entry`.

    `folder`: its files on the machine. Raises PongbenchError when a command failed.
    """
    if not entry.make:
        return ""
    task = {
        "cache": machine.cache_dir,
        "work": f"{machine.run_dir}/tools",
        "folder": folder,
        "commands": entry.make,
        "values": {**programs.paths, "folder": folder},
        "made_of": [entry.files(), programs.versions],
        "id": entry.id,
    }

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "making":
            notify(f"Compiling {entry.name}")

    event = await run_builder(machine, MAKER, task, on_event, env=programs.env)
    detail = quoted(str(event.get("detail", ""))).rstrip(".")
    if event["event"] == "ready":
        try:
            return msgspec.convert(event, _Made).made
        except msgspec.ValidationError as error:
            detail = quoted(str(error))
    sentences = {
        "command": f"{entry.name} cannot be compiled on {machine.name}: {detail}.",
        "offline": f"{entry.name} cannot be compiled on {machine.name}, for packages it needs are"
        f" out of reach ({detail}); connect {machine.name} to the network once, the result is then"
        " kept.",
        "disk": f"There is no place for {entry.name} on {machine.name}: {detail}.",
        "slow": f"Compiling {entry.name} on {machine.name} took longer than {LONGEST_BUILD_S:.0f} s"
        " and was ended.",
    }
    lost = f"Compiling {entry.name} on {machine.name} ended without a result: {detail}."
    raise PongbenchError(sentences.get(str(event.get("why")), lost))


async def bring_made(machine: Machine, entry: ServerEntry, made: str, notify: Notify) -> str:
    """Copy files compiled on this computer to a machine over SSH. Returns the folder there."""
    if not made:
        return ""
    notify(f"Bringing what {entry.name} was compiled to, to {machine.name}")
    name = Path(made).name
    archive = paths.cache_dir() / "bundles" / f"made-{name}.tar.gz"
    if not archive.is_file():
        await asyncio.to_thread(pack, Path(made), archive)
    return await machine.bring(archive, f"made/{name}")

"""Compiling servers: commands run once on the machine, with their output cached by content."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import ProgramFailed
from workbench.formatting import clock
from workbench.machines.base import Machine
from workbench.machines.bundle import bring_tree
from workbench.machines.wire import Count, Folder, Text, quoted
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import Programs
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.builders import LONGEST_BUILD_S, last_lines, run_builder

MOST_SHOWN = 48
"""Characters of a compiler's line that fit beside the rest."""


class _Made(msgspec.Struct):
    made: Folder


class _Making(msgspec.Struct):
    elapsed_s: Count
    output: Text


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
        "folder": folder,
        "commands": entry.make,
        "values": {**programs.paths, "folder": folder},
        "made_of": [await asyncio.to_thread(_compiled_from, entry), programs.versions],
        "id": entry.id,
    }

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "making":
            notify(_progress(entry, event))

    event = await run_builder(machine, "make", task, on_event, env=programs.env)
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
    sentence = sentences.get(str(event.get("why")), lost)
    raise ProgramFailed(sentence, last_lines(event) if event.get("why") == "command" else [])


def _compiled_from(entry: ServerEntry) -> dict[str, str]:
    """Return its files, without its declaration, in which only the commands matter: facts and
    results are written there too."""
    return {name: digest for name, digest in entry.files().items() if name != "server.yaml"}


def _progress(entry: ServerEntry, event: dict[str, Any]) -> str:
    """Return "Compiling axum (1:40): Compiling tokio v1.48.0"."""
    try:
        making = msgspec.convert(event, _Making)
    except msgspec.ValidationError:
        making = _Making(0, "")
    so_far = f" ({clock(making.elapsed_s)})" if making.elapsed_s else ""
    last = quoted(making.output)
    last = last if len(last) <= MOST_SHOWN else f"{last[: MOST_SHOWN - 1]}…"
    return f"Compiling {entry.name}{so_far}{': ' if last else ''}{last}"


async def bring_made(machine: Machine, entry: ServerEntry, made: str, notify: Notify) -> str:
    """Copy files compiled on this computer to a machine over SSH. Returns the folder there."""
    if not made:
        return ""
    notify(f"Bringing what {entry.name} was compiled to, to {machine.name}")
    return await bring_tree(machine, Path(made), "made")

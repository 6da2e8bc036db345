"""Isolated Python runtimes, one for each set of pinned requirements, cached by content.

Built by uv on the machine, inside the run directory, and renamed into the cache when tested (see
`build_python`). A server without requirements gets an empty environment rather than the bare
interpreter, so that no server sees packages of the host, and all start in the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench import fetching
from workbench.errors import ProgramFailed
from workbench.machines.base import Machine
from workbench.remote import REMOTE
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import Programs
from workbench.servers.runtimes import Notify, Runtime, brought_python
from workbench.servers.runtimes.builders import LONGEST_BUILD_S, last_lines, run_builder
from workbench.servers.runtimes.bundled import bundled_runtime
from workbench.uv import uv_binary

BUILDER = REMOTE / "build_python.py"


async def prepare(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    notify: Notify,
    programs: Programs | None = None,
) -> Runtime:
    """Prepare the runtime of `entry`, whose files are in `folder` on the machine.

    A missing one is built, with the headers and libraries of `programs`.

    Raises PongbenchError when it cannot be built.
    """
    if (bundled := bundled_runtime(machine, entry)) is not None:
        return bundled
    if not machine.is_local:
        return await brought_python.prepare(machine, entry, notify)
    programs = programs or Programs()

    async def build(uv: str) -> dict[str, Any]:
        return await _build(machine, entry, folder, uv=uv, notify=notify, programs=programs)

    event = await build(uv_binary())
    if event.get("why") == "no-uv":
        notify(f"Copying uv to {machine.name}")
        event = await build(await machine.put(Path(uv_binary()), "tools/uv"))
    if event["event"] != "ready":
        raise ProgramFailed(_sentence(machine, entry, event), last_lines(event))
    return Runtime(
        placeholders={
            "python": event["python"],
            "venv": event["python"].removesuffix("/bin/python"),
        },
        name=event["name"],
        packages=event["packages"],
        built=event["built"],
    )


async def _build(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    *,
    uv: str,
    notify: Notify,
    programs: Programs,
) -> dict[str, Any]:
    """Run the builder and return its last event."""
    task = {
        "cache": machine.cache_dir,
        "work": f"{machine.run_dir}/tools",
        "uv": uv,
        "requirements": f"{folder}/{entry.requirements}" if entry.requirements else "",
        "imports": entry.imports,
        "build": entry.build,
        "unreached": fetching.UNREACHED,
    }

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "building":
            notify(f"Building the runtime of {entry.name}")

    return await run_builder(machine, BUILDER, task, on_event, env=programs.env)


def _sentence(machine: Machine, entry: ServerEntry, event: dict[str, Any]) -> str:
    detail = str(event["detail"]).rstrip(".")
    if "no usable wheels" in detail and not entry.build:
        detail += "; let it be compiled (build: true in its server.yaml)"
    package = event.get("package") or "What it requires"
    where = f"the runtime of {entry.name} on {machine.name}"
    connect = (
        f"connect {machine.name} to the network once, the runtime is then kept, or set"
        " UV_FIND_LINKS to a folder of wheels and UV_NO_INDEX to 1"
    )
    listed = entry.requirements or "a requirements.txt"
    if detail.startswith("Hash mismatch"):
        detail = f"its file in the package index has another hash than {listed} gives"
    sentences = {
        "install": f"{package} cannot be installed for {where}: {detail}.",
        "compile": f"{package} cannot be compiled for {where}: {detail}.",
        "no-compiler": (
            f"{package} has to be compiled for {where}, which has no C compiler; install one there"
            " (Debian: apt-get install gcc python3-dev)."
        ),
        "offline": (
            f"{package} cannot be fetched for {where}: {fetching.why_unreached(detail, connect)}."
        ),
        "incomplete": (
            f"{listed} of {entry.name} lacks what its packages require: {detail}; run `pongbench"
            f" catalogue lock {entry.id}`, which lists and pins all of them."
        ),
        "import": (
            f"What is installed for {where} does not work: {detail}; every package it needs must"
            f" be listed in {listed}, as uv pip compile writes it."
        ),
        "python": f"There is no Python for {where}: {detail}; install Python 3.11 or later there.",
        "disk": f"There is no place for {where}: {detail}.",
        "slow": f"Building {where} took longer than {LONGEST_BUILD_S:.0f} s and was ended.",
    }
    lost = f"Building {where} ended without a result: {detail or 'no output'}."
    return sentences.get(event["why"], lost)

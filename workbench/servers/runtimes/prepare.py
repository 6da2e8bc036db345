"""The prerequisites of a server: system programs, its runtime, its compiled files."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import ProgramFailed
from workbench.formatting import clock
from workbench.machines.base import Machine
from workbench.machines.bundle import bring_tree
from workbench.machines.local import LocalMachine, open_local
from workbench.machines.wire import Folder, quoted
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import MissingPrograms, Programs
from workbench.servers.requirements import normalised
from workbench.servers.runtimes import Notify, Runtime, heritage, python
from workbench.servers.runtimes.builders import (
    LONGEST_BUILD_S,
    confinement,
    last_lines,
    on,
    run_builder,
)
from workbench.servers.runtimes.provide import provide
from workbench.servers.sources import digest


async def prepare(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    *,
    notify: Notify,
    install: bool = False,
    source: Path | None = None,
) -> Runtime:
    """Prepare the runtime of `entry`, whose files are in `folder` on the machine; `source`: that of
    `source_at`, on this computer.

    Missing parts are built; for a machine over SSH, they are built on this computer and copied
    where possible. `install`: whether programs may be unpacked. Raises MissingPrograms without
    that consent, PongbenchError when the runtime cannot be provided.
    """
    if builds_for(machine, entry):
        try:
            return await _brought(machine, entry, source, notify=notify, install=install)
        except MissingPrograms as missing:
            raise missing.then(f"bring what it needs to {machine.name}") from None
    programs = await provide(machine, entry.programs, install=install, notify=notify)
    runtime = await _runtime(machine, entry, folder, programs, notify=notify, install=install)
    made = await make(machine, entry, folder, programs, notify, runtime=runtime, source=source)
    return _joined(runtime, programs, made)


def builds_for(machine: Machine, entry: ServerEntry) -> bool:
    """Return whether the entry is built, and builds of this computer run there: the same processor,
    and a C library no older than the one here."""
    there = machine.platform
    if there is None or sys.platform != "linux":
        return False
    if not (entry.make or entry.build or entry.runtime.removeprefix("python") in heritage.DEBS):
        return False
    library, version = platform.libc_ver()
    return (
        there.machine == platform.machine()
        and (there.libc, library) == ("glibc", "glibc")
        and _numbers(there.libc_version) >= _numbers(version)
    )


@contextlib.asynccontextmanager
async def _workshop(
    entry: ServerEntry, source: Path | None
) -> AsyncIterator[tuple[LocalMachine, str]]:
    """Open this computer, with the files of the entry in a folder. Raises PongbenchError."""
    here = await open_local()
    try:
        folder = await here.put(entry.folder, f"servers/{entry.id}")
        for path in entry.shared_paths:
            await here.put(path, f"{folder}/{path.name}")
        if source:
            await here.put(source, f"{folder}/source")
        yield here, folder
    finally:
        await here.close()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


async def _runtime(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    programs: Programs,
    *,
    notify: Notify,
    install: bool,
) -> Runtime:
    if entry.runtime == "none":
        return Runtime(placeholders={}, name="")
    if entry.runtime == "python":
        return await python.prepare(machine, entry, folder, notify, programs)
    return await heritage.prepare(
        machine, entry, folder, programs=programs, install=install, notify=notify
    )


async def _brought(
    machine: Machine, entry: ServerEntry, source: Path | None, *, notify: Notify, install: bool
) -> Runtime:
    """Build on this computer and copy, except for the programs it runs with, which are that
    machine's."""
    there = await provide(machine, entry.programs_at_run, install=install, notify=notify)
    async with _workshop(entry, source) as (here, folder):
        programs = await provide(here, entry.programs, install=install, notify=notify)
        if entry.runtime == "python" and not entry.build:
            runtime = await python.prepare(machine, entry, folder, notify, there)
        else:
            runtime = await _runtime(here, entry, folder, programs, notify=notify, install=install)
        made = await make(here, entry, folder, programs, notify, runtime=runtime, source=source)
    if entry.build:
        runtime = await python.bring_built(machine, entry, runtime, notify, there.env)
    elif entry.runtime in ("python2.7", "python3.9"):
        runtime = await heritage.bring(machine, entry, runtime, notify, there.env)
    if made:
        notify(f"Bringing what {entry.name} was compiled to, to {machine.name}")
        made = await bring_tree(machine, Path(made), "made")
    return _joined(runtime, there, made)


def _joined(runtime: Runtime, programs: Programs, made: str) -> Runtime:
    names = [runtime.name, *programs.described()]
    versions = {normalised(name): version for name, version in programs.versions.items()}
    return replace(
        runtime,
        placeholders={**runtime.placeholders, **programs.paths, "made": made},
        name=", ".join(filter(None, names)),
        packages={**versions, **runtime.packages},
        env=runtime.env or programs.env,
    )


MOST_SHOWN = 48
"""Characters of a compiler's line that fit beside the rest."""


async def make(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    programs: Programs,
    notify: Notify,
    *,
    runtime: Runtime,
    source: Path | None = None,
) -> str:
    """Return the folder with the compiled files of `entry`.

    `folder`: its files on the machine, with a foreign `source`, which is compiled confined.
    Raises PongbenchError when a command failed.
    """
    if not entry.make:
        return ""
    made_of = await asyncio.to_thread(entry.files)
    # Of its declaration only the commands matter: facts and results are written there too.
    made_of.pop("server.yaml", None)
    task: dict[str, Any] = {
        "folder": folder,
        "commands": entry.make,
        "values": {**runtime.placeholders, **programs.paths, "folder": folder},
        "made_of": [made_of, programs.versions],
        "id": entry.id,
    }
    if source:
        made_of["source"] = await asyncio.to_thread(digest, source)
        task["confined"] = await _confinement(machine, entry, programs, runtime)

    making = on("making", lambda event: notify(_progress(entry, event)))
    event = await run_builder(machine, "make", task, making, env=programs.env)
    detail = quoted(str(event.get("detail", ""))).rstrip(".")
    if event["event"] == "ready":
        try:
            return msgspec.convert(event.get("made"), Folder)
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


async def _confinement(
    machine: Machine, entry: ServerEntry, programs: Programs, runtime: Runtime
) -> dict[str, Any]:
    env = {**programs.env, "CFLAGS": str(entry.env.get("CFLAGS", ""))}
    if headers := runtime.placeholders.get("home"):  # of an old Python
        env["CPATH"] = ":".join(filter(None, (f"{headers}/usr/include", env.get("CPATH"))))
    listed = (path for value in env.values() for path in value.split(":"))
    used = (*runtime.placeholders.values(), *programs.paths.values(), *listed)
    return await confinement(machine, used, **env)


def _progress(entry: ServerEntry, event: dict[str, Any]) -> str:
    """Return "Compiling axum (1:40): Compiling tokio v1.48.0"."""
    elapsed_s = event.get("elapsed_s")
    so_far = f" ({clock(elapsed_s)})" if isinstance(elapsed_s, int) and elapsed_s > 0 else ""
    last = quoted(str(event.get("output", "")))
    last = last if len(last) <= MOST_SHOWN else f"{last[: MOST_SHOWN - 1]}…"
    return f"Compiling {entry.name}{so_far}{': ' if last else ''}{last}"

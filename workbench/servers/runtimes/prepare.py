"""The prerequisites of a server: system programs, its runtime, its compiled files."""

from __future__ import annotations

import asyncio
import platform
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from workbench.formatting import clock
from workbench.machines.base import Machine
from workbench.machines.bundle import bring_tree
from workbench.machines.local import open_local
from workbench.machines.wire import Folder, quoted
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import MissingPrograms, Programs, numbers
from workbench.servers.requirements import normalised
from workbench.servers.runtimes import Job, Runtime, heritage, python
from workbench.servers.runtimes.builders import (
    LONGEST_BUILD_S,
    confinement,
    detail_of,
    failure,
    on,
    run_builder,
)
from workbench.servers.runtimes.provide import provide
from workbench.servers.sources import digest


async def prepare(job: Job) -> Runtime:
    """Prepare all that a server needs. Missing parts are built; for a machine over SSH, on this
    computer where possible, and copied. Raises MissingPrograms without consent to unpack programs,
    PongbenchError when the runtime cannot be provided."""
    if builds_for(job.machine, job.entry):
        try:
            return await _brought(job)
        except MissingPrograms as missing:
            raise missing.then(f"bring what it needs to {job.machine.name}") from None
    job = await _provided(job)
    runtime = await _runtime(job)
    return _joined(runtime, job.programs, await make(job, runtime))


async def put_files(
    machine: Machine, entry: ServerEntry, place: str, source: Path | None = None
) -> str:
    """Copy the files of an entry, and its `source`, to a machine. Returns their folder there."""
    folder = await machine.put(entry.folder, place)
    for path in entry.shared_paths:
        await machine.put(path, f"{folder}/{path.name}")
    if source and entry.source_at and source.parent != entry.folder:
        package = f"/{entry.source_at.package}".rstrip("/")
        await machine.put(source, f"{folder}/source{package}")
    return folder


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
        and numbers(there.libc_version) >= numbers(version)
    )


async def _provided(job: Job) -> Job:
    wanted = job.entry.programs
    programs = await provide(job.machine, wanted, install=job.install, notify=job.notify)
    return replace(job, programs=programs)


async def _runtime(job: Job) -> Runtime:
    if job.entry.runtime == "none":
        return Runtime(placeholders={}, name="")
    of_kind = python.prepare if job.entry.runtime == "python" else heritage.prepare
    return await of_kind(job)


async def _brought(job: Job) -> Runtime:
    """Build here and copy, except for the programs it runs with, which are that machine's."""
    machine, entry = job.machine, job.entry
    wanted = entry.programs_at_run
    there = await provide(machine, wanted, install=job.install, notify=job.notify)
    async with await open_local() as here:
        folder = await put_files(here, entry, f"servers/{entry.id}", job.source)
        local = await _provided(replace(job, machine=here, folder=folder))
        copied = entry.runtime == "python" and not entry.build
        runtime = await _runtime(replace(job, programs=there) if copied else local)
        made = await make(local, runtime)
    if entry.build:
        runtime = await python.bring_built(job, runtime, there.env)
    elif entry.heritage:
        runtime = await heritage.bring(job, runtime, there.env)
    if made:
        job.notify(f"Bringing what {entry.name} was compiled to, to {machine.name}")
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


async def make(job: Job, runtime: Runtime) -> str:
    """Return the folder with the compiled files of its entry; a foreign `source` is compiled
    confined. Raises PongbenchError when a command failed."""
    machine, entry, programs = job.machine, job.entry, job.programs
    if not entry.make:
        return ""
    made_of = await asyncio.to_thread(entry.files)
    # Of its declaration only the commands matter: facts and results are written there too.
    made_of.pop("server.yaml", None)
    task: dict[str, Any] = {
        "folder": job.folder,
        "commands": entry.make,
        "values": {**runtime.placeholders, **programs.paths, "folder": job.folder},
        "made_of": [made_of, programs.versions],
        "id": entry.id,
    }
    if job.source:
        made_of["source"] = await asyncio.to_thread(digest, job.source)
        task["confined"] = await _confinement(job, runtime)

    making = on("making", lambda event: job.notify(_progress(entry, event)))
    event = await run_builder(machine, "make", task, making, env=programs.env)
    detail = detail_of(event)
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
    if event.get("why") != "command":  # The sentence has it all.
        event = {**event, "lines": []}
    raise failure(event, sentences, lost)


async def _confinement(job: Job, runtime: Runtime) -> dict[str, Any]:
    programs = job.programs
    env = {**programs.env, "CFLAGS": str(job.entry.env.get("CFLAGS", ""))}
    if headers := runtime.placeholders.get("home"):  # of an old Python
        env["CPATH"] = ":".join(filter(None, (f"{headers}/usr/include", env.get("CPATH"))))
    listed = (path for value in env.values() for path in value.split(":"))
    used = (*runtime.placeholders.values(), *programs.paths.values(), *listed)
    return await confinement(job.machine, used, env)


def _progress(entry: ServerEntry, event: dict[str, Any]) -> str:
    """Return "Compiling axum (1:40): Compiling tokio v1.48.0"."""
    elapsed_s = event.get("elapsed_s")
    so_far = f" ({clock(elapsed_s)})" if isinstance(elapsed_s, int) and elapsed_s > 0 else ""
    last = quoted(str(event.get("output", "")))
    last = last if len(last) <= MOST_SHOWN else f"{last[: MOST_SHOWN - 1]}…"
    return f"Compiling {entry.name}{so_far}{': ' if last else ''}{last}"

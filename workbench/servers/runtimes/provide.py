"""System programs, found on a machine or provided there.

For a machine over SSH this computer fetches them and copies them unpacked, so that it needs no
network and no package lists. It must run the same release of the same distribution as this one,
whose apt gets the list of packages installed there. Programs that come as a wheel fit any machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import msgspec

from workbench.errors import PongbenchError
from workbench.fetching import apt_failed
from workbench.machines.base import Machine
from workbench.machines.bundle import Bundle, archived, kept, own_platform, pack
from workbench.machines.local import open_local
from workbench.machines.wire import Count, Folder, Text, quoted
from workbench.remote.builders import Failed
from workbench.remote.builders import programs as finder
from workbench.servers.entry import SourceAt
from workbench.servers.programs import PROGRAMS, MissingPrograms, ProgramName, Programs, of_packages
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.builders import confinement, detail_of, failure, on, run_builder
from workbench.servers.sources import fetched


class _Missing(msgspec.Struct):
    commands: Annotated[list[Text], msgspec.Meta(max_length=20)]
    packages: list[Any]
    bytes: Count


class _Absent(msgspec.Struct, frozen=True):
    name: ProgramName
    folder: Folder
    """Where it is searched for there."""
    release: list[str] = []
    architecture: str = ""
    installed: list[list[str]] = []
    """[package, version, architecture, multi-arch, provides]."""


async def provide(
    machine: Machine, wanted: Sequence[ProgramName], *, install: bool, notify: Notify
) -> Programs:
    """Return the programs on that machine. `install`: whether missing ones may be unpacked there. A
    machine over SSH gets them from this computer where possible, otherwise by its own package
    manager. Raises MissingPrograms without that consent, PongbenchError when they cannot be had."""
    if not wanted:
        return Programs()
    task = {
        "install": install,
        "bring": not machine.is_local,
        "programs": {name: msgspec.to_builtins(PROGRAMS[name]) for name in wanted},
    }

    on_event = on(
        "fetching",
        lambda event: notify(f"Fetching {quoted(str(event.get('title')))} for {machine.name}"),
    )
    try:
        event = await run_builder(machine, "programs", task, on_event)
        for _ in wanted:
            if event.get("why") != "absent":
                break
            absent = msgspec.convert(event, _Absent)
            archive = await _archive(machine, absent, install=install, notify=notify)
            if archive:
                notify(f"Bringing {PROGRAMS[absent.name].title} to {machine.name}")
                folder = PurePosixPath(absent.folder).name
                await machine.bring(archive, f"programs/{folder}")
            there = {**task, "bring": task["bring"] and archive is not None}
            event = await run_builder(machine, "programs", there, on_event)
        if event["event"] == "ready":
            found = msgspec.convert(event, Programs)
            if lacking := set(wanted) - (set(found.paths) & set(found.versions)):
                raise msgspec.ValidationError(f"nothing of {min(lacking)}")
            for name in wanted:
                if PROGRAMS[name].too_old(version := found.versions[name]):
                    program = PROGRAMS[name]
                    raise PongbenchError(
                        f"{program.title} {version} on {machine.name} is too old; install"
                        f" {program.oldest} or later there ({program.install})."
                    )
            return found
        raise _error(machine, event)
    except msgspec.ValidationError as error:
        problem = quoted(str(error))
        sentence = f"What '{machine.name}' says of its programs makes no sense ({problem})."
        raise PongbenchError(sentence) from None


def _error(machine: Machine, event: dict[str, Any]) -> PongbenchError:
    title, detail = quoted(str(event.get("title", "A program"))), detail_of(event)
    install = next((each.install for each in PROGRAMS.values() if each.title == title), "")
    if event.get("why") == "missing":
        missing = msgspec.convert(event, _Missing)
        return MissingPrograms(
            f"{title} is not on {machine.name}.",
            f"its distribution ({of_packages(len(missing.packages), missing.bytes)})",
            missing.commands,
            install=install,
        )
    connect = f"connect {machine.name} to the network once, what was fetched is then kept"
    update = f"run apt-get update there, or {install or f'install {title}'}"
    apt = apt_failed(detail, "its", connect, update)
    sentences = {
        "no-apt": f"{title} is not on {machine.name}, and it has no apt to fetch it with; install"
        f" it there by other means{f' (Debian: {install})' if install else ''}.",
        "apt": f"{title} is not on {machine.name}, and {apt}.",
        "broken": f"{title} on {machine.name} does not run: {detail}.",
        "no-version": f"{title} on {machine.name} states no version and may be another program of"
        f" that name ({detail}); {install or f'install {title}'}, or remove it.",
        "by-hand": f"{title} is not on {machine.name}; install it there: {detail}.",
        "disk": f"There is no place for {title} on {machine.name}: {detail}.",
        "slow": f"Fetching what is missing on {machine.name} timed out.",
    }
    lost = f"Looking for {title} on {machine.name} ended without a result: {detail or 'silence'}."
    return failure(event, sentences, lost)


async def _archive(
    machine: Machine, absent: _Absent, *, install: bool, notify: Notify
) -> Path | None:
    """Return an archive of a missing program; None: this computer cannot fetch it. Raises
    MissingPrograms without consent, PongbenchError when it cannot be fetched."""
    program = PROGRAMS[absent.name]
    if program.wheel:
        return await _of_wheel(machine, absent, install=install, notify=notify)
    if program.git:
        return await _compiled(machine, absent, install=install, notify=notify)
    here = await asyncio.to_thread(finder.about_here) if finder.on_debian() else {}
    if (here.get("release"), here.get("architecture")) != (absent.release, absent.architecture):
        return None  # Packages for this computer would not fit.
    with tempfile.TemporaryDirectory(prefix="pongbench-debs-") as work:
        try:
            options = await asyncio.to_thread(_options, absent, Path(work))
            names = program.brought or program.packages
            about = msgspec.to_builtins(program)
            packages = await asyncio.to_thread(finder.wanted, about, names, *options)
            if not install:
                shown = finder.shown(packages, Path(absent.folder))
                of = of_packages(len(packages), shown["bytes"])
                raise MissingPrograms(
                    f"{program.title} is not on '{machine.name}'.",
                    f"its distribution with this computer ({of})",
                    shown["commands"],
                    "there, where it changes nothing else",
                    program.install,
                )

            def fetch(archive: Path) -> None:
                data = {**about, "packages": list(names)}
                pack(finder.extracted(data, packages, Path(work, "debs"), *options), archive)

            notify(f"Fetching {program.title} for {machine.name}")
            named = json.dumps([absent.release, absent.architecture, packages])
            key = f"{absent.name}-{hashlib.sha256(named.encode()).hexdigest()[:32]}"
            return await kept(key, fetch)
        except Failed as failure:
            detail = str(failure).rstrip(".")
            connect = "connect this computer to the network once, what was fetched is then kept"
            update = f"run apt-get update here, or {program.install} there"
            why = apt_failed(detail, "this computer's", connect, update)
            sentence = f"{program.title} is not on '{machine.name}', and {why}."
            raise PongbenchError(sentence) from None


async def _of_wheel(machine: Machine, absent: _Absent, *, install: bool, notify: Notify) -> Path:
    program = PROGRAMS[absent.name]
    requirement = program.wheel.split()[0]
    if not install:
        command = f"uv pip install --target {absent.folder} {requirement}"
        raise MissingPrograms(
            f"{program.title} is not on {machine.name}.", "the Python Package Index", [command]
        )
    stamp = json.dumps({"version": "", "packages": [requirement]})
    there = machine.platform or own_platform()
    bundle = Bundle(absent.name, there, program.wheel, texts={finder.STAMP: stamp})
    notify(f"Fetching {program.title} for {machine.name}")
    try:
        return await archived(bundle)
    except PongbenchError as error:
        raise PongbenchError(f"{program.title} is not on '{machine.name}'. {error}") from None


async def _compiled(machine: Machine, absent: _Absent, *, install: bool, notify: Notify) -> Path:
    """Fetch the source to this computer, and compile it here in the confinement. Raises
    MissingPrograms without consent, PongbenchError."""
    program = PROGRAMS[absent.name]
    where = f"{program.title} is not on {machine.name}"
    if not machine.is_local and machine.platform != own_platform():
        raise PongbenchError(f"{where}, which is no machine like this computer; {program.by_hand}.")
    source = SourceAt(git=program.git, commit=program.commit, licence=program.licence)
    if not install:
        compiled = [f"confined: {' '.join(argv)}" for argv in program.make]
        raise MissingPrograms(
            f"{where}.",
            f"{program.git} (commit {source.short}, licence: {program.licence})",
            [f"git fetch {program.git} {source.short}", *compiled],
        )
    notify(f"Fetching the source of {program.title} (licence: {program.licence})")
    tree = await asyncio.to_thread(fetched, program.title, source)
    async with await open_local() as here:
        folder = await here.put(tree, f"compiling/{absent.name}/source")
        task = {
            "folder": str(Path(folder).parent),
            "commands": program.make,
            "values": {},
            "made_of": [program.commit],
            "id": absent.name,
            "confined": await confinement(here, (), {}),
        }
        notify(f"Compiling {program.title}")
        event = await run_builder(here, "make", task)
        if event["event"] != "ready":
            detail = detail_of(event) or "no output"
            raise failure(event, {}, f"{program.title} cannot be compiled: {detail}.")
    made, stamp = Path(event["made"]), json.dumps({"version": "", "packages": []})
    return await kept(made.name, lambda archive: pack(made, archive, texts={finder.STAMP: stamp}))


def _options(absent: _Absent, work: Path) -> list[str]:
    """Return the options with which apt resolves for that machine, and changes nothing here."""
    status = work / "status"
    status.write_text("".join(map(_stanza, absent.installed)), "utf-8")
    caches = ["-o=Dir::Cache::pkgcache=", "-o=Dir::Cache::srcpkgcache="]
    return [f"-o=Dir::State::status={status}", *caches]


def _stanza(fields: Sequence[str]) -> str:
    name, version, architecture, multi, provides = fields
    lines = {
        "Package": name,
        "Status": "install ok installed",
        "Version": version,
        "Architecture": architecture,
        "Multi-Arch": "" if multi == "no" else multi,
        "Provides": provides,
        "Maintainer": "pongbench",
        "Description": "installed",
    }
    return "".join(f"{key}: {value}\n" for key, value in lines.items() if value) + "\n"

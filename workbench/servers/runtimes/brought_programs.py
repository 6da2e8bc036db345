"""System programs for machines over SSH, fetched by this computer and copied unpacked.

So the machine needs no network and no package lists. It must run the same release of the same
distribution as this computer, whose apt gets the list of packages installed there. Programs that
come as a wheel fit any machine.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from workbench import paths
from workbench.errors import PongbenchError
from workbench.fetching import apt_failed
from workbench.machines.base import Machine, Platform
from workbench.machines.bundle import Bundle, archived
from workbench.machines.wire import Folder
from workbench.remote import find_programs
from workbench.servers.programs import (
    PROGRAMS,
    MissingPrograms,
    Program,
    ProgramName,
    of_packages,
)
from workbench.servers.runtimes import Notify
from workbench.servers.runtimes.packed import pack


class Absent(msgspec.Struct, frozen=True):
    """The report of `find_programs` on a missing program."""

    name: ProgramName
    folder: Folder
    """Where it is searched for there."""
    release: list[str] = []
    architecture: str = ""
    installed: list[list[str]] = []
    """[package, version, architecture, multi-arch, provides]."""


async def bring(machine: Machine, event: dict[str, Any], *, install: bool, notify: Notify) -> bool:
    """Copy the missing program of `event` to the machine; False: this computer cannot fetch it.

    Raises MissingPrograms without consent, PongbenchError when it cannot be fetched or copied.
    """
    absent = msgspec.convert(event, Absent)
    if PROGRAMS[absent.name].wheel:
        await _bring_wheel(machine, absent, install=install, notify=notify)
        return True
    if not await asyncio.to_thread(_alike, absent):
        return False
    program = PROGRAMS[absent.name]
    with tempfile.TemporaryDirectory(prefix="pongbench-debs-") as work:
        try:
            options = await asyncio.to_thread(_options, absent, Path(work))
            packages = await asyncio.to_thread(_wanted, program, options)
            if not install:
                raise _consent(machine, program, absent, packages)
            archive = _archive(absent, packages)
            if not archive.is_file():
                notify(f"Fetching {program.title} for {machine.name}")
                await asyncio.to_thread(_fetch, program, packages, Path(work), options, archive)
        except find_programs.Failed as failure:
            detail = str(failure).rstrip(".")
            connect = "connect this computer to the network once, what was fetched is then kept"
            update = f"run apt-get update here, or {program.install} there"
            why = apt_failed(detail, "this computer's", connect, update)
            sentence = f"{program.title} is not on '{machine.name}', and {why}."
            raise PongbenchError(sentence) from None
    notify(f"Bringing {program.title} to {machine.name}")
    await machine.bring(archive, f"programs/{Path(absent.folder).name}")
    return True


async def _bring_wheel(machine: Machine, absent: Absent, *, install: bool, notify: Notify) -> None:
    program = PROGRAMS[absent.name]
    requirement = program.wheel.split()[0]
    if not install:
        command = f"uv pip install --target {absent.folder} {requirement}"
        raise MissingPrograms(
            f"{program.title} is not on {machine.name}.", "the Python Package Index", [command]
        )
    here = Platform(platform.python_version(), platform.machine(), *platform.libc_ver())
    stamp = json.dumps({"version": "", "packages": [requirement]})
    bundle = Bundle(
        absent.name, machine.platform or here, program.wheel, texts={find_programs.STAMP: stamp}
    )
    notify(f"Fetching {program.title} for {machine.name}")
    try:
        archive = await archived(bundle)
    except PongbenchError as error:
        raise PongbenchError(f"{program.title} is not on '{machine.name}'. {error}") from None
    await machine.bring(archive, f"programs/{Path(absent.folder).name}")


def _alike(absent: Absent) -> bool:
    """Return whether packages for this computer also fit that one."""
    if not find_programs.on_debian():
        return False
    here = find_programs.about_here()
    return (here["release"], here["architecture"]) == (absent.release, absent.architecture)


def _options(absent: Absent, work: Path) -> list[str]:
    """Return the options with which apt resolves for that machine, without changing its own
    state."""
    status = work / "status"
    status.write_text("".join(map(_stanza, absent.installed)), "utf-8")
    caches = ["-o=Dir::Cache::pkgcache=", "-o=Dir::Cache::srcpkgcache="]
    return [f"-o=Dir::State::status={status}", *caches]


def _stanza(fields: Sequence[str]) -> str:
    """Return the entry of an installed package in dpkg's format."""
    name, version, architecture, multi, provides = fields
    lines = [
        f"Package: {name}",
        "Status: install ok installed",
        f"Version: {version}",
        f"Architecture: {architecture}",
        *([f"Multi-Arch: {multi}"] if multi not in ("", "no") else []),
        *([f"Provides: {provides}"] if provides else []),
        "Maintainer: pongbench",
        "Description: installed",
    ]
    return "\n".join([*lines, "", ""])


def _wanted(program: Program, options: Sequence[str]) -> list[dict[str, Any]]:
    packages = program.brought or program.packages
    return find_programs.wanted(asdict(program), packages, *options)


def _archive(absent: Absent, packages: Sequence[dict[str, Any]]) -> Path:
    named = json.dumps([absent.release, absent.architecture, packages])
    key = hashlib.sha256(named.encode()).hexdigest()[:32]
    return paths.cache_dir() / "bundles" / f"{absent.name}-{key}.tar.gz"


def _fetch(
    program: Program,
    packages: list[dict[str, Any]],
    work: Path,
    options: Sequence[str],
    archive: Path,
) -> None:
    data = {**asdict(program), "packages": list(program.brought or program.packages)}
    made = find_programs.extracted(data, packages, work / "debs", *options)
    pack(made, archive)


def _consent(
    machine: Machine, program: Program, absent: Absent, packages: Sequence[dict[str, Any]]
) -> MissingPrograms:
    shown = find_programs.shown(list(packages), Path(absent.folder))
    return MissingPrograms(
        f"{program.title} is not on '{machine.name}'.",
        f"its distribution with this computer ({of_packages(len(packages), shown['bytes'])})",
        shown["commands"],
        "there, where it changes nothing else",
        program.install,
    )

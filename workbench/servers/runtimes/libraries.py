"""Shared libraries that programs built on this computer need and another machine lacks."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from workbench.errors import PongbenchError
from workbench.machines.answers import output
from workbench.machines.base import Command, Machine
from workbench.machines.bundle import kept, pack
from workbench.machines.wire import InvalidMessage, Text, decode

SEARCHED = "LD_LIBRARY_PATH"
_LIBC = re.compile(r"(ld-linux|lib(c|m|dl|rt|pthread|util|resolv)\.so)")
_LACKING = """
import ctypes, json, sys
lacking = []
for name in sys.argv[1:]:
    try:
        ctypes.CDLL(name)
    except OSError:
        lacking.append(name)
print(json.dumps(lacking))
"""


async def bring_libraries(machine: Machine, tree: Path) -> dict[str, str]:
    """Copy the missing libraries of a tree's programs to the machine. Returns the environment in
    which they are found. Raises PongbenchError."""
    needed = await asyncio.to_thread(_needed, tree)
    if not needed:
        return {}
    process = await machine.start(Command([*machine.python, "-c", _LACKING, *sorted(needed)]))
    try:
        answer = (await output(process))[-1:] or [b"[]"]
        lacking = set(decode(msgspec.json.Decoder(list[Text]), answer[0])) & set(needed)
    except InvalidMessage as error:
        raise PongbenchError(
            f"'{machine.name}' cannot report missing libraries ({error})."
        ) from None
    if not lacking:
        return {}
    wanted = {name: needed[name] for name in sorted(lacking)}
    name = f"libraries-{await asyncio.to_thread(_digest, wanted)}"
    archive = await kept(name, lambda archive: _pack(wanted, archive))
    return {SEARCHED: await machine.bring(archive, f"libraries/{name}")}


def joined(*several: Mapping[str, str]) -> dict[str, str]:
    """Merge environments: lists of folders are appended."""
    found: dict[str, str] = {}
    for env in several:
        for name, value in env.items():
            found[name] = os.pathsep.join(filter(None, (found.get(name), value)))
    return found


def _needed(tree: Path) -> dict[str, Path]:
    """Return the libraries by the name used to load them, without those of the C library."""
    found: dict[str, Path] = {}
    for path in tree.rglob("*"):
        if path.is_symlink() or not path.is_file() or not _is_program(path):
            continue
        done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
        for name, where in re.findall(r"(\S+) => (/\S+)", done.stdout):
            if not _LIBC.match(name) and not Path(where).is_relative_to(tree):
                found[name] = Path(where)
    return found


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _pack(libraries: Mapping[str, Path], archive: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="pongbench-libraries-") as folder:
        for name, path in libraries.items():
            shutil.copy2(path, Path(folder, name))
        pack(Path(folder), archive)


def _digest(libraries: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, path in sorted(libraries.items()):
        digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()[:32]

"""Python runtimes for machines over SSH, made of wheels that this computer fetches for them.

The runtime is an environment like one that uv makes on this computer, but prepared here for the
Python there, and copied complete. So the machine needs no uv, pip, venv or network. Packages
without a wheel are compiled here, for machines with the same Python as this computer's.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from workbench import paths
from workbench.errors import PongbenchError
from workbench.machines.answers import ran
from workbench.machines.base import Command, Machine, Platform
from workbench.machines.bundle import Bundle, archived
from workbench.machines.wire import InvalidMessage, Text, decode, quoted
from workbench.remote.build_python import OLDEST, PROOF
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Notify, Runtime
from workbench.servers.runtimes.libraries import bring_libraries, joined
from workbench.servers.runtimes.packed import pack

COMPILED = """
import compileall, pathlib, sys, sysconfig
mark = pathlib.Path(sys.prefix, ".compiled")
if not mark.exists():
    compileall.compile_dir(sysconfig.get_path("purelib"), quiet=2, workers=0)
    mark.touch()
"""


PROVED_WITHIN_S = 120.0
"""Time limit in seconds: compiling a large package takes long on a slow machine."""


class _Proof(msgspec.Struct):
    name: Text
    packages: dict[Text, Text]


_PROOF = msgspec.json.Decoder(_Proof)


async def prepare(machine: Machine, entry: ServerEntry, notify: Notify) -> Runtime:
    """Prepare the runtime of `entry` on a machine over SSH, copying it there if it is missing.

    Raises PongbenchError when a package does not fit that machine or does not work there.
    """
    platform = machine.platform
    assert platform is not None
    if problem := too_old(entry, machine.name, platform):
        raise PongbenchError(problem)
    bundle = await asyncio.to_thread(_bundle, entry, platform, machine.python[0])
    notify(f"Fetching packages of {entry.name} for {machine.name}")
    try:
        archive = await archived(bundle)
    except PongbenchError as error:
        raise PongbenchError(f"{entry.name} cannot run on '{machine.name}'. {error}") from None
    notify(f"Bringing the runtime of {entry.name} to {machine.name}")
    place = await machine.bring(archive, f"runtimes/{archive.name.partition('.')[0]}")
    python = f"{place}/bin/python"
    proof = await _prove(machine, entry, python)
    return Runtime(
        placeholders={"python": python, "venv": place},
        name=proof.name,
        packages=proof.packages,
    )


def too_old(entry: ServerEntry, name: str, platform: Platform) -> str:
    """Return why the Python of machine `name` cannot run the entry; empty: it can."""
    if tuple(map(int, platform.python.split(".")[:2])) >= OLDEST:
        return ""
    wanted = ".".join(map(str, OLDEST))
    return (
        f"{entry.name} needs Python {wanted} or later on '{name}', which has {platform.python};"
        " install a later one there, and name it in its profile (python)."
    )


def place(machine: Machine, entry: ServerEntry) -> str:
    """Return the absolute path of its runtime on a machine over SSH, copied there or not."""
    assert machine.platform is not None
    return (
        f"{machine.cache_dir}/runtimes/{_bundle(entry, machine.platform, machine.python[0]).key()}"
    )


def _bundle(entry: ServerEntry, platform: Platform, python: str) -> Bundle:
    path = entry.requirements_path
    minor = ".".join(platform.python.split(".")[:2])
    return Bundle(
        "python",
        platform,
        path.read_text("utf-8") if path else "",
        packages=f"lib/python{minor}/site-packages",
        texts={"pyvenv.cfg": _config(python)},
        links={"bin/python": python, "bin/python3": "python", f"bin/python{minor}": "python"},
    )


async def bring_built(
    machine: Machine,
    entry: ServerEntry,
    built: Runtime,
    notify: Notify,
    env: Mapping[str, str],
) -> Runtime:
    """Copy a runtime built on this computer to a machine over SSH.

    `env`: environment of the programs it needs there. Raises PongbenchError when the machine's
    Python differs, or the runtime does not work there.
    """
    platform = machine.platform
    assert platform is not None
    minor = ".".join(platform.python.split(".")[:2])
    if built.name.rpartition(" ")[2].split(".")[:2] != minor.split("."):
        raise PongbenchError(
            f"{entry.name} has to be compiled, which is possible here for {built.name} only;"
            f" '{machine.name}' has Python {platform.python}. Name another in its profile (python),"
            " or take a machine with the same."
        )
    venv = Path(built.placeholders["venv"])
    python = machine.python[0]
    key = hashlib.sha256(f"{python}\n{minor}".encode()).hexdigest()[:8]
    name = f"{venv.name}-{key}"
    archive = paths.cache_dir() / "bundles" / f"{name}.tar.gz"
    if not archive.is_file():
        links = {"bin/python": python, "bin/python3": "python", f"bin/python{minor}": "python"}
        texts = {"pyvenv.cfg": _config(python)}
        await asyncio.to_thread(
            pack, venv, archive, without=frozenset({*links, *texts}), texts=texts, links=links
        )
    notify(f"Bringing the runtime of {entry.name} to {machine.name}")
    place = await machine.bring(archive, f"runtimes/{name}")
    env = joined(env, await bring_libraries(machine, venv))
    proof = await _prove(machine, entry, f"{place}/bin/python", env)
    return Runtime(
        placeholders={"python": f"{place}/bin/python", "venv": place},
        name=proof.name,
        packages=proof.packages,
        env=env,
    )


def _config(python: str) -> str:
    return f"home = {Path(python).parent}\ninclude-system-site-packages = false\n"


async def _prove(
    machine: Machine, entry: ServerEntry, python: str, env: Mapping[str, str] | None = None
) -> _Proof:
    # Compiled once, because servers may not write into a runtime, and many start concurrently.
    await ran(machine, Command([python, "-I", "-c", COMPILED]), PROVED_WITHIN_S)
    proving = Command([python, "-I", "-c", PROOF, *entry.imports], env=env or {})
    status, lines = await ran(machine, proving, PROVED_WITHIN_S)
    output = quoted(lines[-1]) if lines else "no output"
    if status is None:
        output = f"it did not end within {PROVED_WITHIN_S:.0f} s"
    if status == 0 and lines:
        try:
            return decode(_PROOF, lines[-1].encode())
        except InvalidMessage as error:
            output = f"its output is invalid ({error})"
    why = output.rstrip(".")
    raise PongbenchError(
        f"The runtime copied for {entry.name} does not work on '{machine.name}': {why}."
    )

"""Isolated Python runtimes, one for each set of pinned requirements, cached by content.

On this computer uv builds them (see `remote.builders.python`); one without requirements gets an
empty environment and not the bare interpreter, so that none sees packages of the host, and all
start alike. For a machine over SSH the same is made here of wheels for the Python there, and copied
complete: it needs no uv, pip, venv or network. Packages without a wheel are compiled here, for
machines with the same Python as this computer's. A frozen build runs what needs only the standard
library or gevent with its own interpreter: a comparison then needs no installed Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from workbench import fetching, paths
from workbench.errors import PongbenchError, ProgramFailed
from workbench.machines.base import INTERPRETERS, Machine, Platform, answer, ran
from workbench.machines.bundle import Bundle, archive_of, archived, bring, kept, minor, pack
from workbench.machines.runner_client import Command
from workbench.machines.wire import InvalidMessage, Text, decode, quoted
from workbench.remote.builders.python import OLDEST, PROOF
from workbench.servers.entry import ServerEntry
from workbench.servers.runtimes import Job, Runtime
from workbench.servers.runtimes.builders import LONGEST_BUILD_S, failure, on, run_builder
from workbench.uv import uv_binary

OFFERED = ("gevent", "greenlet", "zope-event", "zope-interface", "cffi", "pycparser")
"""Packages of a frozen build, by normalised name; the last two on Windows only."""
_OURS = ", Pongbench's own"
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


async def prepare(job: Job) -> Runtime:
    """Prepare the runtime of a server. A missing one is built, with the headers and libraries of
    its programs, or copied. Raises PongbenchError when it cannot be built or does not work."""
    entry = job.entry
    if not job.machine.is_local:
        return await _bring_wheels(job)
    if (ours := own(entry)) is not None:
        return ours
    task = {
        "uv": uv_binary(),
        "requirements": f"{job.folder}/{entry.requirements}" if entry.requirements else "",
        "imports": entry.imports,
        "build": entry.build,
        "unreached": fetching.UNREACHED,
    }
    event = await built(job, "python", task)
    based_here = _frozen() and event["base"] == paths.PYTHON
    return Runtime(
        placeholders={
            "python": event["python"],
            "venv": event["python"].removesuffix("/bin/python"),
            **({"base": str(paths.SHIPPED)} if based_here else {}),
        },
        name=f"{event['name']}{_OURS if based_here else ''}",
        packages=event["packages"],
        at_odds=event.get("at_odds", ()),
        built=event["built"],
    )


async def built(job: Job, builder: str, task: Mapping[str, Any]) -> dict[str, Any]:
    """Build a runtime, and return what its builder says of it. Raises PongbenchError."""
    builds = on("building", lambda _: job.notify(f"Building the runtime of {job.entry.name}"))
    event = await run_builder(job.machine, builder, task, builds, env=job.programs.env)
    if event["event"] != "ready":
        raise _failed(job, event)
    return event


def own(entry: ServerEntry) -> Runtime | None:
    """Return the interpreter of a frozen build; None: not frozen, or it needs other packages."""
    if not _frozen() or not set(entry.pinned) <= set(OFFERED):
        return None
    packages = {}
    for name in entry.pinned:
        with contextlib.suppress(PackageNotFoundError):
            packages[name] = version(name)
    return Runtime(
        placeholders={"python": paths.PYTHON, "venv": str(paths.SHIPPED)},
        name=f"CPython {platform.python_version()}{_OURS}",
        packages=packages,
    )


def _frozen() -> bool:
    return bool(getattr(sys, "frozen", False))


async def _bring_wheels(job: Job) -> Runtime:
    machine, entry = job.machine, job.entry
    assert machine.platform is not None
    if problem := too_old(entry, machine.name, machine.platform):
        raise PongbenchError(problem)
    job.notify(f"Fetching packages of {entry.name} for {machine.name}")
    try:
        archive = await archived(await asyncio.to_thread(_bundle, entry, machine))
    except PongbenchError as error:
        raise PongbenchError(f"{entry.name} cannot run on '{machine.name}'. {error}") from None
    return await _bring(job, archive, {})


async def bring_built(job: Job, built: Runtime, env: Mapping[str, str]) -> Runtime:
    """Copy a runtime built on this computer to a machine over SSH. `env`: of the programs that it
    needs there. Raises PongbenchError when that Python differs, or it does not work there."""
    machine = job.machine
    assert machine.platform is not None
    if minor(built.name.rpartition(" ")[2]) != minor(machine.platform.python):
        raise PongbenchError(
            f"{job.entry.name} has to be compiled, which is possible here for {built.name} only;"
            f" '{machine.name}' has Python {machine.platform.python}. Name another in its profile"
            " (python), or take a machine with the same."
        )
    venv = Path(built.placeholders["venv"])
    texts, links = _based_on(machine)
    key = hashlib.sha256(f"{texts}{links}".encode()).hexdigest()[:8]
    archive = await kept(
        f"{venv.name}-{key}", lambda archive: pack(venv, archive, texts=texts, links=links)
    )
    return await _bring(job, archive, await _with_libraries(machine, venv, env))


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
    return f"{machine.cache_dir}/runtimes/{_bundle(entry, machine).key()}"


def is_fetched(machine: Machine, entry: ServerEntry) -> bool:
    """Return whether this computer has what `place` there is copied from."""
    return archive_of(_bundle(entry, machine).key()).is_file()


def _bundle(entry: ServerEntry, machine: Machine) -> Bundle:
    assert machine.platform is not None
    path = entry.requirements_path
    texts, links = _based_on(machine)
    return Bundle(
        "python",
        machine.platform,
        path.read_text("utf-8") if path else "",
        packages=f"lib/python{minor(machine.platform.python)}/site-packages",
        texts=texts,
        links=links,
    )


def _based_on(machine: Machine) -> tuple[dict[str, str], dict[str, str]]:
    """Return the texts and the links of an environment that make it one of the Python there."""
    assert machine.platform is not None
    python = machine.python[0]
    config = f"home = {PurePosixPath(python).parent}\ninclude-system-site-packages = false\n"
    names = ("python3", f"python{minor(machine.platform.python)}")
    return {"pyvenv.cfg": config}, {
        "bin/python": python,
        **{f"bin/{name}": "python" for name in names},
    }


async def _bring(job: Job, archive: Path, env: Mapping[str, str]) -> Runtime:
    machine = job.machine
    job.notify(f"Bringing the runtime of {job.entry.name} to {machine.name}")
    place = await machine.bring(archive, f"runtimes/{archive.name.partition('.')[0]}")
    python = f"{place}/bin/python"
    # Compiled once, because servers may not write into a runtime, and many start concurrently.
    await ran(machine, Command([python, "-I", "-c", COMPILED]), PROVED_WITHIN_S)
    said = await proved(job, [python, "-I", "-c", PROOF, *job.entry.imports], env)
    try:
        proof = decode(_PROOF, said.encode())
    except InvalidMessage as error:
        raise _useless(job, f"its output is invalid ({error})") from None
    found = {"python": python, "venv": place}
    name, base = proof.name, PurePosixPath(machine.python[0])
    if INTERPRETERS in str(base):
        name, found["base"] = f"{name}{_OURS}", str(base.parent.parent)
    return Runtime(found, name, proof.packages, env)


async def proved(job: Job, argv: Sequence[str], env: Mapping[str, str]) -> str:
    """Run a program on a copied runtime and return its last line. Raises PongbenchError."""
    status, lines = await ran(job.machine, Command(argv, env=env), PROVED_WITHIN_S)
    said = lines[-1] if lines else ""
    if status is None:
        raise _useless(job, f"it did not end within {PROVED_WITHIN_S:.0f} s")
    if status:
        raise _useless(job, quoted(said) or "no output")
    return said


def _useless(job: Job, why: str) -> PongbenchError:
    return PongbenchError(
        f"The runtime copied for {job.entry.name} does not work on '{job.machine.name}':"
        f" {why.rstrip('.')}."
    )


def _failed(job: Job, event: dict[str, Any]) -> ProgramFailed:
    """Return why a runtime could not be built, from the last event of its builder."""
    machine, entry = job.machine, job.entry
    detail = str(event.get("detail", "")).rstrip(".")
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
            f" (Debian: apt-get install gcc {'libc6-dev' if entry.heritage else 'python3-dev'})."
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
    return failure(event, sentences, lost)


SEARCHED = "LD_LIBRARY_PATH"
_LIBC = re.compile(r"(ld-linux|lib(c|m|dl|rt|pthread|util|resolv)\.so)")
_LACKING = """
import json, sys
try:
    from ctypes import CDLL
except ImportError:  # A Python without it cannot tell.
    CDLL = str
lacking = []
for name in sys.argv[1:]:
    try:
        CDLL(name)
    except OSError:
        lacking.append(name)
print(json.dumps(lacking))
"""


async def _with_libraries(
    machine: Machine, tree: Path, env: Mapping[str, str]
) -> Mapping[str, str]:
    """Copy the missing libraries of a tree's programs to the machine. Returns the environment in
    which they are found. Raises PongbenchError."""
    assert machine.platform is not None
    needed = await asyncio.to_thread(_needed, tree)
    if not needed:
        return env
    process = await machine.start(Command([*machine.python, "-c", _LACKING, *sorted(needed)]))
    try:
        lacking = set(await answer(process, msgspec.json.Decoder(list[Text]))) & set(needed)
    except InvalidMessage as error:
        raise PongbenchError(
            f"'{machine.name}' cannot report missing libraries ({error})."
        ) from None
    if not lacking:
        return env
    wanted = {name: needed[name] for name in lacking}
    place = await bring(machine, Bundle("libraries", machine.platform, "", sources=wanted))
    return {**env, SEARCHED: ":".join(filter(None, (env.get(SEARCHED), place)))}


def _needed(tree: Path) -> dict[str, Path]:
    """Return the libraries by the name used to load them, without those of the C library."""
    found: dict[str, Path] = {}
    for path in tree.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        done = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=False)
        for name, where in re.findall(r"(\S+) => (/\S+)", done.stdout):
            if not _LIBC.match(name) and not Path(where).is_relative_to(tree):
                found[name] = Path(where)
    return found

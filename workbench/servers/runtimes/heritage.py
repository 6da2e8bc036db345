"""Heritage Python: 2.7 and 3.9, for servers that cannot run on newer versions.

They are pinned packages of Debian 11, fetched by the workstation and unpacked into a folder of
ours: nothing is installed, no root is needed, and the machine's own Python is not changed. pip of
that time installs a server's pinned requirements. For machines over SSH the runtime is built on the
workstation where possible, and copied complete.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench import paths, stores
from workbench.errors import PongbenchError, ProgramFailed
from workbench.fetching import why_unreached
from workbench.machines.answers import ran
from workbench.machines.base import Command, Machine
from workbench.machines.wire import quoted
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import MissingPrograms, Programs
from workbench.servers.runtimes import Notify, Runtime
from workbench.servers.runtimes.brought_python import PROVED_WITHIN_S
from workbench.servers.runtimes.builders import last_lines, run_builder
from workbench.servers.runtimes.packed import pack
from workbench.uv import uv_binary

BUILDER = Path(__file__).with_name("build_heritage.py")
MIRRORS = ("http://deb.debian.org/debian/", "http://archive.debian.org/debian/")
"""Downloads are verified by their hashes."""
FETCH_WITHIN_S = 60.0

TOOLS = (
    "pip==20.3.4 --hash=sha256:217ae5161a0e08c0fb873858806e3478c9775caffce5168b50ec885e358c199d",
    "setuptools==44.1.1"
    " --hash=sha256:27a714c09253134e60a6fa68130f78c7037e5562c4f21f8f318f2ae900d152d5",
    "wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a",
)
"""The last versions for Python 2.7, as lines of a requirements.txt."""


@dataclass(frozen=True)
class Deb:
    """A package of Debian 11 for x86-64."""

    path: str
    """Path below a mirror."""
    bytes: int
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2].partition("_")[0]


_LIBRARIES = (
    Deb(
        "pool/main/o/openssl/libssl1.1_1.1.1w-0+deb11u1_amd64.deb",
        1565664,
        "aadf8b4b197335645b230c2839b4517aa444fd2e8f434e5438c48a18857988f7",
    ),
    Deb(
        "pool/main/libf/libffi/libffi7_3.3-6_amd64.deb",
        23096,
        "30ca89bfddae5fa6e0a2a044f22b6e50cd17c4bc6bc850c579819aeab7101f0f",
    ),
)
"""Packages of both versions."""

DEBS: dict[str, tuple[Deb, ...]] = {
    "2.7": (
        Deb(
            "pool/main/p/python2.7/python2.7_2.7.18-8+deb11u1_amd64.deb",
            310988,
            "0b0b34b069d41970af75a4fe5b9012465e480fc0a0488ec16554d6299fe0b46e",
        ),
        Deb(
            "pool/main/p/python2.7/python2.7-minimal_2.7.18-8+deb11u1_amd64.deb",
            1301072,
            "44f0cdc1a343303d31c55fcb3a6402cfe326adf749ec30e375e6e0c0c5f7c1f7",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7_2.7.18-8+deb11u1_amd64.deb",
            1022792,
            "13621011f1b24bcda7c315bb2848cb447e21410870872fadd8e8c65b0dc572ef",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-minimal_2.7.18-8+deb11u1_amd64.deb",
            397032,
            "85833c92314011b89bbead6f9a5a7a360b5ee4f9b95e001225afead4ebf9f7d3",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-stdlib_2.7.18-8+deb11u1_amd64.deb",
            1863736,
            "3e627d6d8992b853e000b8a4c09dda613fb767cdb711a2eac20ebc9f867b593c",
        ),
        Deb(
            "pool/main/p/python2.7/libpython2.7-dev_2.7.18-8+deb11u1_amd64.deb",
            2353600,
            "887034beb360069df8b519ad93893454ef3402415775a0466940fb73d6a8b8ca",
        ),
        *_LIBRARIES,
    ),
    "3.9": (
        Deb(
            "pool/main/p/python3.9/python3.9_3.9.2-1_amd64.deb",
            465964,
            "12f8b47632cc26b986bfc4c882fc98e7036d406143ae8bb1dbfff6b61d7c8993",
        ),
        Deb(
            "pool/main/p/python3.9/python3.9-minimal_3.9.2-1_amd64.deb",
            1955456,
            "5d6003c5c20223a2547ac4976e09a9ec778dbe351507a6292bef3b60df5f4aa7",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9_3.9.2-1_amd64.deb",
            1691056,
            "97647869e7e9db643a7eeab949b7d140f9a175814fcc94289be70d426aa5fd1a",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-minimal_3.9.2-1_amd64.deb",
            800628,
            "594283526d67e03e3c4e96534f6bfe5da1bf41da5d49360553c9b79fbf08c4ab",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-stdlib_3.9.2-1_amd64.deb",
            1683644,
            "32ac64d959ac2dbc5bb289532fc9834dab8f671b5455695a3a9315aad973c65b",
        ),
        Deb(
            "pool/main/p/python3.9/libpython3.9-dev_3.9.2-1_amd64.deb",
            4027848,
            "3a2172f6d926cf2e98a1a2e24f5aecdc3bcd56fa7c6d9f7a3fc4892f67377d5f",
        ),
        *_LIBRARIES,
        Deb(
            "pool/main/m/mpdecimal/libmpdec3_2.5.1-1_amd64.deb",
            87652,
            "816404866f754d5662d69db50072018dccb78cf372fc38e0be961fab0f57d741",
        ),
        Deb(
            "pool/main/p/python3-stdlib-extensions/python3-distutils_3.9.2-1_all.deb",
            142952,
            "05ec4080e0f05ba6b1c339d89c97f6343919be450b66cf4cfb215f54dcb85e58",
        ),
        Deb(
            "pool/main/p/python3-stdlib-extensions/python3-lib2to3_3.9.2-1_all.deb",
            77772,
            "802c198e5dd0b5af85a6937e426a85d616680785e8d18148fac451281a83a9a9",
        ),
    ),
}


async def prepare(
    machine: Machine,
    entry: ServerEntry,
    folder: str,
    *,
    programs: Programs,
    install: bool,
    notify: Notify,
) -> Runtime:
    """Prepare the runtime of `entry`, whose files are in `folder` on the machine.

    `install`: whether that Python may be unpacked there. Raises MissingPrograms without that
    consent, PongbenchError when it cannot be provided.
    """
    version = entry.runtime.removeprefix("python")
    debs = DEBS[version]
    facts = await machine.facts()
    if problem := unfit(str(facts.get("architecture", "x86_64"))):
        raise PongbenchError(f"{entry.name} cannot run on {machine.name}: {problem}")
    if not install and not at_hand(entry):
        raise _consent(machine, entry, version, debs)
    for deb in debs:
        if not _kept(deb).is_file():
            notify(f"Fetching {deb.name} of Debian 11")
            await asyncio.to_thread(_fetch, deb)
        await machine.put(_kept(deb), f"tools/debs/{deb.sha256}.deb")
    uv = uv_binary()
    task = {
        "cache": machine.cache_dir,
        "work": f"{machine.run_dir}/tools",
        "version": version,
        "debs": [deb.sha256 for deb in debs],
        "folder": f"{machine.run_dir}/tools/debs",
        "uv": uv if machine.is_local else await machine.put(Path(uv), "tools/uv"),
        "tools": TOOLS,
        "requirements": f"{folder}/{entry.requirements}",
        "imports": entry.imports,
    }

    def on_event(event: dict[str, Any]) -> None:
        if event["event"] == "building":
            notify(f"Building the runtime of {entry.name}")

    event = await run_builder(machine, BUILDER, task, on_event, env=programs.env)
    if event["event"] != "ready":
        raise _error(machine, entry, event)
    return Runtime(
        placeholders={"python": event["python"], "home": event["home"]},
        name=event["name"],
        packages=event["packages"],
        built=event["built"],
    )


async def bring(
    machine: Machine,
    entry: ServerEntry,
    built: Runtime,
    notify: Notify,
    env: Mapping[str, str],
) -> Runtime:
    """Copy a runtime built on this computer to a machine over SSH. `env`: environment of the
    programs it needs there. Raises PongbenchError."""
    notify(f"Bringing the runtime of {entry.name} to {machine.name}")
    python, home = (Path(built.placeholders[name]) for name in ("python", "home"))
    for tree, folder in ((home, "programs"), (python.parent.parent, "runtimes")):
        archive = paths.cache_dir() / "bundles" / f"{tree.name}.tar.gz"
        if not archive.is_file():
            await asyncio.to_thread(pack, tree, archive)
        await machine.bring(archive, f"{folder}/{tree.name}")
    there = f"{machine.cache_dir}/runtimes/{python.parent.parent.name}/bin/python"
    imports = "import sys\nfor name in sys.argv[1:]: __import__(name)"
    importing = Command([there, "-c", imports, *entry.imports], env=env)
    status, lines = await ran(machine, importing, PROVED_WITHIN_S)
    if status != 0:
        output = quoted((lines[-1:] or ["no output"])[0]).rstrip(".")
        raise PongbenchError(
            f"What was built for {entry.name} on this computer does not work on '{machine.name}':"
            f" {output}."
        )
    return replace(
        built,
        placeholders={"python": there, "home": f"{machine.cache_dir}/programs/{home.name}"},
    )


def to_fetch(entry: ServerEntry) -> list[str]:
    """Return the commands that fetch what this computer lacks of that Python."""
    debs = DEBS.get(entry.runtime.removeprefix("python"), ())
    return [f"fetch {MIRRORS[0]}{deb.path}" for deb in debs if not _kept(deb).is_file()]


def unfit(architecture: str) -> str:
    """Return why there is no such Python for a processor, as a sentence; empty: there is one."""
    if architecture in ("x86_64", "amd64"):
        return ""
    return (
        "Python 2.7 and 3.9 come from Debian 11 for x86-64 only, and this processor is"
        f" {architecture}; use a machine with x86-64."
    )


def at_hand(entry: ServerEntry) -> bool:
    """Return whether the packages of its Python are on this computer."""
    return all(_kept(deb).is_file() for deb in DEBS[entry.runtime.removeprefix("python")])


def _kept(deb: Deb) -> Path:
    return paths.cache_dir() / "debs" / f"{deb.sha256}.deb"


def _fetch(deb: Deb) -> None:
    connect = "connect this computer to the network once, the package is then kept"
    reasons: list[str] = []
    for mirror in MIRRORS:
        try:
            with urllib.request.urlopen(mirror + deb.path, timeout=FETCH_WITHIN_S) as answer:
                data = answer.read(deb.bytes + 1)
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error))
            through = " (through http_proxy)" if "http" in urllib.request.getproxies() else ""
            what = f"{mirror.split('/')[2]}{through}"
            reasons.append(why_unreached(reason, connect, what=what))
            continue
        if hashlib.sha256(data).hexdigest() == deb.sha256:
            stores.write(_kept(deb), data, stores.DEFAULT_MODE)
            return
        reasons.insert(0, f"{mirror}{deb.path} has another SHA-256; it was not kept")
    raise PongbenchError(f"{deb.name} of Debian 11 cannot be fetched: {reasons[0]}.")


def _consent(
    machine: Machine, entry: ServerEntry, version: str, debs: tuple[Deb, ...]
) -> MissingPrograms:
    size = sum(deb.bytes for deb in debs) / 1e6
    commands = [f"fetch {MIRRORS[0]}{deb.path}" for deb in debs]
    return MissingPrograms(
        f"{entry.name} needs Python {version}.",
        f"Debian 11 ({len(debs)} packages, {size:.0f} MB)",
        commands,
        f"into a folder of its own on {machine.name}, where it changes nothing else",
    )


def _error(machine: Machine, entry: ServerEntry, event: dict[str, Any]) -> PongbenchError:
    detail = str(event.get("detail", "")).rstrip(".")
    where = f"the runtime of {entry.name} on {machine.name}"
    connect = f"connect {machine.name} to the network once, the runtime is then kept"
    sentences = {
        "install": f"What {entry.requirements} lists cannot be installed for {where}: {detail}.",
        "offline": f"Packages cannot be fetched for {where}: {why_unreached(detail, connect)}.",
        "no-compiler": f"What {entry.requirements} lists has to be compiled for {where}, which has"
        " no C compiler; install one there (Debian: apt-get install gcc libc6-dev).",
        "import": f"What is installed for {where} does not work: {detail}.",
        "disk": f"There is no place for {where}: {detail}.",
        "slow": f"Building {where} timed out.",
    }
    lost = f"Building {where} ended without a result: {detail or 'no output'}."
    return ProgramFailed(sentences.get(event.get("why", ""), lost), last_lines(event))

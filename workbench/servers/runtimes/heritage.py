"""Heritage Python: 2.7 and 3.9, for servers that cannot run on newer versions.

They are pinned packages of Debian 11, fetched by this computer and unpacked into a folder of ours,
without root and beside the machine's own Python. pip of that time installs a server's pinned
requirements. For machines over SSH the runtime is built here where possible, and copied complete.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import urllib.request
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import paths, stores
from workbench.errors import PongbenchError
from workbench.fetching import why_unreached
from workbench.machines.bundle import bring_tree, own_platform
from workbench.servers.entry import ServerEntry
from workbench.servers.programs import MissingPrograms
from workbench.servers.runtimes import Job, Runtime
from workbench.servers.runtimes.python import built, proved
from workbench.uv import uv_binary

TOOLS = (
    "pip==20.3.4 --hash=sha256:217ae5161a0e08c0fb873858806e3478c9775caffce5168b50ec885e358c199d",
    "setuptools==44.1.1"
    " --hash=sha256:27a714c09253134e60a6fa68130f78c7037e5562c4f21f8f318f2ae900d152d5",
    "wheel==0.37.1 --hash=sha256:4bdcd7d840138086126cd09254dc6195fb4fc6f01c050a1d7236f2630db1d22a",
)
"""The last versions for Python 2.7, as lines of a requirements.txt."""


MIRRORS = ("http://deb.debian.org/debian/", "http://archive.debian.org/debian/")
"""Downloads are verified by their hashes."""
FETCH_WITHIN_S = 60.0


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

    @property
    def kept(self) -> Path:
        """Where it is on this computer, once it was fetched."""
        return paths.cache_dir() / "debs" / f"{self.sha256}.deb"

    @property
    def command(self) -> str:
        """What fetching it is, to show a person."""
        return f"fetch {MIRRORS[0]}{self.path}"


def _debs() -> dict[str, list[Deb]]:
    found: defaultdict[str, list[Deb]] = defaultdict(list)
    text = (paths.RESOURCES / "heritage" / "debian-11.txt").read_text("utf-8")
    for line in text.splitlines():
        if not line.startswith("#"):
            versions, size, sha256, path = line.split()
            for version in versions.split(","):
                found[version].append(Deb(path, int(size), sha256))
    return dict(found)


DEBS = _debs()
"""Packages by the version of Python that needs them."""


async def prepare(job: Job) -> Runtime:
    """Prepare the runtime of a server. Raises MissingPrograms without consent to unpack that Python
    there, PongbenchError when it cannot be provided."""
    machine, entry = job.machine, job.entry
    version = entry.runtime.removeprefix("python")
    debs = DEBS[version]
    if problem := unfit((machine.platform or own_platform()).machine):
        raise PongbenchError(f"{entry.name} cannot run on {machine.name}: {problem}")
    if not job.install and not at_hand(entry):
        size = sum(deb.bytes for deb in debs) / 1e6
        raise MissingPrograms(
            f"{entry.name} needs Python {version}.",
            f"Debian 11 ({len(debs)} packages, {size:.0f} MB)",
            [deb.command for deb in debs],
            f"into a folder of its own on {machine.name}, where it changes nothing else",
        )
    for deb in debs:
        if not deb.kept.is_file():
            job.notify(f"Fetching {deb.name} of Debian 11")
            await asyncio.to_thread(fetch, deb)
        await machine.put(deb.kept, f"tools/debs/{deb.sha256}.deb")
    uv = uv_binary()
    task = {
        "version": version,
        "debs": [deb.sha256 for deb in debs],
        "folder": f"{machine.run_dir}/tools/debs",
        "uv": uv if machine.is_local else await machine.put(Path(uv), "tools/uv"),
        "tools": TOOLS,
        "requirements": f"{job.folder}/{entry.requirements}",
        "imports": entry.imports,
        "cflags": entry.env.get("CFLAGS", ""),
    }
    event = await built(job, "heritage", task)
    return Runtime(
        placeholders={"python": event["python"], "home": event["home"]},
        name=event["name"],
        packages=event["packages"],
        built=event["built"],
    )


async def bring(job: Job, made: Runtime, env: Mapping[str, str]) -> Runtime:
    """Copy a runtime built on this computer to a machine over SSH. `env`: environment of the
    programs it needs there. Raises PongbenchError."""
    machine, entry = job.machine, job.entry
    job.notify(f"Bringing the runtime of {entry.name} to {machine.name}")
    python, home = (Path(made.placeholders[name]) for name in ("python", "home"))
    home_there = await bring_tree(machine, home, "programs")
    there = f"{await bring_tree(machine, python.parent.parent, 'runtimes')}/bin/python"
    imports = "import sys\nfor name in sys.argv[1:]: __import__(name)"
    await proved(job, [there, "-c", imports, *entry.imports], env)
    return replace(made, placeholders={"python": there, "home": home_there})


def unfit(architecture: str) -> str:
    """Return why there is no such Python for a processor, as a sentence; empty: there is one."""
    if architecture in ("x86_64", "amd64"):
        return ""
    return (
        "Python 2.7 and 3.9 come from Debian 11 for x86-64 only, and this processor is"
        f" {architecture}; use a machine with x86-64."
    )


def to_fetch(entry: ServerEntry) -> list[str]:
    """Return the commands that fetch what this computer lacks of that Python."""
    debs = DEBS.get(entry.runtime.removeprefix("python"), ())
    return [deb.command for deb in debs if not deb.kept.is_file()]


def at_hand(entry: ServerEntry) -> bool:
    """Return whether the packages of its Python are on this computer."""
    return not to_fetch(entry)


def fetch(deb: Deb) -> None:
    """Fetch a package and check it. Raises PongbenchError."""
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
            stores.write(deb.kept, data, stores.DEFAULT_MODE)
            return
        reasons.insert(0, f"{mirror}{deb.path} has another SHA-256; it was not kept")
    raise PongbenchError(f"{deb.name} of Debian 11 cannot be fetched: {reasons[0]}.")

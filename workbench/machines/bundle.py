"""Archives of packages, of our own source and of trees built here, each made once and kept. This
computer fetches packages for any machine, which needs neither pip nor a package index."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import platform as host
import re
import tarfile
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from workbench import fetching, paths, stores
from workbench.errors import PongbenchError
from workbench.machines.base import Machine, Platform
from workbench.remote import REMOTE
from workbench.uv import uv

FORMAT = 1
"""Version of the archives; raised when the same content is packed differently."""
LAUNCH = (
    "import sys; sys.path[:0] = [sys.argv.pop(1)];"
    " from workbench.remote.agent.__main__ import main; sys.exit(main(sys.argv[1:]))"
)
_PROGRAMS = (b"\x7fELF", b"#!")
_MANYLINUX = (17, 28, *range(31, 41))
"""Minor versions of glibc 2 that uv knows as platforms."""


@dataclass(frozen=True)
class Brought:
    """What a workload brings to the clients beside what it is made of."""

    requirements: tuple[str, ...] = ()
    """Packages, as lines of a requirements.txt; their dependencies come with them."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files and folders of the user, by their path in the working directory there."""
    arguments: tuple[str, ...] = ()
    """For the program that checks them there before the run."""
    packages_here: bool = False
    """Whether this computer has all packages of the workload."""


@dataclass(frozen=True)
class Bundle:
    name: str
    """Its kind, for display: "agent", "python"."""
    platform: Platform
    requirements: str
    """Packages, as a requirements.txt; empty: none."""
    also: tuple[str, ...] = ()
    """Further packages, whose dependencies are not listed."""
    packages: str = "."
    """Directory in the archive for packages."""
    sources: Mapping[str, Path] = field(default_factory=dict)
    """Our own files by their path in the archive."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Generated files by their path in the archive."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links, by their path in the archive."""

    def key(self) -> str:
        """The hash of the content, the same on every computer."""
        platform = self.platform
        parts = [
            FORMAT,
            self.requirements,
            *([sorted(self.also)] if self.also else []),
            self.packages,
            [minor(platform.python), platform.machine, platform.libc, platform.libc_version],
            [
                [name, hashlib.sha256(path.read_bytes()).hexdigest()]
                for name, path in sorted(self.sources.items())
            ],
            sorted(self.texts.items()),
            sorted(self.links.items()),
        ]
        return f"{self.name}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]}"


async def bring(machine: Machine, bundle: Bundle) -> str:
    """Copy a bundle to the machine. Returns its absolute path there. Raises PongbenchError when a
    package cannot be fetched or the machine has no space."""
    archive = await archived(bundle)
    return await machine.bring(archive, f"bundles/{archive.name.partition('.')[0]}")


async def bring_tree(machine: Machine, tree: Path, folder: str) -> str:
    """Copy a tree, named after its content, to the machine. Returns its absolute path there."""
    archive = await kept(f"{folder}-{tree.name}", lambda archive: pack(tree, archive))
    return await machine.bring(archive, f"{folder}/{tree.name}")


async def archived(bundle: Bundle) -> Path:
    """Return the path of the archive, which is built if it is missing."""
    key = await asyncio.to_thread(bundle.key)
    return await kept(key, lambda archive: _make(bundle, archive))


def archive_of(name: str) -> Path:
    """Return the path of the archive of that name, which need not exist."""
    return paths.cache_dir() / "bundles" / f"{name}.tar.gz"


async def kept(name: str, make: Callable[[Path], None]) -> Path:
    """Return the archive of that name, which `make` writes if it is missing: once, even if several
    machines that need it are opened concurrently."""
    archive = archive_of(name)

    def make_once() -> None:
        with _making[archive]:
            if not archive.is_file():
                make(archive)

    await asyncio.to_thread(make_once)
    return archive


def pack(
    tree: Path,
    archive: Path,
    *,
    texts: Mapping[str, str | bytes] | None = None,
    links: Mapping[str, str] | None = None,
) -> None:
    """Pack a tree into an archive, atomically; `texts` and `links` (path to target) take the place
    of its files of these names. Its modes are those of POSIX, whatever this computer's are."""
    added: list[tuple[tarfile.TarInfo, bytes]] = []
    for name, text in {**(texts or {}), ".whole": f"{archive.name}\n"}.items():
        data = text.encode() if isinstance(text, str) else text
        member = tarfile.TarInfo(name)
        member.size, member.mode = len(data), 0o755 if data.startswith(_PROGRAMS) else 0o644
        added.append((member, data))
    for name, target in (links or {}).items():
        member = tarfile.TarInfo(name)
        member.type, member.linkname = tarfile.SYMTYPE, target
        added.append((member, b""))
    instead = {member.name for member, _ in added}

    with (
        stores.replacing(archive, stores.DEFAULT_MODE) as file,
        tarfile.open(fileobj=file, mode="w:gz", compresslevel=3) as tar,
    ):

        def taken(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
            # The other end unpacks member by member and does not support hard links.
            tar.inodes.clear()  # type: ignore[attr-defined]
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mode = mode_of(tree / member.name) if member.isreg() else 0o755
            return None if member.name.removeprefix("./") in instead else member

        tar.add(tree, arcname=".", filter=taken)
        for member, data in added:
            tar.addfile(member, io.BytesIO(data))


async def agent_command(
    machine: Machine, worker: str = "", brought: Brought | None = None
) -> tuple[list[str], dict[str, str]]:
    """Return (argv, environment) to start a load agent there, without its options. `worker`: the
    package of `remote.generators` with its workers; empty: its own ones."""
    options = ["--worker", f"workbench.remote.generators.{worker}"] if worker else []
    if machine.platform is None and (brought is None or brought.packages_here):
        argv = [paths.PYTHON, "-m", "workbench.remote.agent", *options]
        return argv, {"PYTHONPATH": str(paths.CODE)}
    place = await agent_place(machine, worker, brought)
    return [*machine.python, "-c", LAUNCH, place, *options], {}


async def agent_place(machine: Machine, worker: str = "", brought: Brought | None = None) -> str:
    """Copy the agent and its packages to a machine. Returns their path there."""
    name = f"agent-{worker}".rstrip("-")
    platform, also = machine.platform or own_platform(), brought.requirements if brought else ()
    bundle = Bundle(name, platform, agent_packages(worker), also, sources=agent_sources())
    return await bring(machine, bundle)


def own_platform() -> Platform:
    libc, version = host.libc_ver()
    return Platform(
        host.python_version(), host.machine(), "glibc" if libc == "glibc" else "musl", version
    )


def agent_packages(worker: str = "") -> str:
    """Return the packages of the agent, or of other workers, as a requirements.txt with hashes."""
    return (paths.RESOURCES / "agent" / f"{worker or 'requirements'}.txt").read_text("utf-8")


def agent_sources() -> dict[str, Path]:
    """Return the files of the agent and of all it may import, by their path below sys.path."""
    files = (REMOTE.parent / "__init__.py", *sorted(REMOTE.rglob("*.py")))
    return {path.relative_to(paths.CODE).as_posix(): path for path in files}


def target_of(platform: Platform) -> str:
    """Return uv's name for the platform."""
    if platform.libc != "glibc":
        return f"{platform.machine}-unknown-linux-musl"
    minor = int(platform.libc_version.split(".")[1])
    return f"{platform.machine}-manylinux_2_{max(n for n in _MANYLINUX if n <= max(17, minor))}"


_making: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


def _make(bundle: Bundle, archive: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="pongbench-bundle-") as work:
        tree = Path(work, "tree")
        packages = tree / bundle.packages
        packages.mkdir(parents=True)
        if bundle.requirements or bundle.also:
            _install(bundle, Path(work), packages)
        sources = {name: source.read_bytes() for name, source in bundle.sources.items()}
        pack(tree, archive, texts={**sources, **bundle.texts}, links=bundle.links)


def mode_of(path: Path) -> int:
    """Return that of a file on a machine: programs are known by how they begin, on Windows, too."""
    with path.open("rb") as file:
        return 0o755 if file.read(4).startswith(_PROGRAMS) else 0o644


def _install(bundle: Bundle, work: Path, packages: Path) -> None:
    listed = work / "requirements.txt"
    listed.write_text("\n".join([bundle.requirements, *bundle.also]), "utf-8")
    # All dependencies are listed, except those of further packages.
    alone = () if bundle.also else ("--no-deps",)
    done = uv(
        *("pip", "install", "--no-config", *alone),
        *("--target", str(packages)),
        *("--python-version", minor(bundle.platform.python)),
        *("--python-platform", target_of(bundle.platform)),
        *("--only-binary", ":all:", "--requirement", str(listed)),
    )
    if done.returncode:
        raise PongbenchError(_sentence(bundle, done.stderr))


def _sentence(bundle: Bundle, output: str) -> str:
    platform = bundle.platform
    where = (
        f"Python {minor(platform.python)} on {platform.machine}"
        f" with {platform.libc} {platform.libc_version}".rstrip()
    )
    if fetching.unreached(output):
        connect = "connect this computer to the network once, what was fetched is then kept"
        return f"Packages for {where} cannot be fetched: {fetching.why_unreached(output, connect)}."
    if wheelless := re.search(r"Wheels are (?:required|available) for `([\w.-]+)`", output):
        return f"There is no ready-made package of {wheelless[1]} for {where}."
    causes = re.findall(r"^\s*cause: (.*)|^\s*╰─▶ (.*)", output, re.MULTILINE)
    lines = output.strip().splitlines() or ["uv said nothing"]
    cause = "".join(causes[0]) if causes else lines[-1].strip()
    return f"There are no packages for {where} that fit: {cause.rstrip('.')}."


def minor(version: str) -> str:
    """Return "3.11" of "3.11.2"."""
    return ".".join(version.split(".")[:2])

"""An entry of the catalogue: a folder, whose name is its id, with a `server.yaml`, a program and
its requirements. Shipped entries and a user's own are treated alike."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from workbench import paths
from workbench.errors import BadInput
from workbench.messages.plans import Right
from workbench.servers.address import Contact
from workbench.servers.facts import In2009, In2010, Text, Today
from workbench.servers.programs import ProgramName
from workbench.servers.requirements import normalised, pins
from workbench.workloads.http.requests import Secret
from workbench.workloads.registry import ALL_FAMILIES, MESSAGES, PROTOCOLS

if TYPE_CHECKING:
    Family: TypeAlias = str
    Protocol: TypeAlias = str
else:
    Family = Literal[(*ALL_FAMILIES, "tool")]
    Protocol = Literal[(*PROTOCOLS, MESSAGES)]
"""Those of workloads, and: message and messages, for servers that only their own `check` can test;
tool, for our own programs, such as the null server."""
APPS = paths.RESOURCES / "apps"
"""Applications used by several servers."""

NOT_OURS = (
    "It was running already: Pongbench did not deploy, restart or confine it, so its backlog,"
    " descriptors, cores and state are its own."
)

Runtime: TypeAlias = Literal["python", "python3.9", "python2.7", "none"]
"""none: it needs only its programs."""

PLACEHOLDERS = ("host", "port", "backlog", "folder", "made")
"""Placeholders of every command; the runtime and the programs add theirs. folder: the server's
files; made: the output of `make`."""

RUNTIME_PLACEHOLDERS: dict[str, tuple[str, ...]] = {
    "python": ("python", "venv"),
    "python3.9": ("python",),
    "python2.7": ("python",),
    "none": (),
}


class Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An earlier result of the wire gate, for users who have not tested the server yet."""

    keep_alive: bool = False
    pipelining: int = 0
    """Calls answered of three pipelined ones."""
    processes: int = 0
    threads: int = 0
    memory_mb: float = 0.0
    """Resident memory while idle, of all its processes; shared pages count in each."""
    bytes: int = 0
    """Of its response on the wire; 0: not counted."""
    version: str = ""
    cold_start_s: float | None = None
    """From its command until it was ready, of freshly copied files; None: not measured."""
    warm_start_s: float | None = None
    """Of the start after that."""
    source: Text

    @property
    def rss_bytes(self) -> int:
        return round(self.memory_mb * 1e6)


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The exact response expected from the server."""

    status: Annotated[int, Meta(ge=100, le=599)] = 200
    body: str | None = "Pong!"
    """None: any."""
    body_of: Annotated[str, Meta(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]{0,99})?$")] = ""
    """The file of the server, or one of its `shared`, that has the body; empty: `body` has it."""
    json: bool = False
    """Whether the body is JSON, compared by value."""


class SourceAt(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the source of a server is public."""

    git: Annotated[str, Meta(pattern=r"^(https?|git|file)://\S+$", max_length=300)]
    commit: Annotated[str, Meta(pattern=r"^[0-9a-f]{40}$")]
    licence: Annotated[str, Meta(min_length=1, max_length=200)]
    sha256: Annotated[str, Meta(pattern=r"^([0-9a-f]{64})?$")] = ""
    """Of an archive of its tree, see `sources.digest`; empty: only git's hash, the commit."""
    package: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_]*$")] = ""
    """The folder below `source` that it is copied to, if the repository itself is the package."""

    @property
    def short(self) -> str:
        """The commit, as git abbreviates it."""
        return self.commit[:12]

    @property
    def name(self) -> str:
        """The name of its folder: "chiral-1f287209"."""
        repository = self.git.rstrip("/").rpartition("/")[2].removesuffix(".git")
        return f"{repository}-{self.commit[:8]}"


class Unavailable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a server cannot be run."""

    reason: Text
    tried: str = ""
    """ISO date."""
    instead: str = ""
    """The closest maintained alternative: an id or a name."""


class ServerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of `server.yaml`."""

    name: Text
    family: Family
    description: str = ""
    language: str = "Python"
    style: str = ""
    """How it handles concurrent connections: callbacks, greenlets, threads, ..."""
    notes: list[Text] = []
    """What a reader of the results should know."""

    runtime: Runtime = "python"
    programs: list[ProgramName] = []
    """Programs of the system, see `servers.programs`; each is also a placeholder of the command."""
    shared: list[Text] = []
    """Files of `resources/apps` that are deployed with it; its own of that name come first."""
    make: list[list[Text]] = []
    """Commands that compile it into {made}; with `source_at` they run confined, as it does."""
    requirements: str = ""
    """A file of exact pins in the folder; empty: the standard library only."""
    build: bool = False
    """Whether requirements without a wheel may be compiled."""
    framework: str = ""
    """The requirement or program whose version is the server's."""
    version: str = ""
    """Name and version of its framework, where it is neither: as its lock file has them."""
    imports: list[Text] = []
    """Modules that must be importable before a runtime counts as built."""
    env: dict[str, str | Secret] = {}
    """Variables it is started with; CFLAGS also counts where it is compiled."""
    rights: dict[Right, Text] = {}
    """Privileges it requires, and why; see `messages.plans.RIGHTS`."""
    command: list[Text] = []
    """The command's arguments, run in a copy of the folder; see `PLACEHOLDERS`."""
    source: str = "server.py"
    """The file worth reading."""

    ready: Literal["tcp", "http"] = "tcp"
    """tcp: once it accepts connections; http: once it answers a call and its processes are idle,
    for servers that accept long before their workers have started."""
    ready_within_s: Annotated[float, Meta(gt=0, le=600)] = 30.0
    warm_up_s: Annotated[float, Meta(ge=0, le=120)] = 0.0
    """Seconds of calls after each start, before a plan's own; for servers with a JIT compiler."""
    protocols: list[Protocol] = []
    tls: list[Text] | None = None
    """Arguments for HTTPS, with the files {certificate} and {key}. None: it has no TLS."""
    check: list[Text] = []
    """A program in place of the workload's gate: its last line is the result, 0 is success."""
    path: str = "/"
    reply: Reply = Reply()
    also: dict[str, Reply] = {}
    """Further paths that it must answer."""
    closes_first: Literal["server", "client"] = "server"
    """Who closes after the only call of a connection. That side keeps the port in TIME_WAIT."""
    ipv6: bool = True
    """Whether it can listen on an IPv6 address."""
    one_client: bool = False
    """Whether it has one client at a time, so that several cannot share its load."""
    processes: Annotated[int, Meta(ge=1, le=1_024)] = 1
    """Worker processes; more than one uses more than one core."""
    workers: Literal["reuse-port"] | list[Text] = []
    """How it starts in several processes, see `catalogue.variant_of`: reuse-port for {python} and
    a program, or arguments with {workers}. Empty: it cannot or need not."""
    unequal: list[Text] = []
    """In which respects it is not comparable with the others; `differences` has all."""
    tls_unequal: list[Text] = []
    """Further ones, over TLS."""

    in_2009: In2009 | None = None
    in_2010: In2010 | None = None
    project: Annotated[str, Meta(pattern=r"^[a-z0-9._-]*$", max_length=63)] = ""
    """The file of `resources/projects` with facts that come after `today`; empty: that of its
    framework, if there is one."""
    today: Today = Today()
    seen: Seen | None = None
    source_at: SourceAt | None = None
    """Public source that no package registry has; deployed as the folder `source`."""
    fault: str = ""
    """A fault of its own with which it may fail the wire gate; it is measured all the same."""
    improves: str = ""
    """The id of the published listing of which this is the improved one."""
    unavailable: Unavailable | None = None


class ServerEntry(ServerFile, frozen=True, kw_only=True):
    """A checked entry."""

    id: str
    folder: Path
    shipped: bool = False
    running: Contact | None = None
    """How it is reached where it is running already; None: it is deployed."""

    @property
    def heritage(self) -> bool:
        """Whether it runs on a Python without security updates."""
        return self.runtime in ("python2.7", "python3.9")

    @property
    def differences(self) -> list[str]:
        """In which respects it is not comparable with the others; `tls_unequal` has more."""
        return [*self.unequal, *self.conditions]

    @property
    def conditions(self) -> list[str]:
        """In which respects it is not comparable with servers that do not say the same."""
        python = self.runtime.removeprefix("python")
        return [
            *[NOT_OURS] * (self.running is not None),
            *[f"Serves in {self.processes:,} processes."] * (self.processes > 1),
            *[f"Runs on Python {python}, most servers on a current Python 3."] * self.heritage,
        ]

    @property
    def requirements_path(self) -> Path | None:
        return self.file_of(self.requirements) if self.requirements else None

    @property
    def pinned(self) -> list[str]:
        """Normalised names of all packages it requires."""
        return list(pins(self.requirements_path)) if self.requirements_path else []

    @property
    def pinned_version(self) -> str:
        """The version of its framework that it requires; empty: none."""
        if self.version:
            return self.version.rpartition(" ")[2]
        path = self.requirements_path
        return pins(path).get(normalised(self.framework), "") if path else ""

    @property
    def source_path(self) -> Path:
        return self.file_of(self.source)

    @property
    def shared_paths(self) -> list[Path]:
        """The files of `APPS` that it uses; its own file of that name takes precedence."""
        return [path for name in self.shared if (path := self.file_of(name)).parent == APPS]

    def file_of(self, name: str) -> Path:
        """Return its own file of a name, or one of its `shared`."""
        shared = name in self.shared and not (self.folder / name).is_file()
        return (APPS if shared else self.folder) / name

    @property
    def programs_at_run(self) -> list[ProgramName]:
        """Programs it runs with, without those that only compile it."""
        made = " ".join(part for argv in self.make for part in argv)
        run = " ".join([*self.command, *self.check])
        return [name for name in self.programs if f"{{{name}}}" in run or f"{{{name}}}" not in made]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """Placeholders of its commands, without those of `tls`."""
        return (*RUNTIME_PLACEHOLDERS[self.runtime], *PLACEHOLDERS, *self.programs)

    @property
    def replies(self) -> dict[str, Reply]:
        """The expected responses by path; the first is the measured one. Empty: see `expected`."""
        return {} if self.running else {self.path: self.reply, **self.also}

    @property
    def authority(self) -> str:
        """What requests name as Host; empty: the address that they go to."""
        if self.running is None or self.running.address.host == self.running.used:
            return ""
        return self.running.address.authority

    @property
    def expected(self) -> Mapping[str, Mapping[str, Any]]:
        """What a running server answered before the run; see `Contact`."""
        return self.running.expected if self.running else {}

    def argv(self, **values: str) -> list[str]:
        """Return the command with its placeholders filled in; with a certificate that of HTTPS. An
        IPv6 address before a port is in brackets."""
        added = (self.tls or []) if "certificate" in values else []
        parts = [*self.command, *added]
        if ":" in values.get("host", ""):
            parts = [part.replace("{host}:", "[{host}]:") for part in parts]
        return [part.format_map(values) for part in parts]

    def check_links(self) -> None:
        """Raise BadInput if a link in its folder would not lead to the same file on a machine."""
        root = os.path.realpath(self.folder)
        for link in sorted(path for path in self.folder.rglob("*") if path.is_symlink()):
            inside = Path(os.path.realpath(link)).is_relative_to(root)
            if link.readlink().is_absolute() or not inside or not link.exists():
                raise BadInput(
                    f"{link} is a link to {link.readlink()}, which would not be there on a machine;"
                    " put a copy in its place."
                )

    def files(self) -> dict[str, str]:
        """Return the SHA-256 of every deployed file by relative path."""
        if self.running:
            return {}
        found = sorted(p for p in self.folder.rglob("*") if p.is_file())
        deployed = (path for path in found if "__pycache__" not in path.parts)
        own = {path.relative_to(self.folder).as_posix(): path for path in deployed}
        shared = {path.name: path for path in self.shared_paths}
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in {**own, **shared}.items()
        }

"""An entry of the catalogue: a folder with a `server.yaml`, a program and its requirements.

The name of the folder is the id. Shipped entries and a user's own are the same in every respect.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from workbench.config import yaml
from workbench.errors import BadInput
from workbench.rights import Right
from workbench.servers import entry_problems
from workbench.servers.entry_problems import APPS, pinned
from workbench.servers.programs import ProgramName
from workbench.untrusted import one_line, safe
from workbench.workloads.registry import FAMILIES, MESSAGES, PROTOCOLS

if TYPE_CHECKING:
    Family: TypeAlias = str
    Protocol: TypeAlias = str
else:
    Family = Literal[(*FAMILIES, "message", "tool")]
    Protocol = Literal[(*PROTOCOLS, MESSAGES)]
"""What the workloads declare, and: message and messages, for servers that only their own `check`
understands; tool, no contestant but something of ours, such as the null server."""
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2_000)]

Runtime: TypeAlias = Literal["python", "python3.9", "python2.7", "none"]
"""none: the programs it needs are enough."""

PLACEHOLDERS = ("host", "port", "backlog", "folder", "made")
"""What every command may hold in braces; the runtime and the programs needed add theirs. folder:
where the server's files are; made: what `make` has made."""

RUNTIME_PLACEHOLDERS: dict[str, tuple[str, ...]] = {
    "python": ("python", "venv"),
    "python3.9": ("python",),
    "python2.7": ("python",),
    "none": (),
}


class Fact(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something said about a server, and where it is from."""

    value: Text
    source: Text


class In2009(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The row of the feature table of 2009, as it was printed; empty: not legible."""

    licence: str = ""
    documentation: str = ""
    examples: str = ""
    production: str = ""
    community: str = ""
    activity: str = ""
    blog: str = ""
    twitter: str = ""
    repository: str = ""
    thread_pool: str = ""
    wsgi: str = ""
    socket: str = ""
    comet: str = ""
    epoll: str = ""
    tests: str = ""
    style: str = ""


class Today(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known about the framework now; None: not established."""

    licence: Fact | None = None
    released: Fact | None = None
    """ISO date of the version that is run; its source says which."""
    tls: Fact | None = None
    tests: Fact | None = None


class Seen(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the wire gate once saw of a server, for those who have not tried it yet."""

    keep_alive: bool = False
    pipelining: int = 0
    """Calls answered of three sent at once."""
    processes: int = 0
    threads: int = 0
    memory_mb: float = 0.0
    """Resident and idle, of all its processes; pages they share count in each."""
    source: Text

    @property
    def rss_bytes(self) -> int:
        return round(self.memory_mb * 1e6)


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the server has to answer, exactly."""

    status: Annotated[int, Meta(ge=100, le=599)] = 200
    body: str = "Pong!"
    json: bool = False
    """Is the body JSON, equal when it says the same in another spelling?"""


class Unavailable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a server cannot be run."""

    reason: Text
    tried: Text
    """ISO date."""
    instead: str = ""
    """The nearest living relative: an id or a name."""


class ServerFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `server.yaml` holds."""

    name: Text
    family: Family
    description: str = ""
    language: str = "Python"
    style: str = ""
    """How it handles many connections: callbacks, greenlets, threads, ..."""
    notes: list[Text] = []
    """What a reader of the figures should know."""

    runtime: Runtime = "python"
    programs: list[ProgramName] = []
    """Of the system, see `servers.programs`; each is a placeholder of the command, too."""
    shared: list[Text] = []
    """Files of `resources/apps` that are deployed beside the folder's own."""
    make: list[list[Text]] = []
    """Commands that compile it, run once in a copy of the folder; what they leave in {made} is
    kept, by content."""
    requirements: str = ""
    """A file of exact pins in the folder, hashes allowed; empty: the standard library is enough."""
    build: bool = False
    """May requirements without a wheel be compiled?"""
    framework: str = ""
    """The requirement or program whose version is the server's version."""
    imports: list[Text] = []
    """Modules that must import before a runtime counts as built."""
    env: dict[str, str] = {}
    rights: dict[Right, Text] = {}
    """What it cannot do without, and why; see `rights.RIGHTS`."""
    command: list[Text] = []
    """Arguments, run in a copy of the folder; see `PLACEHOLDERS`."""
    source: str = "server.py"
    """The file worth reading."""

    ready: Literal["tcp", "http"] = "tcp"
    """tcp: it is ready once it accepts connections; http: once it answers a call
    and its processes have come to rest, for what accepts long before its workers are there."""
    ready_within_s: Annotated[float, Meta(gt=0, le=600)] = 30.0
    warm_up_s: Annotated[float, Meta(ge=0, le=120)] = 0.0
    """Seconds of calls before it is measured, each time it is started; for what gets faster while
    it runs. A plan's own warm-up follows."""
    protocols: list[Protocol] = []
    check: list[Text] = []
    """A program that tries it, for messages: its last line is what it found, 0 that all is well."""
    path: str = "/"
    reply: Reply = Reply()
    also: dict[str, Reply] = {}
    """Other paths it has to answer."""
    closes_first: Literal["server", "client"] = "server"
    """After the only call of a connection. Who closes first keeps the port in TIME_WAIT."""
    processes: Annotated[int, Meta(ge=1, le=1_024)] = 1
    """That serve; more than one uses more than one core."""
    unequal: list[Text] = []
    """In which respects it could not be made equal to the others."""

    in_2009: In2009 | None = None
    today: Today = Today()
    seen: Seen | None = None
    unavailable: Unavailable | None = None


class ServerEntry(ServerFile, frozen=True, kw_only=True):
    """A checked entry."""

    id: str
    folder: Path
    shipped: bool = False

    @property
    def heritage(self) -> bool:
        """Does it run on a Python that gets no security fixes any more?"""
        return self.runtime in ("python2.7", "python3.9")

    @property
    def requirements_path(self) -> Path | None:
        return self.folder / self.requirements if self.requirements else None

    @property
    def pinned(self) -> list[str]:
        """Normalised names of all the packages it requires."""
        if self.requirements_path is None:
            return []
        return pinned(self.requirements_path)

    @property
    def source_path(self) -> Path:
        return (APPS if self.source in self.shared else self.folder) / self.source

    @property
    def shared_paths(self) -> list[Path]:
        return [APPS / name for name in self.shared]

    @property
    def programs_at_run(self) -> list[ProgramName]:
        """Without those that only compile it."""
        made = " ".join(part for argv in self.make for part in argv)
        run = " ".join([*self.command, *self.check])
        return [name for name in self.programs if f"{{{name}}}" in run or f"{{{name}}}" not in made]

    @property
    def placeholders(self) -> tuple[str, ...]:
        """What its commands may hold in braces."""
        return (*RUNTIME_PLACEHOLDERS[self.runtime], *PLACEHOLDERS, *self.programs)

    @property
    def replies(self) -> dict[str, Reply]:
        """What it has to answer, by path; the first is what it is measured with."""
        return {self.path: self.reply, **self.also}

    def argv(self, **values: str) -> list[str]:
        """The command with its placeholders filled in."""
        return [part.format_map(values) for part in self.command]

    def files(self) -> dict[str, str]:
        """Relative path to SHA-256 of every file deployed."""
        found = sorted(p for p in self.folder.rglob("*") if p.is_file())
        own = {str(p.relative_to(self.folder)): p for p in found if "__pycache__" not in p.parts}
        shared = {path.name: path for path in self.shared_paths}
        return {
            name: hashlib.sha256(path.read_bytes()).hexdigest()
            for name, path in {**own, **shared}.items()
        }


def load_entry(folder: Path, *, shipped: bool = False) -> ServerEntry:
    """The server in a folder. Raises BadInput with the first thing that is wrong with it."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}; a server is a folder with a server.yaml.")
    path = folder / "server.yaml"
    data = yaml.load_yaml(path, what="server")
    file = yaml.convert(data, ServerFile, name=str(path), what="server")
    file = msgspec.structs.replace(
        file,
        description=safe(file.description),
        **{key: one_line(getattr(file, key)) for key in ("name", "language", "style")},
    )
    entry = ServerEntry(
        id=folder.name, folder=folder, shipped=shipped, **msgspec.structs.asdict(file)
    )
    if problem := entry_problems.problem(entry):
        raise BadInput(f"server {path}{problem}")
    return entry

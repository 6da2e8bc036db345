"""An entry of the catalogue: a folder with a `server.yaml`, a program and its requirements.

The name of the folder is the id. Shipped entries and a user's own are the same in every respect.
"""

from __future__ import annotations

import hashlib
import re
import string
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from workbench import yamlio
from workbench.errors import BadInput

Family: TypeAlias = Literal["socket", "wsgi", "macro", "hello", "message", "tool"]
"""tool: no contestant but something of ours, such as the null server."""

Protocol: TypeAlias = Literal["pong", "http/1.0", "http/1.1"]
Text: TypeAlias = Annotated[str, Meta(min_length=1, max_length=2_000)]

PLACEHOLDERS = ("python", "host", "port", "backlog")
"""What a command may hold in braces."""

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?\s*==\s*[A-Za-z0-9.!+_-]+")


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
    """ISO date of the last release."""
    tls: Fact | None = None
    tests: Fact | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the server has to answer, exactly."""

    status: Annotated[int, Meta(ge=100, le=599)] = 200
    body: str = "Pong!"


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

    runtime: Literal["python"] = "python"
    requirements: str = ""
    """A file of exact pins in the folder, hashes allowed; empty: the standard library is enough."""
    build: bool = False
    """May requirements without a wheel be compiled?"""
    framework: str = ""
    """The requirement whose version is the server's version."""
    imports: list[Text] = []
    """Modules that must import before a runtime counts as built."""
    env: dict[str, str] = {}
    command: list[Text] = []
    """Arguments, run in a copy of the folder; see `PLACEHOLDERS`."""
    source: str = "server.py"
    """The file worth reading."""

    ready: Literal["tcp"] = "tcp"
    """tcp: it is ready once it accepts connections."""
    protocols: list[Protocol] = []
    path: str = "/"
    reply: Reply = Reply()
    closes_first: Literal["server", "client"] = "server"
    """After the last call of a connection. Who closes first keeps the port in TIME_WAIT."""
    processes: Annotated[int, Meta(ge=1, le=1_024)] = 1
    """That serve; more than one uses more than one core."""

    in_2009: In2009 | None = None
    today: Today = Today()
    unavailable: Unavailable | None = None


class ServerEntry(ServerFile, frozen=True, kw_only=True):
    """A checked entry."""

    id: str
    folder: Path
    shipped: bool = False

    @property
    def requirements_path(self) -> Path | None:
        return self.folder / self.requirements if self.requirements else None

    @property
    def source_path(self) -> Path:
        return self.folder / self.source

    def argv(self, **values: str) -> list[str]:
        """The command with `PLACEHOLDERS` filled in."""
        return [part.format_map(values) for part in self.command]

    def files(self) -> dict[str, str]:
        """Relative path to SHA-256 of every file of the folder."""
        found = sorted(p for p in self.folder.rglob("*") if p.is_file())
        return {
            str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in found
            if "__pycache__" not in path.parts
        }


def normalised(package: str) -> str:
    """The name by which a package is the same however it is written."""
    return re.sub(r"[-_.]+", "-", package).lower()


def load_entry(folder: Path, *, shipped: bool = False) -> ServerEntry:
    """The server in a folder. Raises BadInput with the first thing that is wrong with it."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}; a server is a folder with a server.yaml.")
    path = folder / "server.yaml"
    data = yamlio.load_yaml(path, what="server")
    file = yamlio.convert(data, ServerFile, name=str(path), what="server")
    entry = ServerEntry(
        id=folder.name, folder=folder, shipped=shipped, **msgspec.structs.asdict(file)
    )
    if problem := _problem(entry):
        raise BadInput(f"server {path}{problem}")
    return entry


def _problem(entry: ServerEntry) -> str:
    """The rest of a sentence that begins with the name of the file; empty: none."""
    if not _ID.fullmatch(entry.id):
        return (
            f": its folder's name {entry.id!r} is its id, which may hold a-z, 0-9, '.', '_' and '-'"
            " only; rename the folder."
        )
    if entry.unavailable:
        return ""
    if not entry.protocols:
        return ", protocols: none is listed; give pong, or http/1.0 and http/1.1."
    for key in ("source", "requirements"):
        if (name := getattr(entry, key)) and (problem := _file_problem(entry.folder, name)):
            return f", {key}: {problem}"
    return _command_problem(entry) or _pin_problem(entry)


def _file_problem(folder: Path, name: str) -> str:
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        return f"{name!r} lies outside the folder; only what is in the folder is deployed."
    return "" if path.is_file() else f"there is no file {name!r} in the folder."


def _command_problem(entry: ServerEntry) -> str:
    if not entry.command:
        return ', command: it is missing; for example ["{python}", server.py, --port, "{port}"].'
    used = set()
    for part in entry.command:
        try:
            used |= {name for _, name, _, _ in string.Formatter().parse(part) if name is not None}
        except ValueError:
            return f", command: the braces of {part!r} do not match; write {{{{ for a brace."
    if unknown := used - set(PLACEHOLDERS):
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        return f", command: there is no {{{min(unknown)}}}; there are {known}."
    if "port" not in used:
        return ", command: {port} is missing, so it cannot be told where to listen."
    return ""


def _pin_problem(entry: ServerEntry) -> str:
    if entry.requirements_path is None:
        return f", framework: {entry.framework} is not in any requirements." * bool(entry.framework)
    pinned = set()
    for number, line in _requirements(entry.requirements_path):
        if not (pin := _PIN.match(line)):
            return (
                f", requirements: line {number} of {entry.requirements} is no exact version"
                f" ({line[:40]!r}); write name==version, as uv pip compile does."
            )
        pinned.add(normalised(pin["name"]))
    if entry.framework and normalised(entry.framework) not in pinned:
        return f", framework: {entry.framework!r} is not among the {entry.requirements}."
    return ""


def _requirements(path: Path) -> list[tuple[int, str]]:
    """(line number, text) of each requirement, without comments and continuation lines."""
    text = yamlio.read_text(path, what="requirements")
    found, continued = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and not continued:
            found.append((number, stripped))
        continued = stripped.endswith("\\")
    return found

"""An entry of the catalogue read from its folder, and what is wrong with it beyond the schema."""

from __future__ import annotations

import difflib
import re
import string
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from workbench import paths
from workbench.config import yaml
from workbench.errors import BadInput, why
from workbench.servers.entry import APPS, RUNTIME_PLACEHOLDERS, Reply, ServerEntry, ServerFile
from workbench.servers.facts import NOT_FOUND, Fact, Text, Today
from workbench.servers.programs import PROGRAMS
from workbench.servers.requirements import PIN, normalised, requirements
from workbench.untrusted import one_line, safe
from workbench.workloads.registry import MESSAGES, WORKLOADS

PROJECTS = paths.RESOURCES / "projects"


class Sought(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Facts that were not found in one place."""

    facts: list[str]
    source: Text
    """Where they were sought, or why they are not to be had."""
    at: str


class ProjectFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of a file."""

    seen: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$")]
    """ISO date when the sources were read."""
    sources: dict[str, str]
    """Addresses by name."""
    today: Today
    not_found: list[Sought] = []


def facts_of(project: str, framework: str) -> Today:
    """Return the facts of a project, or of a framework's. Raises BadInput."""
    path = PROJECTS / f"{project or framework.lower()}.yaml"
    if path.is_file():
        return load_facts(path)
    if project:
        raise BadInput(f"there is no project {project!r} in {PROJECTS}")
    return Today()


@cache
def load_facts(path: Path) -> Today:
    """Return the facts of a file, each with address and date. Raises BadInput."""
    data = yaml.load_yaml(path, what="project")
    file = yaml.convert(data, ProjectFile, name=str(path), what="project")
    for name, address in file.sources.items():
        if not address.startswith(("https://", "http://")):
            raise BadInput(f"project {path}, sources.{name}: {address!r} is no address; give one.")
    facts = {name: fact for name, fact in msgspec.structs.asdict(file.today).items() if fact}
    for sought in file.not_found:
        for name in sought.facts:
            if name in facts or name not in Today.__struct_fields__:
                problem = "is given under today, too" if name in facts else "is no fact"
                raise BadInput(f"project {path}, not_found: {name!r} {problem}.")
            facts[name] = Fact(value=NOT_FOUND, source=sought.source, at=sought.at)
    for name, fact in facts.items():
        if fact.at not in file.sources:
            known = ", ".join(file.sources) or "none yet"
            raise BadInput(
                f"project {path}, today.{name}.at: {fact.at!r} is not among its sources; there are"
                f" {known}."
            )
        at, seen = file.sources[fact.at], fact.seen or file.seen
        facts[name] = msgspec.structs.replace(fact, at=at, seen=seen)
    return Today(**facts)


_FIXED_PORT = re.compile(r"(?:(?<=[:=])|^)[1-9][0-9]{1,4}$")
"""At the end of a part of a command: 8000, 127.0.0.1:8000, --port=8000."""
_ID = re.compile(r"(?=.{1,63}$)[a-z0-9][a-z0-9._-]*(@[a-z0-9][a-z0-9._-]*)?")
"""What follows an @ is a version of the server whose id is before it: tornado@0.2."""


def is_id(text: str) -> bool:
    """Return whether a server can have this id."""
    return _ID.fullmatch(text) is not None


def load_entry(folder: Path, *, shipped: bool = False) -> ServerEntry:
    """Load the server in a folder. Raises BadInput with its first problem."""
    folder = folder.absolute()
    if not folder.is_dir():
        raise BadInput(f"There is no folder {folder}; a server is a folder with a server.yaml.")
    path = folder / "server.yaml"
    once = shipped and path.is_file()
    file = _read_once(path, path.stat().st_mtime_ns) if once else _read(path)
    entry = ServerEntry(
        id=folder.name, folder=folder, shipped=shipped, **msgspec.structs.asdict(file)
    )
    try:
        _check(entry)
    except ValueError as problem:
        raise BadInput(f"server {path}{problem}") from None
    return _with_bodies(entry)


@cache
def _read_once(path: Path, changed_ns: int) -> ServerFile:
    """Shipped files stay as they are; reading them all takes longer than anything else here."""
    return _read(path)


def _read(path: Path) -> ServerFile:
    data = yaml.load_yaml(path, what="server")
    file = yaml.convert(data, ServerFile, name=str(path), what="server")
    file = msgspec.structs.replace(
        file,
        description=safe(file.description),
        **{key: one_line(getattr(file, key)) for key in ("name", "language", "style")},
    )
    if "@" in path.parent.name and not file.project:
        return file  # What is true of a project today is not of its old version.
    try:
        shared = facts_of(file.project, file.framework)
    except BadInput as error:
        text = str(error)
        raise BadInput(
            text if text.startswith("project ") else f"server {path}, project: {text}."
        ) from None
    own = msgspec.structs.asdict(file.today)
    today = Today(**{name: fact or getattr(shared, name) for name, fact in own.items()})
    return msgspec.structs.replace(file, today=today)


def _with_bodies(entry: ServerEntry) -> ServerEntry:
    """Read the bodies that the entry has in files. Raises BadInput."""

    def read(reply: Reply) -> Reply:
        if not reply.body_of:
            return reply
        path = entry.file_of(reply.body_of)
        try:
            return msgspec.structs.replace(reply, body=path.read_text("utf-8", "replace"))
        except OSError as error:
            raise BadInput(
                f"server {entry.folder / 'server.yaml'}, body_of: {path} cannot be read:"
                f" {why(error)}."
            ) from None

    also = {path: read(reply) for path, reply in entry.also.items()}
    return msgspec.structs.replace(entry, reply=read(entry.reply), also=also)


def _check(entry: ServerEntry) -> None:
    """Raises ValueError with the rest of a sentence that begins with the file's name."""
    if not is_id(entry.id):
        raise ValueError(
            f": its folder's name {entry.id!r} is its id, which may contain a-z, 0-9, '.', '_'"
            " and '-' only; rename the folder."
        )
    if entry.unavailable:
        return
    if not entry.protocols:
        known = ", or ".join(
            " and ".join(each.protocols) for each in WORKLOADS.values() if not each.spoken
        )
        raise ValueError(f", protocols: none is listed; give {known}.")
    if MESSAGES in entry.protocols and not entry.check:
        raise ValueError(", check: messages need a program in the folder that tests the server.")
    for key, hint in (("source", " Name the file of the server."), ("requirements", "")):
        name = getattr(entry, key)
        if name and name not in entry.shared and (problem := _file_problem(entry.folder, name)):
            raise ValueError(f", {key}: {problem}{hint}")
    files = sorted(path.name for path in APPS.iterdir() if path.is_file())
    if other := next((name for name in entry.shared if name not in files), ""):
        raise ValueError(f", shared: there is no {other!r}; there are {', '.join(files)}.")
    _check_commands(entry)
    _check_pins(entry)


def _file_problem(folder: Path, name: str) -> str:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return f"{name!r} lies outside the folder; only what is in the folder is deployed."
        there = path.is_file()
    except (OSError, ValueError):  # Too long, or with a character that is invalid in file names.
        there = False
    return "" if there else f"there is no file {name!r} in the folder."


def _check_commands(entry: ServerEntry) -> None:
    if not entry.command:
        example = '["{python}", server.py, --port, "{port}"]'
        raise ValueError(f", command: it is missing; for example {example}.")
    known = set(entry.placeholders)
    makers = {*entry.programs, *RUNTIME_PLACEHOLDERS[entry.runtime], "folder", "made", "packages"}
    _check_braces("command", entry.command, known)
    _check_braces("check", entry.check, known)
    _check_braces("tls", entry.tls or [], {*known, "certificate", "key"})
    for argv in entry.make:
        _check_braces("make", argv, makers)
    if entry.workers == "reuse-port":
        if entry.command[0] != "{python}" or entry.command[1:2] in ([], ["-m"]):
            raise ValueError(", workers: reuse-port needs a command of {python} and a program.")
    elif entry.workers:
        _check_braces("workers", entry.workers, {"workers"})
        if not any("{workers}" in part for part in entry.workers):
            problem = "{workers} is missing, so the server cannot know how many to start."
            raise ValueError(f", workers: {problem}")
    if problem := _program_problem(entry):
        raise ValueError(f", command: {problem}")
    if not any("{port}" in part for part in entry.command):
        fixed = next((part for part in entry.command if _FIXED_PORT.search(part)), "")
        problem = ", command: {port} is missing, so the server cannot know where to listen."
        if fixed:
            problem += f" Write {_FIXED_PORT.sub('{port}', fixed)!r} in place of {fixed!r}."
        raise ValueError(problem)


def _program_problem(entry: ServerEntry) -> str:
    for part in entry.command:
        if "{" in part or "/" not in part:
            continue
        path = entry.folder / part
        try:
            outside = not path.resolve().is_relative_to(entry.folder.resolve())
            theirs = outside and path.is_file() and not path.resolve().is_relative_to("/usr")
        except (OSError, ValueError):  # Too long, or no path at all.
            continue
        if theirs:
            return (
                f"{part!r} lies outside the folder; only what is in the folder is deployed. Copy it"
                f" there and write {path.name}."
            )
    program = entry.command[1] if entry.command[0] == "{python}" and entry.command[1:] else ""
    if program.endswith(".py") and "{" not in program and not entry.source_at:
        there = {path.relative_to(entry.folder).as_posix() for path in entry.folder.rglob("*.py")}
        there |= set(entry.shared)
        if program not in there:
            likely = difflib.get_close_matches(program, sorted(there), 1)
            hint = f" Did you mean '{likely[0]}'?" if likely else ""
            return f"there is no file {program!r} in the folder.{hint}"
    return ""


def _check_braces(key: str, argv: list[str], known: set[str]) -> None:
    for part in argv:
        try:
            used = {name for _, name, _, _ in string.Formatter().parse(part) if name is not None}
        except ValueError:
            problem = f"the braces of {part!r} do not match; write {{{{ for a brace."
            raise ValueError(f", {key}: {problem}") from None
        for name in sorted(used - known):
            if name in PROGRAMS:
                problem = f"{{{name}}} is used, but {name} is not listed in programs."
                raise ValueError(f", {key}: {problem}")
            there = ", ".join(f"{{{name}}}" for name in sorted(known))
            raise ValueError(f", {key}: there is no {{{name}}}; there are {there}.")


def _check_pins(entry: ServerEntry) -> None:
    if entry.heritage and not entry.requirements:
        problem = f"{entry.runtime} needs a file of them, be it empty."
        raise ValueError(f", requirements: {problem}")
    pinned = {normalised(name) for name in entry.programs}
    listed = requirements(entry.requirements_path) if entry.requirements_path else []
    for number, line in listed:
        if not (pin := PIN.match(line)):
            raise ValueError(
                f", requirements: line {number} of {entry.requirements} is no exact version"
                f" ({line[:40]!r}); write name==version, or let `pongbench catalogue lock"
                f" {entry.id}` pin every package."
            )
        pinned.add(normalised(pin["name"]))
    if entry.framework and normalised(entry.framework) not in pinned:
        where = entry.requirements or "requirements"
        raise ValueError(f", framework: {entry.framework!r} is not among the {where}.")

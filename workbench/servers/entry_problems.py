"""Errors in an entry of the catalogue beyond the schema of its file."""

from __future__ import annotations

import re
import string
from pathlib import Path
from typing import TYPE_CHECKING

from workbench import paths
from workbench.config import yaml
from workbench.servers.programs import PROGRAMS
from workbench.workloads.registry import MESSAGES, WORKLOADS

if TYPE_CHECKING:
    from workbench.servers.entry import ServerEntry

APPS = paths.RESOURCES / "apps"
"""Applications used by several servers."""

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)(\[[^\]]*\])?\s*==\s*[A-Za-z0-9.!+_-]+")


def problem(entry: ServerEntry) -> str:
    """Return the rest of a sentence that begins with the file's name; empty: no problem."""
    if not _ID.fullmatch(entry.id):
        return (
            f": its folder's name {entry.id!r} is its id, which may hold a-z, 0-9, '.', '_' and '-'"
            " only; rename the folder."
        )
    if entry.unavailable:
        return ""
    if not entry.protocols:
        known = ", or ".join(" and ".join(each.protocols) for each in WORKLOADS.values())
        return f", protocols: none is listed; give {known}."
    if MESSAGES in entry.protocols and not entry.check:
        return ", check: messages need a program of the folder that tries the server."
    for key in ("source", "requirements"):
        if (name := getattr(entry, key)) in entry.shared:
            continue
        if name and (problem := _file_problem(entry.folder, name)):
            return f", {key}: {problem}"
    return _shared_problem(entry) or _command_problem(entry) or _pin_problem(entry)


def _file_problem(folder: Path, name: str) -> str:
    path = folder / name
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return f"{name!r} lies outside the folder; only what is in the folder is deployed."
        there = path.is_file()
    except (OSError, ValueError):  # Too long, or with a character that is invalid in file names.
        there = False
    return "" if there else f"there is no file {name!r} in the folder."


def _shared_problem(entry: ServerEntry) -> str:
    for name in entry.shared:
        files = sorted(path.name for path in APPS.iterdir() if path.is_file())
        if name not in files:
            there = ", ".join(files)
            return f", shared: there is no {name!r}; there are {there}."
    return ""


def _command_problem(entry: ServerEntry) -> str:
    if not entry.command:
        return ', command: it is missing; for example ["{python}", server.py, --port, "{port}"].'
    known = set(entry.placeholders)
    for key, argv, there in (
        *(("make", argv, {*entry.programs, "folder", "made", "packages"}) for argv in entry.make),
        ("command", entry.command, known),
        ("check", entry.check, known),
    ):
        if problem := _brace_problem(argv, there):
            return f", {key}: {problem}"
    if not any("{port}" in part for part in entry.command):
        return ", command: {port} is missing, so it cannot be told where to listen."
    return ""


def _brace_problem(argv: list[str], known: set[str]) -> str:
    for part in argv:
        try:
            used = {name for _, name, _, _ in string.Formatter().parse(part) if name is not None}
        except ValueError:
            return f"the braces of {part!r} do not match; write {{{{ for a brace."
        for name in sorted(used - known):
            if name in PROGRAMS:
                return f"{{{name}}} is used, but {name} is not listed in programs."
            there = ", ".join(f"{{{name}}}" for name in sorted(known))
            return f"there is no {{{name}}}; there are {there}."
    return ""


def _pin_problem(entry: ServerEntry) -> str:
    if entry.runtime in ("python2.7", "python3.9") and not entry.requirements:
        return f", requirements: {entry.runtime} needs a file of them, be it empty."
    pinned = {normalised(name) for name in entry.programs}
    if entry.requirements_path is None:
        missing = entry.framework and normalised(entry.framework) not in pinned
        return f", framework: {entry.framework} is not in any requirements." * bool(missing)
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
    """Return (line number, text) of each requirement, without comments and continuation lines."""
    text = yaml.read_text(path, what="requirements")
    found, continued = [], False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and not continued:
            found.append((number, stripped))
        continued = stripped.endswith("\\")
    return found


def pinned(path: Path) -> list[str]:
    """Return the packages that a requirements file pins, by normalised name."""
    pins = (_PIN.match(line) for _, line in _requirements(path))
    return [normalised(pin["name"]) for pin in pins if pin]


def normalised(package: str) -> str:
    """Return the name of a package in its normalised spelling."""
    return re.sub(r"[-_.]+", "-", package).lower()

"""A user's own servers, below `servers/` of the data directory: created from a template or a copy,
and deleted into the trash."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench import paths, stores, trash
from workbench.config.yaml import dumped
from workbench.errors import BadInput
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.servers.recognising import SKIPPED, Project
from workbench.servers.requirements import lock
from workbench.trash import Trashed

TEMPLATE = paths.RESOURCES / "templates" / "server"
MOST_BYTES = 256 << 10
"""The largest file that is shown."""
MOST_FILES = 40

_LONGEST_NAME = 60
_NAME_LINE = re.compile(r"^name:.*$", re.MULTILINE)
_HISTORY = re.compile(r"^(?:in_2009|seen):.*\n(?:[ \t]+.*\n|[ \t]*\n)*", re.MULTILINE)


def folder() -> Path:
    """Return the folder of the user's own servers; it may not exist yet."""
    return paths.data_dir() / "servers"


def new(name: str) -> ServerEntry:
    """Create a server with a display name from a working template. Raises BadInput."""
    return _copy(name, TEMPLATE)


def duplicate(entry: ServerEntry, name: str) -> ServerEntry:
    """Copy a server under another name. Raises BadInput."""
    if not entry.source_path.is_file():
        raise BadInput(f"{entry.name} has no code to be copied; make a new server instead.")
    worth = (entry.source_path, entry.requirements_path)
    return _copy(name, entry.folder, [path for path in entry.shared_paths if path in worth])


def from_project(name: str, project: Project, origin: Path) -> ServerEntry:
    """Create a server from a copy of a project, with locked requirements. Raises PongbenchError."""

    def fill(part: Path, name: str) -> None:
        shutil.copytree(origin, part, ignore=shutil.ignore_patterns(*SKIPPED))
        complete(part, {"name": name, **project.entry}, project.requirements)

    return _make(name, fill)


def complete(part: Path, entry: dict[str, Any], required: Sequence[str]) -> None:
    """Make a server of the copy of a project; what it requires is locked. Raises PongbenchError."""
    text = dumped(entry, default_flow_style=None, width=1_000)
    (part / "server.yaml").write_text(text, encoding="utf-8")
    if required:
        (part / "requirements.txt").unlink(missing_ok=True)
        lines = "".join(f"{line}\n" for line in required)
        (part / "requirements.in").write_text(lines, encoding="utf-8")
        lock(part)


def own_id(name: str) -> str:
    """Return the id for a server of that name. Raises BadInput when it is taken or unusable."""
    if any(part in name for part in ("/", "\\")) or len(name) > _LONGEST_NAME:
        raise BadInput(
            f"A server's name has at most {_LONGEST_NAME} characters and no slash, for it is what"
            " people call it and no path; choose another."
        )
    ascii_ = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    id_ = re.sub(r"[^a-z0-9]+", "-", ascii_.lower()).strip("-")[:_LONGEST_NAME].strip("-")
    if not id_:
        raise BadInput("A server needs a name with letters or digits; give it one.")
    for parent, whose in (
        (folder(), "of yours"),
        (paths.RESOURCES / "servers", "that comes with Pongbench"),
    ):
        if (parent / id_).exists():
            raise BadInput(f"There is a server {whose} with the id {id_!r}; choose another name.")
    return id_


def read(server: Path) -> dict[str, str]:
    """Return the text files of a server by relative name, but those that cannot be shown."""
    found: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for path in sorted(server.rglob("*")):
            name = path.relative_to(server).as_posix()
            hidden = any(part[0] in "._" for part in name.split("/"))
            if hidden and path.name != "__init__.py":
                continue
            if len(found) < MOST_FILES and (text := text_of(path)) is not None:
                found[name] = text
    return found


def remove(server: Path) -> Trashed:
    """Move one of the user's own servers to the trash. Raises BadInput."""
    if server.parent.resolve() != folder().resolve():
        raise BadInput(f"{server} is not one of your servers; duplicate it to change it.")
    with stores.changing(folder(), f"The folder {server} cannot be moved", BadInput):
        return trash.discard([server])


def _copy(name: str, origin: Path, shared: Sequence[Path] = ()) -> ServerEntry:
    """`shared`: files that become the copy's own."""

    def fill(part: Path, name: str) -> None:
        shutil.copytree(origin, part, ignore=shutil.ignore_patterns("__pycache__"))
        for path in shared:
            shutil.copy(path, part)
        file = part / "server.yaml"
        file.write_text(_named(file.read_text("utf-8"), name), encoding="utf-8")

    return _make(name, fill)


def _make(name: str, fill: Callable[[Path, str], None]) -> ServerEntry:
    """Create a folder by `fill` (its path, the name), and rename it into place when it is whole."""
    name = " ".join(name.split())
    place = folder() / own_id(name)
    part = folder() / f".{place.name}.{os.getpid()}"
    with stores.changing(folder(), f"The folder {place} cannot be made", BadInput):
        own_id(name)  # Another program may have taken it in the meantime.
        stores.make_folder(folder())
        try:
            fill(part, name)
            part.rename(place)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return load_entry(place)


def _named(text: str, name: str) -> str:
    """Return `server.yaml` with another name, without results, which do not apply to a copy."""
    line = f"name: {json.dumps(name, ensure_ascii=False)}"
    return _HISTORY.sub("", _NAME_LINE.sub(lambda _: line, text, count=1))


def text_of(path: Path) -> str | None:
    """Return the text of a file; None: it cannot be shown."""
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return None
        text = path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text

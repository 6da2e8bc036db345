"""The sessions in the user's folder, told by their first and last lines alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench import paths
from workbench.documents import RunStart, RunStop
from workbench.errors import BadInput
from workbench.sessions import is_session
from workbench.sessions.format import UNREADABLE, decode
from workbench.sessions.reading import parse_session

_HEAD_BYTES = 1 << 18
_TAIL_BYTES = 1 << 14


@dataclass(frozen=True)
class Shelved:
    """A session file, unopened."""

    path: Path
    size_bytes: int
    start: RunStart | None
    """None: its beginning cannot be read; see `problem`."""
    stop: RunStop | None
    """None: cut off, or still being written."""
    problem: str = ""
    """One sentence."""


def shelf(folder: Path | None = None) -> list[Shelved]:
    """Every session in a folder (None: the user's own), latest first. Raises BadInput."""
    folder = paths.data_dir() / "sessions" if folder is None else folder
    try:
        files = [path for path in folder.glob("*.yaml") if is_session(path)]
    except OSError as error:
        raise BadInput(f"The sessions in {folder} cannot be read: {error.strerror}.") from None
    found = [session for path in files if (session := _glance(path)) is not None]
    return sorted(found, key=lambda s: (s.start.started_utc if s.start else "", s.path.name))[::-1]


def _glance(path: Path) -> Shelved | None:
    """None: it went away meanwhile."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL_BYTES))
            tail = file.read()
            file.seek(0)
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    # Up to the end of the first document is enough.
    end = head.find(b"\n--- {")
    try:
        start = parse_session(head[: end + 5] if end >= 0 else head, name=path.name).start
    except BadInput as error:
        return Shelved(path, size, None, None, str(error))
    return Shelved(path, size, start, _stop(tail))


def _stop(tail: bytes) -> RunStop | None:
    last = tail.rstrip(b"\n").rpartition(b"\n")[2].removeprefix(b"---")
    try:
        document = decode(last)
    except UNREADABLE:
        return None
    return document if isinstance(document, RunStop) else None

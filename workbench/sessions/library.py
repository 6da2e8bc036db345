"""The sessions in the user's folder, listed by their first and last lines and checked for damage
a few at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench import paths
from workbench.documents import RunStart, RunStop
from workbench.errors import BadInput
from workbench.sessions import NewerSession, is_session
from workbench.sessions.format import UNREADABLE, decode
from workbench.sessions.labels import UNLABELLED, Label, Titles
from workbench.sessions.reading import parse_session
from workbench.sessions.recorder import is_claimed
from workbench.sessions.skim import damage

_HEAD_BYTES = 1 << 18
_TAIL_BYTES = 1 << 14
MOST_BYTES = 32 << 20
"""Sessions checked per call."""


@dataclass(frozen=True)
class Shelved:
    """A session file, unopened."""

    path: Path
    size_bytes: int
    start: RunStart | None
    """None: its beginning cannot be read; see `problem`."""
    stop: RunStop | None
    """None: cut off, still being written, or damaged."""
    problem: str = ""
    """One sentence."""
    modified_ns: int = 0
    growing: bool = False
    """It has no end yet, and the recording program is running."""
    label: Label = UNLABELLED
    """The user's title and notes; the file itself is never rewritten."""
    searched_whole: bool = False
    """Damage. A session without an end has none."""

    @property
    def title(self) -> str:
        """The user's title, else the plan's, else the file's name."""
        plan = self.start.plan if self.start else {}
        return self.label.title or plan.get("name") or self.path.name

    @property
    def identity(self) -> tuple[Path, int, int]:
        """A key that changes when the file does."""
        return self.path, self.size_bytes, self.modified_ns


def shelf(
    folder: Path | None = None, known: Sequence[Shelved] = (), *, elsewhere: Iterable[Path] = ()
) -> list[Shelved]:
    """Return every session in a folder (None: the user's own) and of the files `elsewhere`, latest
    first. Unchanged `known` ones are not read again. Each call checks a few for damage, latest
    first. Raises BadInput."""
    folder = paths.data_dir() / "sessions" if folder is None else folder
    kept = {session.identity: session for session in known}
    try:
        with os.scandir(folder) as entries:
            files = [Path(entry) for entry in entries if entry.name.endswith(".yaml")]
    except FileNotFoundError:
        files = []
    except OSError as error:
        raise BadInput(f"The sessions in {folder} cannot be read: {error.strerror}.") from None
    files += [path for path in elsewhere if path.parent != folder]
    labels = Titles(folder).read()
    found = []
    for session in filter(None, (_examined(path, kept) for path in files)):
        key = session.start.session if session.start else ""
        found.append(replace(session, label=labels.get(key, UNLABELLED)))
    found.sort(key=lambda s: (s.start.started_utc if s.start else "", s.path.name), reverse=True)
    return list(_searched_whole(found))


def _searched_whole(sessions: Sequence[Shelved]) -> Iterator[Shelved]:
    left = MOST_BYTES
    for session in sessions:
        if session.stop is None or session.searched_whole or left <= 0:
            yield session
            continue
        left -= session.size_bytes
        try:
            problem = damage(session.path)
        except BadInput as error:
            problem = str(error)
        yield replace(
            session,
            searched_whole=True,
            stop=None if problem else session.stop,
            problem=problem or session.problem,
        )


def _examined(path: Path, kept: dict[tuple[Path, int, int], Shelved]) -> Shelved | None:
    """Read a session file; None: it is no session, or was removed in the meantime."""
    try:
        stat = path.stat()
    except OSError:
        return None
    known = kept.get((path, stat.st_size, stat.st_mtime_ns))
    if known is None:
        return glance(path) if is_session(path) else None
    growing = known.stop is None and is_claimed(path)
    return known if growing == known.growing else replace(known, growing=growing)


def glance(path: Path) -> Shelved | None:
    """Read its first and last lines; None: it was removed in the meantime."""
    try:
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            size = stat.st_size
            file.seek(max(0, size - _TAIL_BYTES))
            tail = file.read()
            file.seek(0)
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    changed = stat.st_mtime_ns
    # Up to the end of the first document is enough.
    end = head.find(b"\n--- {")
    first, problem = head[: end + 5] if end >= 0 else head, ""
    try:
        try:
            start = parse_session(first, name=path.name).start
        except NewerSession as error:
            # What this version understands of it can still be opened.
            problem = str(error).replace(path.name, "This file", 1)
            start = parse_session(first, name=path.name, newer=True).start
    except BadInput as error:
        return Shelved(path, size, None, None, str(error), changed)
    stop = _stop(tail)
    growing = stop is None and is_claimed(path)
    return Shelved(path, size, start, stop, problem, changed, growing)


def _stop(tail: bytes) -> RunStop | None:
    last = tail.rstrip(b"\n").rpartition(b"\n")[2].removeprefix(b"---")
    try:
        document = decode(last)
    except UNREADABLE:
        return None
    return document if isinstance(document, RunStop) else None

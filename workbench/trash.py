"""What the user deleted, kept for a while: a folder of `trash/` in the data directory for each
deletion, named by its time, with the files below the name of the folder they were in."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from workbench import paths, stores
from workbench.errors import BadInput, PongbenchError, why

KEPT_DAYS = 30
MOST_BYTES = 2_000_000_000
"""More than this is not kept, the oldest goes first; but what was deleted within a day is."""
_DAY_S = 86_400


Trashed: TypeAlias = "Sequence[tuple[Path, Path]]"
"""Files and folders of one deletion: (where each was, where it is)."""


def folder() -> Path:
    return paths.data_dir() / "trash"


def discard(deleted: Sequence[Path]) -> Trashed:
    """Move files and folders to the trash: all or none. Raises PongbenchError."""
    moved: list[tuple[Path, Path]] = []
    try:
        stores.make_folder(folder())
        stamp = time.strftime("%Y-%m-%d-%H%M%S")
        place = Path(tempfile.mkdtemp(prefix=f"{stamp}-{deleted[0].stem[:40]}-", dir=folder()))
        for path in deleted:
            kept = place / path.parent.name / path.name
            kept.parent.mkdir(exist_ok=True)
            shutil.move(path, kept)
            moved.append((path, kept))
    except OSError as error:
        for path, kept in moved:
            shutil.move(kept, path)
        named = error.filename or deleted[0]
        raise PongbenchError(f"{named} cannot be moved to the trash: {why(error)}.") from error
    return moved


def restore(trashed: Trashed) -> None:
    """Move all back. Raises BadInput if something else is there, or it is gone; PongbenchError."""
    for path, kept in trashed:
        if path.exists():
            raise BadInput(f"There is another {path} by now. The deleted one is {kept}.")
        if not kept.exists():
            raise BadInput(f"{path.name} is no longer in the trash.")
    try:
        for path, kept in trashed:
            stores.make_folder(path.parent)
            shutil.move(kept, path)
    except OSError as error:
        raise PongbenchError(f"{error.filename} cannot be restored: {why(error)}.") from error
    for place in {kept.parent for _, kept in trashed}:
        with contextlib.suppress(OSError):  # not empty
            place.rmdir()
            place.parent.rmdir()


def tidy(now: float | None = None) -> None:
    """Delete for good what is too old, and the oldest beyond the limit. `now`: epoch, in s."""
    now = time.time() if now is None else now
    total = 0
    for place in sorted(_places(), key=_of, reverse=True):
        age = now - _of(place)[0]
        total += sum(_of(path)[1] for path in place.rglob("*"))
        if age > KEPT_DAYS * _DAY_S or (total > MOST_BYTES and age > _DAY_S):
            shutil.rmtree(place, ignore_errors=True)


def empty() -> None:
    """Delete all of it for good. Raises PongbenchError."""
    try:
        for place in _places():
            shutil.rmtree(place)
    except OSError as error:
        raise PongbenchError(f"{error.filename} cannot be deleted: {why(error)}.") from error


def _places() -> list[Path]:
    with contextlib.suppress(OSError):
        return [path for path in folder().iterdir() if path.is_dir() and not path.is_symlink()]
    return []


def _of(path: Path) -> tuple[float, int]:
    """Return when it was changed, and its bytes; 0, each: it is gone."""
    with contextlib.suppress(OSError):
        found = path.lstat()
        return found.st_mtime, found.st_size
    return 0.0, 0

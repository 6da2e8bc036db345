"""The folders that belong to the user: where they are, what they take, and clearing one. No Qt."""

from __future__ import annotations

import os
import shutil
import uuid
from dataclasses import dataclass
from pathlib import Path

from workbench import paths
from workbench.errors import PongbenchError, why

_IN_USE = "runs"
"""In the cache, one folder for each machine that is open; whoever opened it clears it."""


@dataclass(frozen=True)
class Folder:
    """One of the three; `size_bytes` None: it is not there yet."""

    name: str
    holds: str
    path: Path
    size_bytes: int | None = None


def folders() -> list[Folder]:
    """Without their sizes: reads nothing."""
    return [
        Folder("Settings", "settings and machine profiles", paths.config_dir()),
        Folder("Data", "your sessions, plans and servers", paths.data_dir()),
        Folder("Cache", "runtimes, fetched again when needed", paths.cache_dir()),
    ]


def measured() -> list[Folder]:
    """As `folders`, with what they take on disk; of the cache, what can be cleared. Reads every
    entry."""
    return [Folder(f.name, f.holds, f.path, _size(f.path)) for f in folders()]


def clear_cache() -> int:
    """Remove what is in the cache, but for the folders of machines in use; the bytes that were
    freed. Between runs only. Renamed first, nothing is ever half there. Raises PongbenchError."""
    cache, freed = paths.cache_dir(), 0
    aside = cache / f"cleared-{uuid.uuid4().hex[:8]}"
    try:
        for each in list(cache.iterdir()) if cache.is_dir() else []:
            if each.name == _IN_USE:
                continue
            freed += _size(each) or 0
            aside.mkdir(exist_ok=True)
            each.rename(aside / each.name)
        if aside.is_dir():
            shutil.rmtree(aside)
    except OSError as error:
        where = error.filename or cache
        raise PongbenchError(f"{where} cannot be removed: {why(error)}.") from error
    return freed


def _size(top: Path) -> int | None:
    if not top.is_dir():
        return None
    total = 0
    for folder, inside, files in os.walk(top):
        if folder == str(paths.cache_dir()) and _IN_USE in inside:
            inside.remove(_IN_USE)
        for name in files:
            try:
                total += Path(folder, name).lstat().st_size
            except OSError:
                continue  # gone in the meantime
    return total

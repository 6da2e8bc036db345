"""The user's folders: paths, sizes, clearing one, and showing one."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices

from workbench import paths, trash
from workbench.errors import PongbenchError, why
from workbench.untrusted import one_line

_IN_USE = "runs"
"""In the cache, one folder for each open machine, cleared by the program that opened it."""


_KEPT = f"deleted items, for {trash.KEPT_DAYS} days, at most {trash.MOST_BYTES / 1e9:g} GB"


@dataclass(frozen=True)
class Folder:
    """One of the folders; `size_bytes` None: it does not exist yet."""

    name: str
    contents: str
    path: Path
    size_bytes: int | None = None


def folders() -> list[Folder]:
    """Return the folders without their sizes. Reads nothing."""
    return [
        Folder("Settings", "settings and machine profiles", paths.config_dir()),
        Folder("Data", "your sessions, plans and servers", paths.data_dir()),
        Folder("Trash", _KEPT, trash.folder()),
        Folder("Cache", "runtimes, fetched again when needed", paths.cache_dir()),
    ]


def measured() -> list[Folder]:
    """Return them with their sizes; of the cache, of what can be cleared. Reads every entry."""
    return [Folder(f.name, f.contents, f.path, _size(f.path)) for f in folders()]


def clear_cache() -> int:
    """Clear the cache except for the folders of machines in use. Returns the bytes freed. Call it
    between runs only. A folder is renamed first, so that no half-deleted one stays. Raises
    PongbenchError.
    """
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


def open_outside(what: Path | str, fail: Callable[[str], object]) -> None:
    """Have the desktop open a folder, a file, or an address; `fail` gets a sentence if nothing
    does."""
    url = QUrl(what) if isinstance(what, str) else QUrl.fromLocalFile(str(what))
    if not QDesktopServices.openUrl(url):
        fail(f"No program of this desktop opens {one_line(str(what))}.")

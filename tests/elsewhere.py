"""Runs this clone's Python as another user. Where that user may not enter or read the clone, it is
copied to a place of its own."""

from __future__ import annotations

import atexit
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_NEEDED = (".git", ".tools", "out", "dist", "PySide6", "shiboken6", "*_cache", "lab", "bench")


def as_user(uid: int, gid: int, command: list[str], clone: Path = ROOT) -> list[str]:
    """Return the command, whose paths are of this clone, as root runs it for a user."""
    become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    return [*become, *(seen_by(uid, word, clone) for word in command)]


def seen_by(uid: int, text: str, clone: Path = ROOT) -> str:
    """Return a path of this clone as a user sees it."""
    if uid == 0 or str(clone) not in text or _is_open(clone):
        return text
    return text.replace(str(clone), str(_copied(clone)))


def open_folder(prefix: str) -> Path:
    """Return a new folder that others may enter, wherever TMPDIR is."""
    places = (Path(tempfile.gettempdir()), Path("/var/tmp"), Path("/tmp"))
    place = next((each for each in places if _may_be_entered(each)), places[0])
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=place))
    folder.chmod(0o755)
    return folder


def _is_open(clone: Path) -> bool:
    """Return whether everybody may enter this clone, and read what it was checked out with."""
    files = (path for path in clone.iterdir() if path.is_file())
    readable = all(path.stat().st_mode & stat.S_IROTH for path in files)
    return readable and _may_be_entered(clone)


def _may_be_entered(folder: Path) -> bool:
    return all(each.stat().st_mode & stat.S_IXOTH for each in (folder, *folder.parents))


@cache
def _copied(clone: Path) -> Path:
    place = open_folder("pongbench-clone-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    ignored = shutil.ignore_patterns(*NOT_NEEDED)
    shutil.copytree(clone, place, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    let_read(place)
    return place


def let_read(folder: Path) -> None:
    """Open a folder and all in it to others, whatever the umask was."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if path.is_dir() or mode & 0o100 else 0))

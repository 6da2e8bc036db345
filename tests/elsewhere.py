"""Runs this clone's Python as another user, also where that user may not enter the clone's folder:
it is then seen at a place of its own."""

from __future__ import annotations

import atexit
import stat
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEEN_THERE = 'mount --bind "$0" "$1" && shift && exec "$@"'


def as_user(uid: int, gid: int, command: list[str], clone: Path = ROOT) -> list[str]:
    """Return the command, whose paths are of this clone, as root runs it for a user."""
    become = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
    if uid == 0 or is_open(clone):
        return [*become, *command]
    moved = [seen_by_others(word, clone) for word in command]
    there = ["unshare", "--mount", "sh", "-c", SEEN_THERE, str(clone), str(_place())]
    return [*there, *become, *moved]


def seen_by_others(text: str, clone: Path = ROOT) -> str:
    """Return a path of this clone as users see it who may not enter its folder."""
    return text if is_open(clone) else text.replace(str(clone), str(_place()))


def is_open(clone: Path) -> bool:
    """Return whether everybody may enter this clone."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in (clone, *clone.parents))


@cache
def _place() -> Path:
    place = Path(tempfile.mkdtemp(prefix="pongbench-clone-"))
    place.chmod(0o755)
    atexit.register(place.rmdir)
    return place

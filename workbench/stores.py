"""Private files of the program: replaced atomically, and changed by one program at a time, of two
windows or a command in a terminal. A read-modify-write holds `locked` throughout."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from workbench import paths
from workbench.errors import PongbenchError, why_own

PRIVATE = 0o600
"""Mode of files for the user only: addresses, accounts, trusted keys and notes are private."""
DEFAULT_MODE = 0o666
"""Mode of ordinary files, subject to the umask."""
LOCKED_WITHIN_S = 30.0
"""Seconds to wait for a lock: writing takes milliseconds, so a longer holder hangs."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a file, or a folder whose files are a store, against other programs and threads, by a
    file beside it, which is kept. Raises OSError, also after 30 s. Not to be nested on one path."""
    import filelock  # noqa: PLC0415  the window's first paint does not wait for it

    make_folder(path.parent)
    lock = filelock.FileLock(path.with_name(f".{path.name}.lock"), mode=PRIVATE, poll_interval=0.01)
    try:
        lock.acquire(timeout=LOCKED_WITHIN_S)
    except filelock.Timeout:
        problem = f"another program has been writing there for {LOCKED_WITHIN_S:.0f} s"
        raise OSError(errno.EBUSY, problem, str(path)) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def changing(
    path: Path, failed: str, kind: type[PongbenchError] = PongbenchError
) -> Iterator[None]:
    """Lock a store while it is changed. `failed`: what is said if that fails, before the reason."""
    try:
        with locked(path):
            yield
    except OSError as error:
        raise kind(f"{failed}: {why_own(error)}.") from None


def write(path: Path, data: str | bytes, mode: int = PRIVATE) -> None:
    """Write a file atomically, also with respect to power loss. Raises OSError."""
    whole = data.encode() if isinstance(data, str) else data
    with replacing(path, mode) as file:
        file.write(whole)


@contextlib.contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` at the end, unless writing fails; a device or a pipe is
    written to directly. `mode`: of the new file, subject to the umask. Raises OSError."""
    make_folder(path.parent)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    part = path.with_name(f".{os.urandom(8).hex()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def used(path: Path) -> None:
    """Note that what a cache has is used, for `tidy`."""
    with contextlib.suppress(OSError):
        os.utime(path)


def tidy(cache: Path, kept_s: float) -> None:
    """Remove from a folder of the cache what was not used for so long."""
    before = time.time() - kept_s
    with contextlib.suppress(OSError):
        for each in cache.iterdir():
            if each.lstat().st_mtime >= before:
                continue
            if each.is_dir():
                shutil.rmtree(each, ignore_errors=True)
            else:
                each.unlink()


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents. Folders of the user's settings and data are made
    private, also if an earlier version left them open. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for own in (paths.config_dir(), paths.data_dir()):
        if folder.is_relative_to(own):
            _close(own)
            _close(folder)


def close_folders() -> str:
    """Make the folders of settings and data private, which an earlier version left open. Called
    when the program starts. Returns a warning if others may replace them; empty: they may not."""
    own = (paths.config_dir(), paths.data_dir())
    for folder in own:
        _close(folder)
    for above in dict.fromkeys(folder.parent for folder in own):
        with contextlib.suppress(OSError):
            if os.name == "posix" and above.stat().st_mode & 0o002:
                return (
                    f"Every user of this computer may write to {above}, and so replace what"
                    f" Pongbench keeps and runs there; close it with `chmod o-w {above}`."
                )
    return ""


def _close(folder: Path) -> None:
    with contextlib.suppress(OSError):  # Missing, or not ours to close.
        mode = folder.stat().st_mode
        if mode & 0o077:
            folder.chmod(mode & 0o700)

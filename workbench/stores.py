"""Files the program keeps: replaced as a whole, changed by one program at a time, private.

Programs of one user share them (two windows, a command in a terminal). What is read in order to be
written again is read and written under the file's lock:

    with stores.locked(path):
        stores.write(path, edited(path.read_text("utf-8")))
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from workbench import paths

PRIVATE = 0o600
"""For the user alone: addresses, accounts, trusted keys and notes are nobody else's business."""
USUAL = 0o666
"""Like any file a program makes; the umask takes what the user wants taken."""
LOCKED_WITHIN_S = 30.0
"""Writing takes milliseconds: whoever holds a lock for longer hangs."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """One program, and one thread, at a time. `path`: a file, or a folder whose files are a store.

    The lock is a file beside it, which stays. Raises OSError: there is no place for it, or another
    program holds it for 30 s. Not to be nested on one path.
    """
    import filelock  # noqa: PLC0415  the window's first paint does not wait for it

    make_folder(path.parent)
    lock = filelock.FileLock(path.with_name(f".{path.name}.lock"), mode=PRIVATE, poll_interval=0.01)
    try:
        lock.acquire(timeout=LOCKED_WITHIN_S)
    except filelock.Timeout:
        held = f"another program has been writing there for {LOCKED_WITHIN_S:.0f} s"
        raise OSError(errno.EBUSY, held, str(path)) from None
    try:
        yield
    finally:
        lock.release()


def write(path: Path, data: str | bytes, mode: int = PRIVATE) -> None:
    """The whole file or none of it, also after a power cut. Raises OSError."""
    with replacing(path, mode) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextlib.contextmanager
def replacing(path: Path, mode: int = PRIVATE) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` at the end, or of nothing when that fails.

    `mode`: of the new file, less the umask. A device or a pipe is written to and stays. Raises
    OSError.
    """
    make_folder(path.parent)
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    part = path.with_name(f".{secrets.token_hex(8)}.part")
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


def make_folder(folder: Path) -> None:
    """With those above it that are missing. Those of the user's settings and data are closed to
    others, also where an earlier version left them open. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for own in (paths.config_dir(), paths.data_dir()):
        if folder.is_relative_to(own):
            _close(own)
            _close(folder)


def close_folders() -> None:
    """Those of settings and data, to other users of the computer: an earlier version left them
    open. For the start of the program."""
    for own in (paths.config_dir(), paths.data_dir()):
        _close(own)


def _close(folder: Path) -> None:
    with contextlib.suppress(OSError):  # it is not there, or not ours to close
        mode = folder.stat().st_mode
        if mode & 0o077:
            folder.chmod(mode & 0o700)

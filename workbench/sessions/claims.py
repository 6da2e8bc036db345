"""The lock on a session's file during a recording; the kernel releases it when the program dies."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # On Windows a lock would keep readers out.
    fcntl = None  # type: ignore[assignment]

_STILL_WRITTEN_S = 15.0
"""A run writes at least once a second."""


def claim(file: int) -> None:
    """Lock the file as long as this descriptor is open, where the file system has locks."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_claimed(path: Path) -> bool:
    """Return whether the file is being recorded; without locks: whether it was just written to."""
    try:
        if fcntl is None:
            return time.time() - path.stat().st_mtime < _STILL_WRITTEN_S
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False

"""The directory of a run, and its lock."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil


class Run:
    """The run's directory (0700) and its lock, held while guardian or runner are alive."""

    def __init__(self, cache: str, name: str, holder: str) -> None:
        runs = os.path.join(cache, "runs")
        os.makedirs(runs, mode=0o700, exist_ok=True)
        self.path = os.path.join(runs, name)
        self.lock = self.path + ".lock"
        flags = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        while True:
            self._descriptor = os.open(self.lock, flags, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(self._descriptor), os.stat(self.lock)):
                    break
            os.close(self._descriptor)  # A janitor removed it before it was locked.
        try:
            os.write(self._descriptor, holder.encode())
            os.makedirs(os.path.join(self.path, "tmp"), mode=0o700)
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        remove_tree(self.path)
        with contextlib.suppress(OSError):
            os.unlink(self.lock)


def remove_tree(path: str) -> None:
    """Remove a directory, including subdirectories without write permission."""
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        for folder, names, _ in os.walk(path):
            for name in names:
                below = os.path.join(folder, name)
                if not os.path.islink(below):
                    os.chmod(below, 0o700)
        shutil.rmtree(path, ignore_errors=True)

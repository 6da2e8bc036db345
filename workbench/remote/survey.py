"""Runs on a machine: reports what a run can use there.

A single file for the standard library of Python 3.10 or later. Arguments: a nonce, and the work
directory. Output, after the nonce on a line of its own, one JSON object: {python, version, machine,
libc, user, home, work_dir, free_bytes, connection, noexec, cores, processes_left, left_tuned}.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

TUNED = "/run/pongbench"
"""Where the tuner keeps the values to restore; `lock` is held while its run is running."""


def main() -> None:
    nonce, work_dir = sys.argv[1:]
    where = os.path.realpath(os.path.expanduser(work_dir))
    found = {
        "python": getattr(sys, "_base_executable", None) or sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "machine": platform.machine(),
        "libc": libc(),
        "user": os.environ.get("USER") or str(os.getuid()),
        "home": os.path.expanduser("~"),
        "work_dir": where,
        "free_bytes": shutil.disk_usage(existing(where)).free,
        "noexec": noexec(existing(where)),
        "cores": len(os.sched_getaffinity(0)),
        "processes_left": processes_left(),
        "left_tuned": left_tuned(TUNED),
        "connection": os.environ.get("SSH_CONNECTION", "").split(),
    }
    os.write(1, f"\n{nonce}\n{json.dumps(found)}\n".encode())


def libc() -> list[str]:
    """Return ["glibc", "2.36"] or ["musl", ""]."""
    try:
        name, _, version = os.confstr("CS_GNU_LIBC_VERSION").partition(" ")  # type: ignore[union-attr]
        return [name, version]
    except (ValueError, OSError, AttributeError):
        return ["musl", ""]


def existing(path: str) -> str:
    """Return the deepest existing directory of a path."""
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path


def noexec(path: str) -> str:
    """Return the mount point if files below it may not be executed."""
    if not os.statvfs(path).f_flag & os.ST_NOEXEC:
        return ""
    while not os.path.ismount(path):
        path = os.path.dirname(path)
    return path


def processes_left() -> int | None:
    """Return how many processes the limits of user and control groups still allow; None: no
    limit."""
    left = []
    soft = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    if os.geteuid() and soft != resource.RLIM_INFINITY:
        left.append(soft - tasks_of(os.getuid()))
    with contextlib.suppress(OSError), open("/proc/self/cgroup") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers in ("", "pids"):
                left += left_in("/sys/fs/cgroup/" + controllers, path)
    return max(0, min(left)) if left else None


def tasks_of(user: int) -> int:
    """Return the number of its processes and threads."""
    count = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == user:
                count += len(os.listdir(f"/proc/{pid}/task"))
    return count


def left_in(root: str, path: str) -> list[int]:
    """Return how many the control group and its ancestors still allow."""
    left = []
    while path.strip("/"):
        with contextlib.suppress(OSError, ValueError):
            files = (Path(f"{root}{path}/pids.{name}") for name in ("max", "current"))
            most, now = (int(file.read_text()) for file in files)
            left.append(most - now)
        path = os.path.dirname(path)
    return left


def left_tuned(state: str) -> dict[str, Any] | None:
    """Return the kernel settings changed by a run; None: there is nothing to restore."""
    settings: dict[str, tuple[str, str]] = {}
    try:
        with open(f"{state}/journal.json") as file:
            for key, entry in json.load(file).items():
                settings[key] = (str(entry["old"]), str(entry["ours"] or ""))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # That it exists is information enough.
    return {"alive": is_locked(f"{state}/lock"), "settings": settings}


def is_locked(path: str) -> bool:
    """Return whether a process holds the lock; only root may try."""
    with contextlib.suppress(OSError), open("/proc/locks") as file:
        inode = str(os.stat(path).st_ino)
        return any(line.split()[5].rpartition(":")[2] == inode for line in file if "FLOCK" in line)
    return False


if __name__ == "__main__":
    main()

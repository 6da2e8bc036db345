"""Errands on a machine, before a run there and after it.

A single file for the standard library of Python 3.10 or later. Arguments: a nonce, the errand, and
what it is about. Output, after the nonce on a line of its own, one JSON object:
    survey DIR    what a run with this work directory can use: {python, version, machine, libc,
                  user, work_dir, free_bytes, connection, noexec, cores, processes_left,
                  left_tuned}
    clean DIR     removes leftovers of crashed runs, their processes and directories: {"killed": N,
                  "removed": N, "found": [{"run", "processes"}], "alive": [{"run", "holder"}]}.
                  A run is alive while its lock is held, which only the kernel can tell.
    size DIR      of a work directory: {"bytes"}
    remove DIR    removes it, if all in it is ours: {"bytes"} or {"error"}
    receive RUN TARGET PLACE
                  unpacks a tar stream from stdin into TARGET in the directory of a run; with a
                  PLACE, which is absolute, that is renamed to it when it is complete, and a
                  complete one already there is kept: {} or {"error"}. It gives up when nothing
                  arrives for several seconds, or when the run has ended, because its directory has
                  been removed then.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import resource
import select
import shutil
import signal
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TUNED = "/run/pongbench"
"""Where the tuner keeps the values to restore; `lock` is held while its run is running."""
OURS = {
    *("runs", "runtimes", "bundles", "tools", "wheels", "agents", "programs"),
    *("made", "building", "packages", "libraries"),
}
"""What a work directory may contain; other files belong to the user and are kept."""
SILENCE_S = 4.0


def main() -> None:
    nonce, errand, *about = sys.argv[1:]
    answer = ERRANDS[errand](*about)
    os.write(1, f"\n{nonce}\n{json.dumps(answer)}\n".encode())


# -- what a run can use


def survey(work_dir: str) -> dict[str, Any]:
    where = os.path.realpath(os.path.expanduser(work_dir))
    libc, libc_version = platform.libc_ver()
    return {
        "python": getattr(sys, "_base_executable", None) or sys.executable,
        "version": ".".join(map(str, sys.version_info[:3])),
        "machine": platform.machine(),
        "libc": [libc, libc_version] if libc == "glibc" else ["musl", ""],
        "user": os.environ.get("USER") or str(os.getuid()),
        "work_dir": where,
        "free_bytes": shutil.disk_usage(existing(where)).free,
        "noexec": noexec(existing(where)),
        "cores": len(os.sched_getaffinity(0)),
        "processes_left": processes_left(),
        "left_tuned": left_tuned(TUNED),
        "connection": os.environ.get("SSH_CONNECTION", "").split(),
    }


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
    """Return how many processes user and control groups may still start; None: no limit."""
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


# -- what was left there


def lock_if_crashed(lock: str) -> int | None:
    """Return a descriptor that holds the lock of a crashed run; None: it is alive, or not ours."""
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor
    except OSError:
        os.close(descriptor)
        return None


def processes(runs: str) -> dict[str, list[int]]:
    """Return the processes of runs, by run; only those in the same mount namespace."""
    here = os.stat("/")
    found: dict[str, list[int]] = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            run = run_of(f"/proc/{pid}", runs)
            # A run of another container may have the same path, and its lock is invisible here.
            if run and os.path.samestat(os.stat(f"/proc/{pid}/root"), here):
                found.setdefault(run, []).append(int(pid))
    return found


def run_of(process: str, runs: str) -> str:
    """Return the run of a process by the inherited mark, or without one by its working directory,
    where it has no terminal: those with one are a user's shell."""
    mark = f"PONGBENCH_RUN={runs}/".encode()
    with open(f"{process}/environ", "rb") as file:
        for entry in file.read().split(b"\0"):
            if entry.startswith(mark):
                return os.fsdecode(entry[len(mark) :]).removesuffix(".lock")
    with open(f"{process}/stat", "rb") as file:
        terminal = file.read().rpartition(b")")[2].split()[4]
    folder = os.readlink(f"{process}/cwd")
    if terminal != b"0" or not folder.startswith(runs + "/"):
        return ""
    return folder[len(runs) + 1 :].split("/")[0]


def beginning(path: str, most: int) -> str:
    """Return what a file begins with; empty: it is gone."""
    with contextlib.suppress(OSError), open(path, errors="replace") as file:
        return file.read(most)
    return ""


def kill(runs: str, name: str) -> int:
    killed = set()
    for _ in range(100):
        left = processes(runs).get(name, [])
        if not left:
            break
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        time.sleep(0.01)
    return len(killed)


def clean(work_dir: str) -> dict[str, object]:
    os.umask(0o077)
    runs = os.path.join(os.path.realpath(os.path.expanduser(work_dir)), "runs")
    killed = removed = 0
    alive = []
    found = []
    seen = processes(runs)
    there = os.listdir(runs) if os.path.isdir(runs) else []
    for name in sorted({name.removesuffix(".lock") for name in there} | set(seen)):
        path = os.path.join(runs, name)
        lock = path + ".lock"
        descriptor = lock_if_crashed(lock)
        if descriptor is None:
            if os.path.exists(lock):
                alive.append({"run": name, "holder": beginning(lock, 500)})
            continue
        commands = [beginning(f"/proc/{pid}/cmdline", 300) for pid in seen.get(name, [])]
        words = [" ".join(command.replace("\0", " ").split()) for command in commands]
        found.append({"run": name, "processes": words})
        killed += kill(runs, name)
        remove_tree(path)
        with contextlib.suppress(OSError):
            os.unlink(lock)
        os.close(descriptor)
        removed += 1
    return {"killed": killed, "removed": removed, "found": found, "alive": alive}


def remove(folder: str) -> dict[str, object]:
    try:
        others = sorted(set(os.listdir(folder)) - OURS) if os.path.isdir(folder) else []
        if others:
            raise ValueError(f"it contains {others[0]!r}, which is not Pongbench's")
        found = size(folder)
        if os.path.isdir(folder):
            make_writable(folder)
            shutil.rmtree(folder)
            # The parent was created for it, if it holds nothing else.
            if (above := os.path.dirname(folder)) == os.path.expanduser("~/.cache"):
                with contextlib.suppress(OSError):
                    os.rmdir(above)
    except (OSError, ValueError) as error:
        return {"error": str(error)}
    return found


def size(folder: str) -> dict[str, object]:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):  # A run may be using it.
                total += os.lstat(os.path.join(path, name)).st_size
    return {"bytes": total}


def remove_tree(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        make_writable(path)
        shutil.rmtree(path, ignore_errors=True)


def make_writable(path: str) -> None:
    """Allow to remove what is in subdirectories, such as those of a runtime."""
    for folder, names, _ in os.walk(path):
        for name in names:
            below = os.path.join(folder, name)
            if not os.path.islink(below):
                os.chmod(below, 0o700)


# -- what comes to it


class Stream:
    """stdin as a file, with a time limit."""

    def read(self, size: int) -> bytes:
        deadline = time.monotonic() + SILENCE_S
        while not select.select([0], [], [], 0.5)[0]:
            if os.stat(".").st_nlink == 0:
                raise OSError(0, "the run is over")
            if time.monotonic() > deadline:
                raise OSError(0, "nothing came any more")
        return os.read(0, size)


def receive(run_dir: str, target: str, place: str) -> dict[str, str]:
    os.umask(0o022 if place else 0o077)
    try:
        os.chdir(run_dir)  # Relative from here on, so that a removed run stays removed.
        unpack(target)
        if place:
            put_in_place(target, place)
    except (OSError, tarfile.TarError, EOFError) as error:
        text = getattr(error, "strerror", None) or str(error)
        name = getattr(error, "filename", None)
        return {"error": f"{text}: {name}" if name else text}
    return {}


def unpack(target: str) -> None:
    with tarfile.open(fileobj=Stream(), mode="r|*") as archive:  # type: ignore[call-overload]
        if hasattr(tarfile, "fully_trusted_filter"):
            archive.extraction_filter = tarfile.fully_trusted_filter
        for member in archive:
            member.name = os.path.normpath(os.path.join(target, member.name))
            member.uid, member.gid = os.getuid(), os.getgid()
            # Not left to tarfile, because other processes may create them concurrently.
            os.makedirs(os.path.dirname(member.name) or ".", exist_ok=True)
            archive.extract(member, ".", set_attrs=not member.isdir())


def put_in_place(target: str, place: str) -> None:
    os.makedirs(os.path.dirname(place), exist_ok=True)
    try:
        os.rename(target, place)
    except OSError:
        if os.path.exists(os.path.join(place, ".whole")):
            shutil.rmtree(target, ignore_errors=True)  # Another process was faster.
        else:
            shutil.rmtree(place, ignore_errors=True)  # It was partly removed.
            os.rename(target, place)


ERRANDS: dict[str, Callable[..., dict[str, Any]]] = {
    each.__name__: each for each in (survey, clean, size, remove, receive)
}

if __name__ == "__main__":
    main()

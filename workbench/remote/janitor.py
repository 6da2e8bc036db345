"""Removes leftovers of crashed runs on a machine: their processes and run directories.

A single file for the standard library of Python 3.10 or later. A run is alive while its lock is
held, which only the kernel can tell; live runs are left alone. Takes the cache directory as
its last argument, perhaps a nonce before it, and prints, after the nonce on a line of its own, one
JSON object: {"killed": N, "removed": N, "found": [{"run", "processes"}], "alive": [{"run",
"holder"}]}
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import sys
import time


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
    """Return the run of a process by the inherited mark, or without one by its working directory.

    Processes with a terminal are excluded: they are a user's shell, and no process of a run has
    one.
    """
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


def clean(runs: str) -> dict[str, object]:
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


def main() -> None:
    os.umask(0o077)
    *nonce, cache = sys.argv[1:]
    done = clean(os.path.join(os.path.realpath(os.path.expanduser(cache)), "runs"))
    print("".join(f"\n{word}\n" for word in nonce) + json.dumps(done))


if __name__ == "__main__":
    main()

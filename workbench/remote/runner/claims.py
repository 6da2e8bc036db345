"""A user's claim on the machine, so that two runs do not disturb each other."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import re
import shutil
import socket
import struct
import time

from .program import POLL_S


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
    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        for folder, names, _ in os.walk(path):
            for name in names:
                below = os.path.join(folder, name)
                if not os.path.islink(below):
                    os.chmod(below, 0o700)
        shutil.rmtree(path, ignore_errors=True)


CLAIM = "pongbench/"
"""Prefix of abstract socket names; the user id follows. The kernel frees a name with its owner."""
MOST_BESIDE = 3
"""At most this many runs of other users are reported."""


class Claimed(Exception):
    """A run of this user or of root is there: what it reports, and its owner by the kernel."""


def claim() -> tuple[socket.socket, list[str]]:
    """Claim the machine for this run, and return the runs of other users on it.

    Any user can take any abstract socket name, so only this user and root can keep a run out. If
    another user holds our name, a random one is used. Raises Claimed.
    """
    name = own = f"{CLAIM}{os.getuid()}"
    ours = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        ours.bind("\0" + own)
    except OSError:
        time.sleep(POLL_S)  # It may not be listening yet.
        examine_claim(own)
        name = f"{own}/{os.urandom(8).hex()}"
        ours.bind("\0" + name)
    ours.listen(64)
    ours.setblocking(False)
    found = {other: examine_claim(other) for other in claims() if other != name}
    return ours, list(dict.fromkeys(found.values()))[:MOST_BESIDE]


def claims() -> list[str]:
    with open("/proc/net/unix", "rb") as file:
        names = re.findall(
            rb" @(%s\d{1,10}(?:/[0-9a-f]{16})?)$" % CLAIM.encode(), file.read(), re.M
        )
    # Accepted connections carry the name of their listening socket.
    return sorted({name.decode() for name in names})


def examine_claim(name: str) -> str:
    """Describe whose process holds a name. Raises Claimed when it is this user's or root's."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.setblocking(False)
        try:
            asking.connect("\0" + name)
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            return f"a process that does not answer; `sudo ss -xlp` shows it, as @{name}"
        pid, uid, _ = struct.unpack("3i", credentials)
        try:
            user = pwd.getpwuid(uid).pw_name
        except KeyError:
            user = str(uid)
        there = f"process {pid} of user {user}{command_of(pid)}"
        if uid in (os.getuid(), 0):
            asking.settimeout(1.0)
            reply = b""
            with contextlib.suppress(OSError):
                reply = asking.recv(500)
            raise Claimed(reply.decode("utf-8", "replace"), there)
        return there


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read(200).replace(b"\0", b" ").decode("utf-8", "replace").split()
        return f" ({' '.join(words)[:80]})" if words else ""
    return ""

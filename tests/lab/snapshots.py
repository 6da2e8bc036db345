"""What a host has at one moment, to find what a run has left on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab.hosts import Host

SYSCTLS = (
    "net/core/somaxconn",
    "net/core/netdev_max_backlog",
    "net/ipv4/tcp_max_syn_backlog",
    "net/ipv4/ip_local_port_range",
    "net/ipv4/tcp_keepalive_time",
    "net/ipv4/tcp_syncookies",
    "fs/file-max",
)


class Snapshot:
    """A host's files, processes and sysctls at one moment, for `difference`."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.processes = sorted(host.processes().values())
        self.files = set(_files(Path(f"/proc/{host.pid}/root")))
        listing = [f"/proc/sys/{name}" for name in SYSCTLS]
        script = 'for f; do [ -e "$f" ] && echo "$f $(cat "$f")"; done; true'
        self.sysctls = host.run("sh", "-c", script, "sh", *listing).split("\n")

    def since(self, before: Snapshot, *, allowed: tuple[str, ...] = ()) -> list[str]:
        """What is there now and was not; files below `allowed` aside."""
        news = [f"process: {text}" for text in self.processes if text not in before.processes]
        news += [
            f"file: {path}"
            for path in sorted(self.files - before.files)
            if not path.startswith(allowed)
        ]
        news += [f"sysctl: {text}" for text in self.sysctls if text not in before.sysctls]
        return news


def _files(root: Path) -> Iterator[str]:
    """Below what can be written to, as a path inside the host."""
    for top in ("etc", "home", "opt", "root", "run", "srv", "tmp", "usr", "var", "dev/shm"):
        for folder, folders, names in os.walk(root / top):
            for name in (*folders, *names):
                inside = "/" + str(Path(folder, name).relative_to(root))
                # What logging in leaves is not ours.
                if not inside.startswith(("/run/", "/var/log/", "/var/lib/sudo")):
                    yield inside

"""Finds the processes of a server that this program did not start, by what the kernel shows."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from typing import Any

from .host import printable
from .sockets import listeners
from .tree import inodes, named_stat, pids_of

CGROUPS = "/sys/fs/cgroup"
MOST_GROUPS = 20_000
ENGINES = ("docker", "podman")
FORWARDERS = (
    *("docker-proxy", "rootlessport", "slirp4netns", "pasta", "passt"),
    *("systemd-socket-", "ssh", "sshd", "kubectl", "socat"),
)
"""Programs that listen for another process, by their names of at most 15 letters."""
_ID = re.compile(r"[0-9a-f]{12,64}")


def find(asked: dict[str, Any]) -> dict[str, Any]:
    """Return "roots" (pid, start time and name), "group", the inodes of the listening "sockets", or
    "why" not. `asked`: "kind" with its "value", and the server's "port" and "address"."""
    kind, value, port = asked["kind"], asked["value"], asked["port"]
    group, pids = "", []
    bound = {each.inode for each in listeners(port)} if port else set()
    what, none = f"{kind} {value}", f"there is no process {value} here"
    if kind == "pid":
        pids = [int(value)] if os.path.exists(f"/proc/{value}") else []
    elif kind in {"unit", "container"}:
        name = value if kind == "unit" else container_id(value)
        group = group_of(name, asked.get("cgroups", CGROUPS), unit=kind == "unit")
        pids = pids_of(group) if group else []
        none = f"no control group here is that of the {what}"
    else:
        bound = (
            unix_listeners(value) if kind == "socket" else of_address(int(value), asked["address"])
        )
        none = f"no process here listens on {what} by itself"
        there = [int(name) for name in os.listdir("/proc") if bound and name.isdigit()]
        pids = [pid for pid in there if inodes(pid) & bound]
        pids = [pid for pid in pids if pid != 1] or pids  # systemd keeps the sockets it hands on
        if bound and not pids:
            return {"why": f"the owner of {what} is another user's process"}
        if (name := named_stat(pids[0])[0] if pids else "") in FORWARDERS:
            return {"why": f"{name} only forwards {what}; `process` says to whom"}
    if not pids:
        return {"why": none}
    if not any(os.access(f"/proc/{pid}/fd", os.R_OK) for pid in pids):
        return {"why": f"{what} belongs to another user"}
    return {"roots": described(tops(pids)), "group": group, "sockets": sorted(bound)}


def of_address(port: int, address: str) -> set[int]:
    """Return the sockets that listen on a port, those of this very address if there are any."""
    found = listeners(port)
    exact = {each.inode for each in found if address and each.address == address}
    return exact or {each.inode for each in found if each.address in {"", "0.0.0.0", "::"}}


def unix_listeners(path: str) -> set[int]:
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split(None, 7) for line in file][1:]
    return {
        int(fields[6])
        for fields in lines
        if len(fields) == 8 and fields[7] == path and int(fields[3], 16) & 1 << 16
    }


def tops(pids: Iterable[int]) -> list[int]:
    """Return those that have none of the others above them."""
    all_, found = set(pids), []
    for pid in sorted(all_):
        above = parent(pid)
        while above > 1 and above not in all_:
            above = parent(above)
        if above not in all_ or above == pid:
            found.append(pid)
    return found


def parent(pid: int) -> int:
    _, fields = named_stat(pid)
    return int(fields[1]) if fields else 0


def described(pids: Iterable[int]) -> list[dict[str, Any]]:
    found = []
    for pid in pids:
        name, fields = named_stat(pid)
        if fields:
            found.append({"pid": pid, "started": int(fields[19]), "name": name})
    return found


def container_id(name: str) -> str:
    """Return the id of a container's name, if an engine here tells it."""
    if _ID.fullmatch(name):
        return name
    for engine in ENGINES:
        try:
            found = subprocess.run(
                [engine, "inspect", "--format", "{{.Id}}", "--", name],
                capture_output=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if _ID.fullmatch(id_ := printable(found.stdout).strip()):
            return id_
    return name


def group_of(name: str, root: str, *, unit: bool) -> str:
    """Return the folder of a control group with processes, of version 1 or 2: of a unit of systemd
    by its name, of a container by its id, or a part of it, in the folder's name; empty: none."""
    wanted = name if not unit or "." in name else f"{name}.service"
    pattern = (
        re.escape(wanted) if unit else rf"(?:[a-z-]+-)?{re.escape(wanted)}[0-9a-f]*(?:\.scope)?"
    )
    looked = 0
    for folder, below, _ in os.walk(root):
        looked += len(below)
        if re.fullmatch(pattern, os.path.basename(folder)) and pids_of(folder):
            return folder
        if looked > MOST_GROUPS:
            break
    return ""

"""Whose CPU time and memory are those of a running server: found by the kernel's tables, on its
machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from workbench.machines.base import SAMPLER, Machine, output
from workbench.machines.runner_client import Command
from workbench.machines.wire import Count, InvalidMessage, Text, decode, quoted
from workbench.servers.address import Contact


class Root(msgspec.Struct, frozen=True):
    """A process of the server whose parent is none of them."""

    pid: Count
    started: Count
    """In ticks since boot, which tells it from a later one of this number."""
    name: Text


class _Found(msgspec.Struct, frozen=True):
    """What `remote.sampler.owner` prints."""

    roots: list[Root] = []
    group: Text = ""
    sockets: list[Count] = []
    why: Text = ""


@dataclass(frozen=True)
class Owner:
    """The processes of a running server."""

    roots: tuple[Root, ...] = ()
    group: str = ""
    """Their control group."""
    sockets: frozenset[int] = frozenset()
    """Inodes of its listening sockets."""
    why: str = ""
    """Why nothing is known, without the full stop."""

    @property
    def known(self) -> bool:
        return bool(self.roots)

    @property
    def text(self) -> str:
        """ "PID 812, gunicorn"."""
        named = [f"PID {root.pid}, {quoted(root.name)}" for root in self.roots[:3]]
        return "; ".join(named) + "; ..." * (len(self.roots) > 3)

    @property
    def watched(self) -> dict[str, Any]:
        """For the sampler."""
        return {"pid": [root.pid for root in self.roots], "group": self.group}

    def changed_since(self, before: Owner) -> str:
        """Return what happened to it, as the end of a sentence; empty: nothing."""
        added, gone = set(self.roots) - set(before.roots), set(before.roots) - set(self.roots)
        reopened = before.sockets and not self.sockets & before.sockets
        if before.known and not self.known:
            return f"its processes ended ({before.text})"
        if gone and len(gone) == len(before.roots):
            return f"it was restarted: {self.text}, before {before.text}"
        if added and not before.known:
            return f"it runs again: {self.text}"
        if added or gone:
            return f"it was scaled: {len(self.roots)} processes, before {len(before.roots)}"
        return "it opened its listening socket again" if reopened else ""


_DECODER = msgspec.json.Decoder(_Found)


async def find(machine: Machine, contact: Contact) -> Owner:
    """Return the processes that a plan names, or the owner of the server's port, or why they are
    unknown."""
    kind, _, value = contact.process.partition(":")
    address = contact.address
    if not kind and not address.port:
        kind, value = "socket", address.host
    asked = {
        "kind": kind or "port",
        "value": value or str(address.port),
        "address": "" if kind else contact.used,
        "port": address.port,
    }
    program = await machine.tool(SAMPLER)
    line = msgspec.json.encode(asked).decode()
    process = await machine.start(Command([*machine.python, program, "owner", line]))
    try:
        found = decode(_DECODER, b"".join(await output(process)))
    except InvalidMessage as error:
        last = " ".join(process.tail()[-1:]) or str(error)
        return Owner(why=f"{machine.name} cannot report its processes: {quoted(last)}")
    return Owner(tuple(found.roots), found.group, frozenset(found.sockets), quoted(found.why))

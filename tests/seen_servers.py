"""Checks servers alone, starts each twice, and writes what was seen into its `server.yaml`:
`make catalogue-record`."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import sys
from datetime import UTC, datetime

import msgspec

from workbench.machines.local import open_local
from workbench.servers.catalogue import Catalogue
from workbench.servers.checking import Checked, check, effort, version_of
from workbench.servers.entry import Seen, ServerEntry

_LINE = re.compile(r"^seen: \{.*\}$", re.MULTILINE)


def seen_of(checked: Checked, warm_start_s: float | None = None) -> Seen | None:
    """What is worth keeping of a check on this computer; None: it did not pass."""
    gate, deployment = checked.gate, checked.deployment
    if checked.status != "passed" or gate is None or deployment is None:
        return None
    return Seen(
        keep_alive=gate.keep_alive,
        pipelining=gate.pipelining,
        bytes=gate.bytes_on_wire,
        processes=gate.processes,
        threads=gate.threads,
        memory_mb=round(gate.rss_bytes / 1e6),
        version=version_of(checked.entry, deployment.version),
        cold_start_s=round(deployment.ready_s, 2),
        warm_start_s=None if warm_start_s is None else round(warm_start_s, 2),
        source=source(),
    )


def source() -> str:
    system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform())
    return f"catalogue check on {system}, {os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}"


def write(entry: ServerEntry, seen: Seen) -> None:
    path = entry.folder / "server.yaml"
    values = {name: value for name, value in msgspec.to_builtins(seen).items() if value is not None}
    line = ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())
    text, times = _LINE.subn(lambda _: f"seen: {{{line}}}", path.read_text("utf-8"))
    path.write_text(text if times else f"{text.rstrip()}\nseen: {{{line}}}\n", "utf-8")


async def record(entries: list[ServerEntry]) -> None:
    machine = await open_local()
    try:
        for entry in sorted(entries, key=effort):
            checked = await check(machine, entry, lambda _: None, install=True)
            if seen_of(checked):
                again = await check(machine, entry, lambda _: None, install=True)
                if seen := seen_of(checked, again.deployment and again.deployment.ready_s):
                    write(entry, seen)
            print(entry.id, checked.status, "" if seen_of(checked) else checked.reason)
    finally:
        await machine.close()


if __name__ == "__main__":
    known = Catalogue.load()
    asyncio.run(record([known.find(id) for id in sys.argv[1:]] or list(known)))

"""Servers in several worker processes: "tornado-4w" is the entry `tornado` in four."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from workbench.errors import BadInput
from workbench.servers.entry import ServerEntry

MOST = 64
COUNTS = (1, 2, 4)
"""Of workers, for the scaling over cores."""
PROGRAM = "workers.py"
"""Of `resources/apps`: runs a program several times on one port."""

_VARIANT = re.compile(r"(?P<server>.+)-(?P<workers>[1-9][0-9]?)w")


def variant_id(server: str, workers: int) -> str:
    return server if workers == 1 else f"{server}-{workers}w"


def find(entries: Mapping[str, ServerEntry], id: str) -> ServerEntry | None:
    """Return the entry of an id, which may be that of a variant; None: there is none.

    Raises BadInput if the server cannot run in that number of processes."""
    if id in entries or not (match := _VARIANT.fullmatch(id)):
        return entries.get(id)
    entry, workers = entries.get(match["server"]), int(match["workers"])
    return entry and _in_workers(entry, workers)


def in_counts(ids: Sequence[str], entries: Iterable[ServerEntry]) -> list[str]:
    """Replace each server that can run in several processes by its variants of `COUNTS`."""
    able = {entry.id for entry in entries if entry.workers}
    return list(
        dict.fromkeys(variant for id in ids for variant in (_variants(id) if id in able else [id]))
    )


def _variants(id: str) -> list[str]:
    return [variant_id(id, count) for count in COUNTS]


def _in_workers(entry: ServerEntry, workers: int) -> ServerEntry:
    if not entry.workers:
        raise BadInput(
            f"{entry.name} cannot be started in several processes; its entry has no `workers`."
        )
    if not 2 <= workers <= MOST:
        raise BadInput(f"{entry.name} runs in 1 to {MOST} processes, not in {workers}.")
    count, shared = str(workers), entry.shared
    if entry.workers == "reuse-port":
        python, *program = entry.command
        command, shared = [python, PROGRAM, count, *program], [*shared, PROGRAM]
        how = (
            "Each of its processes has a listening socket and a backlog of its own (SO_REUSEPORT)."
        )
    else:
        added = [part.replace("{workers}", count) for part in entry.workers]
        command, how = [*entry.command, *added], "It starts its processes itself."
    return msgspec.structs.replace(
        entry,
        id=variant_id(entry.id, workers),
        name=f"{entry.name}, {workers} workers",
        command=command,
        shared=shared,
        processes=workers,
        unequal=[*entry.unequal, how],
        improves="",
        seen=None,
    )

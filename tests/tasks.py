"""Synthetic sessions with servers of several processes and threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from msgspec.structs import replace

from workbench.documents import AnyDocument, RunStart


def with_tasks(documents: Sequence[AnyDocument], *tasks: tuple[int, int]) -> list[AnyDocument]:
    """The session whose servers were counted to have so many processes and threads before the
    run, in their order; those beyond were not counted."""
    start, *others = documents
    assert isinstance(start, RunStart)
    servers = [
        replace(record, gate={"processes": counted[0], "threads": counted[1]} if counted else {})
        for record, counted in zip_longest(start.servers, tasks)
        if record
    ]
    return [replace(start, servers=servers), *others]

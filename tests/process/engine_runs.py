"""Runs of two servers for a second each, with servers of the tests' own among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from workbench.documents import AnyDocument, Note, PointStop
from workbench.messages.topics import read_note
from workbench.plan.model import Plan, WarmUp
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

PLAN = Plan(
    name="Two servers",
    servers=["asyncio-protocol", "asyncio-streams"],
    rates=[300.0],
    seconds=1.0,
    warm_up=WarmUp(rate_per_s=100, seconds=0.2),
    cool_down_s=0.1,
    looks=1,
    workload=a_workload(timeout_s=60.0),
)


async def run(
    null: ServerEntry | None = None,
    then: Callable[[Engine, AnyDocument], None] = lambda engine, document: None,
    first: ServerEntry | None = None,
    **changes: object,
) -> list[AnyDocument]:
    """`first`: in place of the plan's first server. `changes`: to the plan."""
    catalogue = Catalogue.load(extra_dirs=[])
    documents: list[AnyDocument] = []

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        then(engine, document)

    entries = [catalogue[server] for server in PLAN.servers]
    if first:
        entries[0] = first
        changes["servers"] = [entry.id for entry in entries]
    plan = msgspec.structs.replace(PLAN, **changes)
    engine = Engine(plan, entries, emit, null=null or catalogue["null"])
    assert (await engine.run()).status == "done"
    return documents


def written(folder: Path, code: str, *arguments: object, name: str, family: str) -> ServerEntry:
    """A user's own server; its port is the last argument."""
    folder.mkdir()
    (folder / "server.py").write_text(code)
    reported = "".join(f'"{argument}", ' for argument in arguments)
    (folder / "server.yaml").write_text(
        f"name: {name}\nfamily: {family}\nprotocols: [pong]\n"
        "rights: {root: It keeps count elsewhere., files: It keeps count elsewhere.}\n"
        f'command: ["{{python}}", server.py, {reported}"{{port}}"]\n'
    )
    return load_entry(folder)


def swept(documents: list[AnyDocument]) -> list[str]:
    return [d.server for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]


def notes(documents: list[AnyDocument], topic: str) -> list[Any]:
    """Their messages."""
    return [read_note(d) for d in documents if isinstance(d, Note) and d.topic == topic]

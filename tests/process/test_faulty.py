"""Servers with unexpected responses are faulty, however busy the machine; healthy ones are not."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from tests.chosen import chosen
from workbench.documents import AnyDocument, PointStop
from workbench.messages.reasons import reasons_of, what_fails
from workbench.plan.model import Plan
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

SERVERS = Path(__file__).with_name("servers")
PLAN = Plan(
    servers=[],
    rates=[200.0],
    seconds=1.0,
    warm_up=None,
    cool_down_s=0.1,
    looks=1,
    order="sequential",
    workload=a_workload(protocol="http/1.1", calls_per_connection=10, timeout_s=10.0),
    rate_of="requests",
)
ATTEMPTS = 3
FAULTS = {
    "body": "answers with a wrong body",
    "500": "answers 500",
    "503": "answers 503",
    "404": "answers 404",
    "cut": "cuts replies short",
    "silent": "closes connections without a reply",
    "garbage": "gives malformed responses",
    "closes": "ends connections after 3 of 10 calls",
    "reset": "resets connections",
}
BUSY = "import os; me = os.getppid(); print(flush=True)\nwhile os.getppid() == me: pass"


def entry(name: str, mode: str) -> ServerEntry:
    found = load_entry(SERVERS / name)
    command = [found.command[0], "server.py", mode, *found.command[3:]]
    return msgspec.structs.replace(found, id=f"{name}-{mode}", name=mode, command=command)


async def run(entries: Sequence[ServerEntry], **changes: object) -> list[AnyDocument]:
    """`changes`: to the plan."""
    documents: list[AnyDocument] = []
    servers = [each.id for each in entries]
    plan = msgspec.structs.replace(PLAN, servers=servers, **changes)
    null = Catalogue.load(extra_dirs=[])["null-http"]
    assert (await Engine(plan, entries, documents.append, null=null).run()).status == "done"
    return documents


def stops(documents: Sequence[AnyDocument]) -> list[PointStop]:
    return [d for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]


@contextlib.contextmanager
def a_neighbour(busy: int) -> Iterator[None]:
    """`busy` programs use the CPU meanwhile."""
    with contextlib.ExitStack() as stack:
        for _ in range(busy):
            command = [sys.executable, "-c", BUSY]
            program = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
            stack.callback(program.kill)
            assert program.stdout and program.stdout.readline()
        yield


@pytest.mark.parametrize("busy", chosen([2, 0], 1))
async def test_a_server_that_turns_bad_after_forty_calls_is_faulty(busy: int) -> None:
    kinds = chosen(list(FAULTS), 3, seed=busy)
    entries = [entry("turns-bad", mode) for mode in kinds]
    found: dict[str, PointStop] = {}
    unsure = entries
    for _ in range(ATTEMPTS):
        with a_neighbour(busy):
            found |= {stop.server: stop for stop in stops(await run(unsure))}
        # Whatever else runs here may have kept the clients from their schedule altogether.
        unsure = [each for each in entries if found[each.id].verdict == "inconclusive"]
        if not unsure:
            break
    assert {stop.verdict for stop in found.values()} == {"faulty"}, verdicts(found.values())
    for each in entries:
        (reason, *_) = reasons_of(found[each.id])
        assert what_fails(reason) == FAULTS[each.name]
        first = reason.data()
        assert 0 < first["first_s"] < 1
        assert first.get("example", "").isprintable()


def verdicts(points: Iterable[PointStop]) -> list[tuple[object, ...]]:
    return [(p.server, p.x, p.verdict, p.reasons, p.evidence) for p in points]


@pytest.mark.parametrize("busy", chosen([0, 2], 1))
async def test_healthy_servers_are_never_faulty_not_even_beyond_their_limit(busy: int) -> None:
    entries = [load_entry(SERVERS / "keeps-alive")]
    entries += [entry("sheds", mode) for mode in chosen(("room", "work", "resets"), 1)]
    with a_neighbour(busy):
        found = stops(await run(entries, rates=[100.0, 600.0]))
    assert not [stop for stop in found if stop.verdict == "faulty"], verdicts(found)
    shedding = [stop for stop in found if stop.server != "keeps-alive" and stop.x == 600]
    assert all(stop.errors_pct > 1 for stop in shedding)
    if not busy and not any(p.evidence["others_cpu_pct"] > 20 for p in shedding):
        assert {stop.verdict for stop in shedding} == {"server-limited"}, verdicts(shedding)

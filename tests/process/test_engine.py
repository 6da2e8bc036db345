"""Failures during a run, and users who change their mind."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from workbench.analysis.audits import audits_of
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, PointStart, PointStop
from workbench.messages import notes as said
from workbench.messages.topics import read_note
from workbench.plan.model import Plan, WarmUp
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.entry_reading import load_entry
from workbench.workloads.registry import workload as a_workload

pytestmark = pytest.mark.alone

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

STARTS_ONCE = """
import os, socket, sys
mark, port = sys.argv[1], int(sys.argv[2])
if os.path.exists(mark):
    sys.exit("once is enough")
open(mark, "w").close()
listener = socket.create_server(("127.0.0.1", port), backlog=512)
while True:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nPong!")
        except ConnectionError:
            pass
"""

SLOW_IN_ITS_SECOND_LIFE = """
import os, socket, sys, time
lives, port = sys.argv[1], int(sys.argv[2])
with open(lives, "a") as file:
    file.write("1")
takes_s = 0.5 if os.path.getsize(lives) == 2 else 0
listener = socket.create_server(("127.0.0.1", port), backlog=512)
while True:
    connection, _ = listener.accept()
    time.sleep(takes_s)
    with connection:
        try:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nPong!")
        except ConnectionError:
            pass
"""


ONE_AT_A_TIME = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=512)
while True:
    connection, _ = listener.accept()
    time.sleep(0.005)
    with connection:
        try:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nPong!")
        except ConnectionError:
            pass
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))


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


async def test_a_null_server_that_fails_after_its_test_does_not_end_the_run(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    once = written(tmp_path / "null", STARTS_ONCE, mark, name="Once", family="tool")
    documents = await run(once)
    assert swept(documents) == PLAN.servers
    assert notes(documents, "client-limit-unknown") == [said.ClientLimitUnknown()]
    assert any("once is enough" in note.said for note in notes(documents, "deploy"))


async def test_a_rate_that_a_server_sustains_is_within_the_client_limit(
    tmp_path: Path,
) -> None:
    documents = await run(
        written(tmp_path / "null", ONE_AT_A_TIME, name="In their way", family="tool")
    )
    first, then = notes(documents, "ceiling")
    assert not first.reached_all and not first.name
    assert (then.ceiling_per_s, then.before_per_s) == (300, first.ceiling_per_s)
    # Whichever server showed it first.
    assert then.name in ("asyncio Protocol", "asyncio streams")
    assert summarise(documents).ceiling_per_s == 300


async def test_skipping_the_calibration_leaves_the_ceiling_unknown() -> None:
    def skip(engine: Engine, document: AnyDocument) -> None:
        if isinstance(document, PointStart) and document.purpose == "ceiling":
            engine.control.skip_server()

    documents = await run(then=skip)
    assert swept(documents) == PLAN.servers
    assert notes(documents, "ceiling") == []


async def test_a_null_server_that_is_compared_itself_is_no_reason_to_calibrate() -> None:
    null = Catalogue.load(extra_dirs=[])["null"]
    documents = await run(first=null, calibrate=False)
    purposes = {d.purpose for d in documents if isinstance(d, PointStart)}
    assert purposes == {"warm_up", "sweep"}


async def test_a_pause_asked_for_in_a_servers_last_point_comes_before_the_next_server() -> None:
    first = PLAN.servers[0]

    def pause(engine: Engine, document: AnyDocument) -> None:
        begun = isinstance(document, PointStart) and document.purpose == "sweep"
        if begun and document.server == first:
            engine.control.pause()
        if isinstance(document, Note) and document.topic == "paused":
            # Of the server that is over, not of the one to come.
            asyncio.get_running_loop().call_soon(engine.control.skip_server)

    documents = await run(then=pause)
    assert swept(documents) == PLAN.servers
    assert notes(documents, "paused") == [said.Paused(x=300.0)]
    assert notes(documents, "skipped") == []
    (paused,) = [n for n, d in enumerate(documents) if isinstance(d, Note) and d.topic == "paused"]
    before = [d.server for d in documents[:paused] if isinstance(d, PointStart)]
    assert PLAN.servers[1] not in before


async def test_a_server_skipped_between_two_points_gets_no_further_point() -> None:
    first = PLAN.servers[0]

    def skip(engine: Engine, document: AnyDocument) -> None:
        if isinstance(document, PointStop) and document.server == first:
            engine.control.skip_server()

    documents = await run(then=skip)
    assert swept(documents) == PLAN.servers[1:]
    assert notes(documents, "skipped") == [said.Skipped(name="asyncio Protocol")]


async def test_a_server_skipped_while_it_starts_gets_no_point() -> None:
    first = PLAN.servers[0]

    def skip(engine: Engine, document: AnyDocument) -> None:
        if isinstance(document, Note) and document.topic == "backlog" and document.server == first:
            engine.control.skip_server()

    documents = await run(then=skip)
    assert not [d for d in documents if isinstance(d, PointStart) and d.server == first]
    assert notes(documents, "skipped") == [said.Skipped(name="asyncio Protocol")]
    assert swept(documents) == PLAN.servers[1:]


async def test_a_server_that_gets_faster_while_it_runs_is_warmed_up() -> None:
    cold = Catalogue.load(extra_dirs=[])[PLAN.servers[0]]
    documents = await run(first=msgspec.structs.replace(cold, warm_up_s=2.0))
    assert swept(documents) == PLAN.servers
    (noted,) = [d for d in documents if isinstance(d, Note) and d.topic == "warm-up"]
    (reported,) = notes(documents, "warm-up")
    assert (reported.name, reported.seconds) == ("asyncio Protocol", 2)
    assert reported.calls >= 1
    points = [d for d in documents if isinstance(d, PointStart) and d.server == cold.id]
    assert documents.index(noted) < documents.index(points[0])


async def test_a_server_that_leaks_is_reported() -> None:
    leaking = load_entry(Path(__file__).parent / "servers" / "leaks")
    # 200 kB of each connection, at 30 a second.
    documents = await run(first=leaking, rates=[30.0], seconds=11.0, calibrate=False)
    (reported,) = notes(documents, "memory")
    assert reported.name == "leaks"
    assert 0 < 2 * reported.before_bytes < reported.after_bytes
    assert summarise(documents).servers["leaks"].notes == [reported.text()]
    (audit,) = [each for each in audits_of(documents) if each.code == "memory-growth"]
    assert (audit.state, audit.servers) == ("failed", ("leaks",))
    growth = audit.message.record()["growth"]
    per_hour, low, high, _ = growth["leaks"]
    assert low < per_hour < high and per_hour == pytest.approx(30 * 200_000 * 3_600, rel=0.1)
    assert [name for name, (*_, found) in growth.items() if found] == ["leaks"]


async def test_a_slow_spell_is_outvoted_by_repeats_after_the_other_servers_had_their_turn(
    tmp_path: Path,
) -> None:
    lives = tmp_path / "lives"
    spell = written(
        tmp_path / "spell", SLOW_IN_ITS_SECOND_LIFE, lives, name="Spell", family="socket"
    )
    # A few calls in time, and of the others it never hears.
    workload = a_workload(timeout_s=2.0)
    documents = await run(first=spell, looks=2, workload=workload, calibrate=False, warm_up=None)
    assert swept(documents)[:3] == ["spell", "asyncio-streams", "spell"]
    stops = [d for d in documents if isinstance(d, PointStop) and d.server == "spell"]
    first, second = (stop for stop in stops if stop.purpose == "sweep")
    assert first.verdict != "ok"
    assert second.look == 2
    assert second.counts.succeeded > first.counts.succeeded
    again = notes(documents, "again")[0]
    assert (again.name, again.rates_per_s, again.look) == ("Spell", [300.0], 1)
    assert not again.held

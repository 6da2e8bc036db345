"""Failures during a run, and users who change their mind."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from engine_runs import PLAN, notes, run, swept, written

from workbench.documents import AnyDocument, Note, PointStart, PointStop
from workbench.messages import notes as said
from workbench.plan import budget
from workbench.run.engine import Engine
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry

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


pytestmark = pytest.mark.usefixtures("home")


async def test_a_null_server_that_fails_after_its_test_does_not_end_the_run(
    tmp_path: Path,
) -> None:
    mark = tmp_path / "mark"
    once = written(tmp_path / "null", STARTS_ONCE, mark, name="Once", family="tool")
    documents = await run(once)
    assert swept(documents) == PLAN.servers
    assert notes(documents, "client-limit-unknown") == [said.ClientLimitUnknown()]
    assert any("once is enough" in note.said for note in notes(documents, "deploy"))


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


async def test_files_are_read_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a server, and earlier sessions; both may be large."""
    threads: dict[str, set[int]] = {"files": set(), "earlier": set()}

    def watched(name: str, read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*words: Any, **keys: Any) -> Any:
            threads[name].add(threading.get_ident())
            return read(*words, **keys)

        return reading

    monkeypatch.setattr(ServerEntry, "files", watched("files", ServerEntry.files))
    monkeypatch.setattr(budget, "earlier", watched("earlier", budget.earlier))
    await run()
    assert threads["files"] and threads["earlier"]
    assert threading.get_ident() not in threads["files"] | threads["earlier"]

"""A run whose means fail on the way, and a person who changes their mind."""

from collections.abc import Callable
from pathlib import Path

import pytest

from workbench.documents import AnyDocument, Note, PointStart, PointStop
from workbench.engine import Engine
from workbench.plans import Plan, WarmUp
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry, load_entry

PLAN = Plan(
    name="Two servers",
    servers=["asyncio-protocol", "asyncio-streams"],
    rates=[300.0],
    seconds=1.0,
    warm_up=WarmUp(rate_per_s=100, seconds=0.2),
    cool_down_s=0.1,
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


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))


async def run(
    null: ServerEntry | None = None,
    then: Callable[[Engine, AnyDocument], None] = lambda engine, document: None,
) -> list[AnyDocument]:
    catalogue = Catalogue.load(extra_dirs=[])
    documents: list[AnyDocument] = []

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        then(engine, document)

    entries = [catalogue[server] for server in PLAN.servers]
    engine = Engine(PLAN, entries, emit, null=null or catalogue["null"])
    assert (await engine.run()).status == "done"
    return documents


def swept(documents: list[AnyDocument]) -> list[str]:
    return [d.server for d in documents if isinstance(d, PointStop) and d.purpose == "sweep"]


def notes(documents: list[AnyDocument], topic: str) -> list[str]:
    return [d.text for d in documents if isinstance(d, Note) and d.topic == topic]


async def test_a_null_server_that_fails_after_its_trial_does_not_end_the_run(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "null"
    folder.mkdir()
    (folder / "server.py").write_text(STARTS_ONCE)
    mark = tmp_path / "mark"
    (folder / "server.yaml").write_text(
        f'name: Once\nfamily: tool\ncommand: ["{{python}}", server.py, "{mark}", "{{port}}"]\n'
        "protocols: [pong]\n"
    )
    documents = await run(load_entry(folder))
    assert swept(documents) == PLAN.servers
    assert "The clients' own ceiling was not measured." in notes(documents, "warning")
    assert any("once is enough" in text for text in notes(documents, "deploy"))


async def test_skipping_the_calibration_leaves_the_ceiling_unknown() -> None:
    def skip(engine: Engine, document: AnyDocument) -> None:
        if isinstance(document, PointStart) and document.purpose == "ceiling":
            engine.control.skip_server()

    documents = await run(then=skip)
    assert swept(documents) == PLAN.servers
    assert notes(documents, "ceiling") == []


async def test_a_server_skipped_between_two_points_gets_no_further_point() -> None:
    first = PLAN.servers[0]

    def skip(engine: Engine, document: AnyDocument) -> None:
        if isinstance(document, PointStop) and document.server == first:
            engine.control.skip_server()

    documents = await run(then=skip)
    assert swept(documents) == PLAN.servers[1:]
    assert notes(documents, "skipped") == ["asyncio Protocol was skipped."]

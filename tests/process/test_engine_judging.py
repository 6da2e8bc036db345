"""Runs that judge what they measured: of the client limit, of memory, of a value in doubt."""

import io
from pathlib import Path

import pytest
from engine_runs import notes, run, swept, written

from workbench.analysis.audits import audits_of
from workbench.analysis.summary import summarise
from workbench.documents import PointStop
from workbench.results.render.terminal import print_ranking
from workbench.servers.entry_reading import load_entry
from workbench.terminal import Terminal
from workbench.workloads.registry import workload as a_workload

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.alone]

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


async def test_a_server_that_leaks_is_reported() -> None:
    leaking = load_entry(Path(__file__).parent / "servers" / "leaks")
    # 200 kB of each connection, at 30 a second.
    documents = await run(first=leaking, rates=[30.0], seconds=11.0, calibrate=False)
    (reported,) = notes(documents, "memory")
    assert reported.name == "leaks" and reported.shared_once
    assert 0 < 2 * reported.before_bytes < reported.after_bytes
    assert summarise(documents).servers["leaks"].notes == [reported.text()]
    (audit,) = [each for each in audits_of(documents) if each.code == "memory-growth"]
    assert (audit.state, audit.servers) == ("failed", ("leaks",))
    growth = audit.message.record()["growth"]
    per_hour, low, high, _ = growth["leaks"]
    assert low < per_hour < high and per_hour == pytest.approx(30 * 200_000 * 3_600, rel=0.1)
    assert [name for name, (*_, found) in growth.items() if found] == ["leaks"]
    print_ranking(summarise(documents), Terminal(file=(out := io.StringIO()), width=200))
    assert audit.message.text() in " ".join(out.getvalue().split())


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

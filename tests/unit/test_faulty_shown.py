"""A faulty server is named wherever results are: terminal, JSON, comparison, report, table."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.recording import record_session
from tests.synthetic import session
from tests.turned_bad import turned_bad
from workbench.analysis.repeats import undecided
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, PointStop, RunStart, RunStop
from workbench.sessions import read_session
from workbench.sessions.reading import FAULTY_UNKNOWN, TARGET_UNKNOWN, predates

BAD, NEVER_GOOD, GOOD = "asyncio-protocol", "asyncio-streams", "gevent"
ANSWERS_500 = "asyncio Protocol is faulty from 4,500/s: answers 500."
CLOSES = "asyncio streams is faulty from 1,125/s: ends connections after 3 of 10 calls."


@pytest.fixture
def documents() -> list[AnyDocument]:
    closed = turned_bad(session(3, 8), NEVER_GOOD, 0.0, "protocol-closed", answered=3, agreed=10)
    return turned_bad(closed, BAD, 4000.0)


def test_a_faulty_point_ends_the_sustained_range_without_being_a_limit(
    documents: list[AnyDocument],
) -> None:
    servers = summarise(documents).servers
    bad, never_good = servers[BAD], servers[NEVER_GOOD]
    assert (bad.knee, bad.knee_is_floor) == (3375.0, True)
    assert bad.interval is not None and bad.interval.high == float("inf")
    assert (never_good.knee, never_good.unknown) == (None, None)
    assert not servers[GOOD].faulty and not servers[GOOD].what_is_faulty


def test_a_good_rate_above_makes_it_faulty_at_one_rate_only(documents: list[AnyDocument]) -> None:
    once = turned_bad(session(1, 8), NEVER_GOOD, 2000.0)
    good = {d.x: d for d in session(1, 8) if isinstance(d, PointStop) and d.verdict == "ok"}
    fixed = [good.get(d.x, d) if isinstance(d, PointStop) and d.x > 2300 else d for d in once]
    (server,) = summarise(fixed).servers.values()
    assert server.what_is_faulty == "faulty at 2,250/s: answers 500"


def test_a_server_is_faulty_after_two_faulty_points(documents: list[AnyDocument]) -> None:
    first = [d for d in documents if isinstance(d, PointStop) and d.server == NEVER_GOOD]
    again = [msgspec.structs.replace(stop, look=2) for stop in first]
    assert undecided(first) is not None
    assert undecided([*first, *again]) is None


def test_a_session_with_it_is_read_without_a_remark(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    session = read_session(recorded(tmp_path, documents))
    assert not session.damage and len(session.documents) == len(documents)
    assert session.notes == []


def recorded(folder: Path, documents: list[AnyDocument]) -> Path:
    return record_session(folder / "s.pong.yaml", documents)


def before(documents: list[AnyDocument], *more: AnyDocument) -> list[AnyDocument]:
    """As version 1 recorded it: unexpected responses were a limit of the server."""
    start, *rest = documents
    assert isinstance(start, RunStart)
    judged = [
        msgspec.structs.replace(d, verdict="server-limited")
        if isinstance(d, PointStop) and d.verdict == "faulty"
        else d
        for d in rest
    ]
    return [msgspec.structs.replace(start, v=1), *more, *judged]


LOST = Note(t_us=1, topic="sampler-lost", text="The sampler ended.", machine="localhost")
CLIENT = Note(t_us=1, topic="client-lost", text="", data={"clients": ["localhost"]})


def test_an_earlier_session_is_marked_only_where_it_could_not_know_better(
    documents: list[AnyDocument],
) -> None:
    assert list(predates(before(session(3, 8)))) == [], "nothing in it was wrong"
    assert list(predates(documents)) == []
    assert list(predates(before(documents))) == [FAULTY_UNKNOWN]
    assert list(predates(before(session(3, 8), LOST))) == [TARGET_UNKNOWN]
    assert list(predates(before(session(3, 8), CLIENT))) == [TARGET_UNKNOWN]
    *rest, stop = before(session(3, 8))
    assert isinstance(stop, RunStop)
    gone = msgspec.structs.replace(stop, status="failed", code="machine-gone")
    assert list(predates([*rest, gone])) == [TARGET_UNKNOWN]


def test_earlier_verdicts_stand_and_are_marked_when_read(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    file = recorded(tmp_path, before(documents))
    session = read_session(file)
    assert session.notes == [FAULTY_UNKNOWN]
    verdicts = {d.verdict for d in session.documents if isinstance(d, PointStop)}
    assert verdicts == {"ok", "server-limited"}

"""A faulty server is named wherever results are: terminal, JSON, comparison, report, table."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest

from tests.recording import record_session
from tests.synthetic import session
from tests.turned_bad import turned_bad
from workbench.analysis.repeats import undecided
from workbench.analysis.summary import summarise
from workbench.commands.summary import print_summary
from workbench.comparison.sides import compare, side_of
from workbench.comparison.table import as_csv, columns, ordered
from workbench.comparison.words import difference_in
from workbench.documents import AnyDocument, Note, PointStop, RunStart, RunStop
from workbench.report import sustained
from workbench.report.facts import facts
from workbench.report.points import points_as_csv
from workbench.sessions import Session, read_session
from workbench.sessions.predates import FAULTY_UNKNOWN, TARGET_UNKNOWN, predates
from workbench.terminal import Terminal

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


def test_the_summary_names_it_and_its_json_has_the_verdict(documents: list[AnyDocument]) -> None:
    screen = io.StringIO()
    print_summary(summarise(documents), Terminal(file=screen, width=140))
    shown = screen.getvalue()
    assert f"✗ {ANSWERS_500}" in shown and f"✗ {CLOSES}" in shown
    assert "≥ 3,375/s ✗" in shown and "faulty ✗" in shown
    data = summarise(documents).to_data()["servers"]
    assert data[BAD]["faulty"] == "faulty from 4,500/s: answers 500"
    assert data[GOOD]["faulty"] is None
    bad = [point for point in data[BAD]["points"] if point["verdict"] == "faulty"]
    assert len(bad) == 5
    assert {code for point in bad for code in point["codes"]} == {"unexpected-replies"}


def test_a_good_rate_above_makes_it_faulty_at_one_rate_only(documents: list[AnyDocument]) -> None:
    once = turned_bad(session(1, 8), NEVER_GOOD, 2000.0)
    good = {d.x: d for d in session(1, 8) if isinstance(d, PointStop) and d.verdict == "ok"}
    fixed = [good.get(d.x, d) if isinstance(d, PointStop) and d.x > 2300 else d for d in once]
    (server,) = summarise(fixed).servers.values()
    assert server.what_is_faulty == "faulty at 2,250/s: answers 500"


def test_a_comparison_says_why_it_does_not_rank_by_it(documents: list[AnyDocument]) -> None:
    found = compare([side_of(Session("A", documents), Path("A.yaml"), "A")])
    by_id = {contender.id: contender for contender in found.contenders}
    assert sustained.column(by_id[BAD].result) == "≥ 3,375/s"
    assert sustained.column(by_id[NEVER_GOOD].result) == "faulty"
    assert difference_in(found, by_id[BAD], by_id[NEVER_GOOD]).endswith(
        f"cannot be compared: {ANSWERS_500.removesuffix('.')} and {CLOSES}"
    )
    assert "verdicts_faulty" in {column.key for column in columns(found)}
    cells = {str(row["server"].text): row for row in ordered(found)}
    assert cells["asyncio Protocol"]["verdicts_faulty"].value == 5
    assert cells["asyncio streams"]["interval"].text == ""
    assert "verdicts_faulty" in as_csv(found).splitlines()[0]


def test_a_report_names_it_in_its_answer_and_quotes_it(documents: list[AnyDocument]) -> None:
    report = facts(documents)
    assert report.answer == f"Best: gevent at 7,875 connections per second. {ANSWERS_500} {CLOSES}"
    reached = {each.id: each for each in report.ranking}
    assert (reached[NEVER_GOOD].sustained, reached[BAD].sustained) == ("faulty", "≥ 3,375/s")
    (doubt,) = [each for each in report.doubts if each.startswith("asyncio Protocol at")]
    assert ": faulty. The server answers 500:" in doubt
    assert 'The first: "HTTP/1.0 500 Internal Server Error' in doubt
    rows = points_as_csv(documents).splitlines()
    assert sum(",faulty," in row for row in rows) == 13


def test_a_summary_of_faulty_servers_states_no_rate() -> None:
    report = facts(turned_bad(session(1, 8), NEVER_GOOD, 0.0))
    assert report.answer == (
        "No server sustained any tested rate. asyncio streams is faulty from 1,125/s: answers 500."
    )


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

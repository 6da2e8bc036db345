"""The data of thumbnails: a session without its windows and samples."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from app.live.film import load
from app.sessions.thumbnail import outline
from tests.outcomes import Contestant
from tests.recording import record_session
from tests.synthetic import End, knees, session
from workbench.documents import AnyDocument, Note, PointStop, RunStart, RunStop, Status
from workbench.errors import BadInput
from workbench.sessions import read_session
from workbench.sessions.skim import skim

KINDS = (RunStart, PointStop, Note, RunStop)


def known(documents: list[AnyDocument]) -> list[AnyDocument]:
    """By kind, in their order."""
    return [d for kind in KINDS for d in documents if isinstance(d, kind)]


@pytest.mark.parametrize("end", ["done", "interrupted", "crashed"])
def test_skimming_finds_all_results_that_reading_finds(tmp_path: Path, end: End) -> None:
    path = record_session(
        tmp_path / "a.pong.yaml", session(3, 5, seconds=1.0, end=end, give_up=True)
    )
    assert known(skim(path)) == known(read_session(path).documents)


def test_an_incomplete_last_line_is_left_out(tmp_path: Path) -> None:
    path = record_session(tmp_path / "a.pong.yaml", session(1, 3, seconds=1.0))
    data = path.read_bytes()
    path.write_bytes(data[:-9])
    assert not any(isinstance(d, RunStop) for d in skim(path))
    assert known(skim(path)) == known(read_session(path).documents)


def test_documents_after_damage_are_left_out_as_when_reading(tmp_path: Path) -> None:
    path = record_session(tmp_path / "a.pong.yaml", session(3, 5, seconds=1.0))
    data = path.read_bytes()
    at = data.index(b'--- {"kind":"windows"', len(data) // 2)
    path.write_bytes(data[: at + 30] + data[at + 60 :])
    whole = read_session(path)
    assert whole.damage
    assert known(skim(path)) == known(whole.completed())
    reported = asyncio.run(load(path)).warning
    assert reported.startswith("The file is damaged in line ")
    assert "Only the part before it is shown" in reported


def test_a_session_edited_by_hand_is_read_as_a_whole(tmp_path: Path) -> None:
    path = record_session(tmp_path / "a.pong.yaml", session(1, 3, seconds=1.0))
    text = path.read_text().replace('--- {"kind":"note"', '--- {kind: note, "x": 1', 1)
    path.write_text(text.replace(', "x": 1', "", 1))
    stops = [d for d in skim(path) if isinstance(d, PointStop) and d.purpose == "sweep"]
    assert len(stops) == 3


def test_a_file_that_is_no_session_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    with pytest.raises(BadInput, match=r"a\.yaml"):
        outline(tmp_path / "a.yaml")


def test_an_outline_names_the_best_server_and_departs_from_the_ideal_with_it(
    tmp_path: Path,
) -> None:
    found = outline(record_session(tmp_path / "a.pong.yaml", session(3, 9, seconds=1.0)))
    best = knees(3, 9)["gevent"]
    assert found.result.startswith(f"gevent sustains {best:,.0f}/s; asyncio Protocol ")
    assert not found.doubt
    assert [line.index for line in found.lines] == [2, 1, 0]
    for line in found.lines:
        assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in line.points)
        (first_x, first_y), (last_x, last_y) = line.points[0], line.points[-1]
        assert first_y == pytest.approx(first_x, rel=0.02), "it holds its first rate"
        assert last_y < last_x, "it does not hold its last"


def test_servers_that_cannot_be_distinguished_are_all_named(tmp_path: Path) -> None:
    documents = session(3, 9, seconds=1.0, untrusted_from=6500)
    found = outline(record_session(tmp_path / "a.pong.yaml", documents))
    assert found.summary == (
        "asyncio Protocol and gevent sustain at least 6,000/s; asyncio streams 5,000/s"
    )
    documents = session(12, 9, seconds=1.0, untrusted_from=1500)
    found = outline(record_session(tmp_path / "b.pong.yaml", documents))
    assert found.summary.endswith(" and 9 others sustain at least 1,000/s")


def test_an_outline_stays_small_however_many_points_there_are(tmp_path: Path) -> None:
    found = outline(
        record_session(tmp_path / "a.pong.yaml", session(1, 87, seconds=1.0, ceiling=False))
    )
    (line,) = found.lines
    assert len(line.points) <= 40
    assert line.points[-1][0] == pytest.approx(1.0)


def test_a_server_that_answers_nothing_is_drawn_at_zero(tmp_path: Path) -> None:
    dead = Contestant("dead", "Dead", "", 0, 100, 1)
    found = outline(record_session(tmp_path / "a.pong.yaml", session([dead], 3, seconds=1.0)))
    assert found.result == "No server sustained any tested rate"
    assert {y for _, y in found.lines[0].points} == {0.0}


@pytest.mark.parametrize(
    ("end", "partial"), [("done", ""), ("interrupted", "Incomplete: "), ("crashed", "Incomplete: ")]
)
def test_the_rate_of_a_session_that_did_not_run_to_its_end_is_called_incomplete(
    tmp_path: Path, end: End, partial: str
) -> None:
    path = record_session(tmp_path / "a.pong.yaml", session(3, 9, seconds=1.0, end=end))
    said = outline(path).result
    assert said.startswith("Incomplete: ") is bool(partial)
    assert "/s" in said.removeprefix(partial)


@pytest.mark.parametrize("status", ["stopped", "aborted", "failed"])
def test_only_a_session_that_is_done_has_a_final_rate(tmp_path: Path, status: Status) -> None:
    documents = [
        replace(each, status=status) if isinstance(each, RunStop) else each
        for each in session(1, 9, seconds=1.0)
    ]
    said = outline(record_session(tmp_path / "a.pong.yaml", documents)).result
    assert said.startswith("Incomplete: asyncio streams sustains ")


def test_a_session_stopped_in_its_first_point_shows_that_as_incomplete(tmp_path: Path) -> None:
    documents = [
        replace(each, complete=False, verdict="inconclusive")
        if isinstance(each, PointStop)
        else each
        for each in session(1, rates=[500.0], seconds=1.0)
    ]
    found = outline(record_session(tmp_path / "a.pong.yaml", documents))
    assert found.summary == "Stopped: 500/s, incomplete"

"""The list of recorded sessions, whatever state their files are in."""

from __future__ import annotations

from pathlib import Path

from tests.synthetic import session
from workbench.documents import RunStop
from workbench.sessions import Recorder
from workbench.shelf import shelf


def record(path: Path, *, upto: int | None = None) -> bytes:
    recorder = Recorder(path)
    for document in session(2, 4)[:upto]:
        recorder(document)
    recorder.close()
    return path.read_bytes()


def test_a_whole_session_tells_how_it_ended(tmp_path: Path) -> None:
    data = record(tmp_path / "a.pong.yaml")
    (found,) = shelf(tmp_path)
    assert found.size_bytes == len(data)
    assert found.start is not None
    assert found.start.plan["name"]
    assert isinstance(found.stop, RunStop)


def test_a_session_that_is_cut_off_is_listed_without_an_end(tmp_path: Path) -> None:
    record(tmp_path / "cut.pong.yaml", upto=10)
    (found,) = shelf(tmp_path)
    assert found.start is not None
    assert found.stop is None


def test_a_session_whose_beginning_is_damaged_says_so(tmp_path: Path) -> None:
    (tmp_path / "torn.pong.yaml").write_text("# pongbench session\n---\nkind: run_st")
    (found,) = shelf(tmp_path)
    assert found.start is None
    assert "cut off" in found.problem


def test_other_files_are_not_listed_and_no_folder_is_no_session(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    assert shelf(tmp_path) == []
    assert shelf(tmp_path / "nowhere") == []


def test_the_latest_name_comes_first_among_sessions_of_one_time(tmp_path: Path) -> None:
    record(tmp_path / "a.pong.yaml")
    record(tmp_path / "b.pong.yaml")
    assert [found.path.name for found in shelf(tmp_path)] == ["b.pong.yaml", "a.pong.yaml"]

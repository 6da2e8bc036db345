"""The list of recorded sessions, whatever state their files are in."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis.strategies import text

from tests.recording import record_session
from tests.synthetic import session
from workbench.documents import VERSION, RunStop
from workbench.errors import BadInput
from workbench.sessions import Recorder
from workbench.sessions.labels import Label, Titles
from workbench.sessions.library import shelf


def record(path: Path, *, upto: int | None = None) -> bytes:
    record_session(path, session(2, 4)[:upto])
    return path.read_bytes()


def test_a_complete_session_shows_how_it_ended(tmp_path: Path) -> None:
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


def test_a_session_damaged_in_the_middle_says_what_of_it_can_be_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.pong.yaml"
    data = record(path)
    first, second = (data.index(b'--- {"kind":"point_start"', at) for at in (0, len(data) // 2))
    assert first < second
    path.write_bytes(data[:second] + b"--- {]\n" + data[second:])
    (found,) = shelf(tmp_path)
    assert found.stop is None
    assert found.problem.startswith("Damaged: 1 of 2 servers can be shown.")
    (again,) = shelf(tmp_path, known=[found])
    assert again == found


def test_a_damaged_session_is_found_when_the_list_is_refreshed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.sessions.library.MOST_BYTES", 1)
    data = record(tmp_path / "a.pong.yaml")
    (tmp_path / "a.pong.yaml").write_bytes(data.replace(b'"kind":"point_stop"', b'"kind', 1))
    record(tmp_path / "b.pong.yaml")
    first = shelf(tmp_path)
    assert [bool(found.problem) for found in first] == [False, False]
    assert [bool(found.problem) for found in shelf(tmp_path, known=first)] == [False, True]


def test_a_session_of_a_newer_version_gives_one_sentence(tmp_path: Path) -> None:
    data = record(tmp_path / "a.pong.yaml")
    (tmp_path / "a.pong.yaml").write_bytes(data.replace(b"v: %d\n" % VERSION, b"v: 9\n", 1))
    (found,) = shelf(tmp_path)
    assert found.problem.startswith("This file is from a newer Pongbench (9).")
    assert found.stop is not None


def test_other_files_are_not_listed_and_no_folder_is_no_session(tmp_path: Path) -> None:
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    assert shelf(tmp_path) == []
    assert shelf(tmp_path / "nowhere") == []


def test_the_latest_name_comes_first_among_sessions_of_one_time(tmp_path: Path) -> None:
    record(tmp_path / "a.pong.yaml")
    record(tmp_path / "b.pong.yaml")
    assert [found.path.name for found in shelf(tmp_path)] == ["b.pong.yaml", "a.pong.yaml"]


def test_a_session_counts_as_recording_exactly_while_its_recorder_runs(tmp_path: Path) -> None:
    path = tmp_path / "now.pong.yaml"
    recorder = Recorder(path)
    for document in session(2, 4)[:10]:
        recorder(document)
    (found,) = shelf(tmp_path)
    assert found.growing
    recorder.close()
    (found,) = shelf(tmp_path, known=[found])
    assert not found.growing


def test_a_session_whose_recording_program_was_killed_is_at_once_no_longer_recorded(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, time; from pathlib import Path; from tests.synthetic import session;"
        " from workbench.sessions import Recorder\n"
        "recorder = Recorder(Path(sys.argv[1]))\n"
        "for document in session(2, 4)[:10]: recorder(document)\n"
        "print(flush=True); time.sleep(600)"
    )
    recording = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "a.pong.yaml")], stdout=subprocess.PIPE
    )
    try:
        assert recording.stdout is not None
        recording.stdout.readline()
        (found,) = shelf(tmp_path)
        assert found.growing
    finally:
        recording.kill()
        recording.communicate()
    (found,) = shelf(tmp_path, known=[found])
    assert not found.growing


def test_a_known_session_is_read_again_only_when_its_file_has_changed(tmp_path: Path) -> None:
    record(tmp_path / "a.pong.yaml")
    (first,) = shelf(tmp_path)
    (second,) = shelf(tmp_path, known=[first])
    assert second.start is first.start
    with (tmp_path / "a.pong.yaml").open("ab") as file:
        file.write(b"\n")
    (third,) = shelf(tmp_path, known=[second])
    assert third.start is not first.start


def test_a_title_is_shown_with_the_session_and_follows_a_renamed_file(tmp_path: Path) -> None:
    data = record(tmp_path / "a.pong.yaml")
    (found,) = shelf(tmp_path)
    assert found.title == "Socket ping-pong"
    assert found.start is not None
    Titles(tmp_path).write(found.start.session, Label("Before: the new kernel", "Two\nlines, 'é'"))
    (tmp_path / "a.pong.yaml").rename(tmp_path / "b.pong.yaml")
    (found,) = shelf(tmp_path)
    assert found.title == "Before: the new kernel"
    assert found.label.notes == "Two\nlines, 'é'"
    assert (tmp_path / "b.pong.yaml").read_bytes() == data


def test_a_removed_title_falls_back_to_the_plans(tmp_path: Path) -> None:
    record(tmp_path / "a.pong.yaml")
    (found,) = shelf(tmp_path)
    assert found.start is not None
    titles = Titles(tmp_path)
    titles.write(found.start.session, Label("Mine"))
    titles.write(found.start.session, Label())
    (found,) = shelf(tmp_path)
    assert found.title == "Socket ping-pong"
    assert titles.read() == {}


def test_an_invalid_titles_file_is_reported_and_never_overwritten(tmp_path: Path) -> None:
    record(tmp_path / "a.pong.yaml")
    titles = Titles(tmp_path)
    titles.path.write_text("- [not, closed\n")
    (found,) = shelf(tmp_path)
    assert found.title == "Socket ping-pong"
    with pytest.raises(BadInput, match=r"titles\.yaml, line"):
        titles.write("x", Label("Mine"))
    assert titles.path.read_text() == "- [not, closed\n"


@given(text(), text())
def test_any_text_round_trips_through_the_titles_file(
    tmp_path_factory: pytest.TempPathFactory, title: str, notes: str
) -> None:
    titles = Titles(tmp_path_factory.mktemp("titles"))
    kept = Label(f"A {title}", f"N {notes}")
    titles.write("other", Label("Stays"))
    titles.write("0123", kept)
    read = titles.read()
    assert read["other"] == Label("Stays")
    plain = "".join(c for c in kept.title if c.isprintable()).strip()
    assert read["0123"].title.replace("\n", "").replace("\t", "") == plain


def test_a_full_disk_is_reported_and_keeps_the_existing_titles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = Titles(tmp_path)
    titles.write("x", Label("Mine"))

    def full(*arguments: object, **options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fdopen", full)
    with pytest.raises(BadInput, match="the disk is full"):
        titles.write("y", Label("Other"))
    assert titles.read() == {"x": Label("Mine")}
    assert [path.name for path in tmp_path.glob("[!.]*")] == ["titles.yaml"]
    assert list(tmp_path.glob(".*.part")) == []

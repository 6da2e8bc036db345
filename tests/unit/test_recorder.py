"""Writing a session: document by document, atomically, never over another file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests import synthetic
from workbench.documents import AnyDocument, HostSample, Note, PointStop, RunStop, Window
from workbench.errors import BadInput, PongbenchError
from workbench.sessions import Recorder, read_session

LIMITED = """
    import resource, sys
    from pathlib import Path
    from tests import synthetic
    from workbench.documents import PointStop, RunStop
    from workbench.errors import PongbenchError
    from workbench.sessions import Recorder

    documents = synthetic.session(1, 3, rates=[4700.0, 5000.0, 9000.0], ceiling=False)
    recorder = Recorder(Path(sys.argv[1]))
    stops = 0
    try:
        for document in documents:
            recorder(document)
            if isinstance(document, PointStop):
                stops += 1
                if stops == 2:
                    size = Path(sys.argv[1]).stat().st_size + 100
                    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    except PongbenchError as error:
        print(error)
    recorder(RunStop(t_us=1, status="failed"))
    recorder.close()
"""


@pytest.fixture
def documents() -> list[AnyDocument]:
    return synthetic.session(1, 2, rates=[500.0, 800.0], seconds=1.0)


def test_documents_are_in_the_file_before_the_call_returns(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    path = tmp_path / "new" / "folder" / "run.pong.yaml"
    recorder = Recorder(path)
    for count, document in enumerate(documents, 1):
        recorder(document)
        # The first counts as soon as the second begins; windows and samples wait for others.
        if count == 1 or not isinstance(document, Window | HostSample):
            assert len(read_session(path).documents) == (count if count > 1 else 0)
    recorder.close()
    recorder.close()


def test_a_session_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("mine")
    with pytest.raises(BadInput, match=r"run\.yaml already exists, and sessions are never"):
        Recorder(path)
    assert path.read_text() == "mine"


def test_two_runs_started_in_one_second_have_a_file_each(
    documents: list[AnyDocument], tmp_path: Path
) -> None:
    recorders = [Recorder(tmp_path / "run.pong.yaml", or_beside=True) for _ in range(2)]
    for document in documents:
        for recorder in recorders:
            recorder(document)
    for recorder in recorders:
        recorder.close()
        assert read_session(recorder.path).documents == documents
    assert [recorder.path.name for recorder in recorders] == ["run.pong.yaml", "run-2.pong.yaml"]


def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(BadInput, match=r"out is a file, not a directory"):
        Recorder(tmp_path / "out" / "run.yaml")


def test_a_directory_instead_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is a directory; give the name of a file"):
        Recorder(tmp_path)


def test_a_path_no_system_accepts_gives_one_sentence() -> None:
    with pytest.raises(BadInput, match="No session can be written to"):
        Recorder(Path("a\0b"))


def test_until_something_is_recorded_there_is_no_file(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run.yaml")
    assert list(tmp_path.iterdir()) == []
    recorder.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appeared_in_the_meantime_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    recorder = Recorder(path)
    path.write_text("mine")
    with pytest.raises(BadInput, match=r"run\.yaml already exists"):
        recorder(synthetic.session(1, 1)[0])
    recorder.close()
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    "broken",
    [
        Note(t_us=1, topic="x", text="x", data={"share": float("nan")}),
        HostSample(t_us=1, machine="x", cpu_pct=float("inf")),
    ],
)
def test_a_value_that_cannot_be_written_is_refused_and_leaves_no_partial_document(
    broken: AnyDocument, documents: list[AnyDocument], tmp_path: Path
) -> None:
    path = tmp_path / "run.yaml"
    recorder = Recorder(path)
    for document in documents[:3]:
        recorder(document)
    with pytest.raises(PongbenchError, match="document holds a value that cannot be written"):
        recorder(broken)
    for document in documents[3:]:
        recorder(document)
    recorder.close()
    assert read_session(path).documents == documents


def limited(path: Path) -> str:
    """What the recorder says when its file may not grow beyond the middle of a document."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return done.stdout


def test_a_disk_full_during_calibration_is_reported_with_the_null_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = iter(synthetic.session(1, 3))
    recorder = Recorder(tmp_path / "run.yaml")
    for document in rest:
        recorder(document)
        if isinstance(document, PointStop):
            break

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.write", full)
    with pytest.raises(PongbenchError, match="The session is complete up to the null server, "):
        recorder(next(rest))
    recorder.close()


@pytest.mark.skipif(os.name != "posix", reason="needs limits on file sizes")
def test_a_file_that_cannot_grow_stays_valid_and_says_what_it_contains(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    assert limited(path) == (
        "The session cannot be written: file too large."
        f" The session is complete up to asyncio streams, 4,700/s ({path}).\n"
    )
    session = read_session(path)
    assert not session.damage
    assert session.documents[-1] == RunStop(t_us=1, status="failed")
    assert sum(isinstance(d, PointStop) and d.purpose == "sweep" for d in session.documents) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk_is_reported_as_such(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    recorder = Recorder(path)
    start, second, *_ = synthetic.session(1, 1)
    recorder(start)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(
        full,
        next(int(each.name) for each in Path("/proc/self/fd").iterdir() if each.resolve() == path),
    )
    os.close(full)
    with pytest.raises(PongbenchError, match=r"^The disk is full\. The session has no complete"):
        recorder(second)
    with pytest.raises(PongbenchError, match=r"^The disk is full\."):
        recorder(Note(t_us=1, topic="x", text="x"))
    recorder.close()


ENDLESS = """
    import itertools, sys
    from pathlib import Path
    import msgspec
    from tests import synthetic
    from workbench.sessions import Recorder

    start, *rest = synthetic.session(1, 1)
    recorder = Recorder(Path(sys.argv[1]))
    recorder(start)
    for turn in itertools.count():
        for document in rest[:-1]:
            later = {"t_us": document.t_us + turn * 10**9}
            if hasattr(document, "point"):
                later["point"] = document.point + turn * 1_000
            recorder(msgspec.structs.replace(document, **later))
            print(flush=True)
"""


def test_a_program_killed_while_recording_has_lost_nothing_it_had_recorded(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    recording = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(ENDLESS), str(path)],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert recording.stdout is not None
    with recording, recording.stdout as stream:
        for _ in range(200):
            stream.readline()
        recording.kill()
        told_of = 200 + len(stream.read())
    session = read_session(path)
    assert len(session.documents) >= 1 + told_of
    assert session.interrupted
    assert not session.damage

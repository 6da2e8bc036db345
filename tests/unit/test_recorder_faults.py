"""Disks that fail, fill up or lose power, at every state of a recording: one sentence each, and a
session that is whole up to there."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import synthetic
from workbench.analysis.summary import summarise
from workbench.documents import (
    AnyDocument,
    HostSample,
    Note,
    PointStart,
    PointStop,
    RunStart,
    RunStop,
    Window,
)
from workbench.errors import PongbenchError
from workbench.sessions import Recorder, read_session
from workbench.sessions.reading import parse_session

STATES: dict[str, type[AnyDocument]] = {
    "beginning": RunStart,
    "in a point": Note,
    "at a point's end": PointStop,
    "ending": RunStop,
}
"""By the document that is being written: of several the last one."""

SENTENCES = {
    errno.ENOSPC: "The disk is full. ",
    errno.EDQUOT: "The disk is full. ",
    errno.EIO: "The session cannot be written: input/output error. ",
}

Documents = list[AnyDocument]
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


@pytest.fixture
def documents() -> Documents:
    whole = synthetic.session(1, 2, rates=[500.0, 800.0], seconds=1.0, ceiling=False)
    begun = max(n for n, document in enumerate(whole) if isinstance(document, PointStart))
    windows = [n for n, document in enumerate(whole[begun:], begun) if isinstance(document, Window)]
    at = windows[2]
    return [*whole[:at], Note(t_us=whole[at].t_us, topic="x", text="x"), *whole[at:]]


def written(documents: Documents, at: int) -> Documents:
    """What of the first `at` documents is in the file: windows and samples wait for their point."""
    waiting = (Note, Window, HostSample)
    last = max(n for n in range(at) if not isinstance(documents[n], waiting))
    return [*documents[: last + 1], *(d for d in documents[last + 1 : at] if isinstance(d, Note))]


def place_of(documents: Documents, state: str) -> int:
    kind = STATES[state]
    return max(n for n, document in enumerate(documents) if isinstance(document, kind))


def record(documents: Documents, at: int, path: Path, fail: Callable[[], object]) -> str:
    """The sentence with which document `at` ends the recording; `fail` makes the disk fail."""
    recorder = Recorder(path)
    for document in documents[:at]:
        recorder(document)
    fail()
    with pytest.raises(PongbenchError) as caught:
        recorder(documents[at])
    # As the engine does, whatever happened.
    recorder(RunStop(t_us=1, status="failed"))
    recorder.close()
    return str(caught.value)


class Disk:
    """Of one recorder: what it is asked for fails from now on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: int, *failing: str) -> None:
        self._real = {name: getattr(os, name) for name in ("write", "fsync", "ftruncate")}
        self._error = error
        self._half = "half" in failing
        for name in set(failing) - {"half"}:
            monkeypatch.setattr(os, name, getattr(self, f"_{name}"))

    def _fail(self) -> OSError:
        return OSError(self._error, os.strerror(self._error))

    def _write(self, file: int, data: memoryview) -> int:
        if self._half and len(data) > 1:
            written: int = self._real["write"](file, data[: len(data) // 2])
            self._half = False
            return written
        raise self._fail()

    def _fsync(self, file: int) -> None:
        raise self._fail()

    def _ftruncate(self, file: int, size: int) -> None:
        raise self._fail()


WAYS = {
    "all of it": ("write",),
    "after half": ("write", "half"),
    "and stays torn": ("write", "half", "ftruncate"),
    "sync": ("fsync",),
}
FAULTS = [
    (state, way, error)
    for state in STATES
    for way in WAYS
    for error in SENTENCES
    # Nothing is synced in the middle of a point.
    if (state, way) != ("in a point", "sync")
]


@posix
@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f"{f[0]}, {f[1]}, {errno.errorcode[f[2]]}")
def test_a_failing_disk_gives_one_sentence_and_leaves_a_session(
    fault: tuple[str, str, int],
    documents: Documents,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state, way, error = fault
    failing = WAYS[way]
    path, at = tmp_path / "run.yaml", place_of(documents, state)
    message = record(documents, at, path, lambda: Disk(monkeypatch, error, *failing))
    monkeypatch.undo()
    assert message.startswith(SENTENCES[error]) and str(path) in message and "\n" not in message
    if at == 0 and failing != ("fsync",):
        assert "Nothing was recorded" in message and not path.exists()
        return
    assert (
        "The session is complete up to " in message
        or "The session has no complete point" in message
    )
    if failing == ("write", "half"):
        assert path.read_bytes().endswith(b"\n"), "what was written of the last one is gone"
    session = read_session(path)
    assert not session.damage
    kept = written(documents, at + 1 if failing == ("fsync",) else at)
    found = [d for d in session.documents if d != RunStop(t_us=1, status="failed")]
    # Of the record that was torn, lines before the torn one are whole.
    assert found == kept or ([d for d in found if d in kept] == kept and "ftruncate" in failing)
    summarise(session.completed())


@posix
@pytest.mark.parametrize("zeros", [False, True], ids=["short", "filled with zeros"])
@pytest.mark.parametrize("state", STATES)
def test_a_power_cut_leaves_all_that_was_synced(
    state: str, zeros: bool, documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies between the last sync and the cut may be there, partly there, or zeros."""
    path, at = tmp_path / "run.yaml", place_of(documents, state)
    synced, sizes = [0], []
    fsync = os.fsync

    def watched(file: int) -> None:
        fsync(file)
        if stat.S_ISREG(os.fstat(file).st_mode):
            synced.append(os.fstat(file).st_size)

    monkeypatch.setattr(os, "fsync", watched)
    recorder = Recorder(path)
    for document in documents[: at + 1]:
        recorder(document)
        sizes.append(path.stat().st_size)
    # The document that is being written when the power goes is not synced yet.
    safe = synced[-1] if state == "in a point" else synced[-2]
    recorder.close()
    content = path.read_bytes()
    for cut in range(safe, len(content) + 1, 7 if len(content) - safe > 2_000 else 1):
        left = content[:cut] + (b"\0" * (len(content) - cut) if zeros else b"")
        if not left.strip(b"\0") or cut < len("# pongbench session\n"):
            continue
        session = parse_session(left, name="cut.yaml")
        # The first document counts with the separator behind it.
        whole = sum(size + (3 if n == 0 else 0) <= cut for n, size in enumerate(sizes))
        kept = written(documents, whole) if whole else []
        assert [d for d in session.documents if d in kept] == kept, f"cut at {cut}"
        assert not session.damage, f"cut at {cut}: {session.damage}"
        if whole:
            summarise(session.completed())
    assert safe == 0 or sum(size <= safe for size in sizes) >= 1


@posix
def test_a_new_session_is_listed_in_its_folder_after_a_power_cut(
    documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed: list[Path] = []
    fsync = os.fsync

    def watched(file: int) -> None:
        fsync(file)
        there = (tmp_path, *tmp_path.rglob("*"))
        listed.extend(f for f in there if os.path.samestat(f.stat(), os.fstat(file)))

    monkeypatch.setattr(os, "fsync", watched)
    recorder = Recorder(tmp_path / "new" / "er" / "run.yaml")
    recorder(documents[0])
    recorder.close()
    folders = [tmp_path / "new" / "er" / "run.yaml", tmp_path / "new" / "er", tmp_path / "new"]
    assert listed == [*folders, tmp_path]


def delete(path: Path) -> None:
    path.unlink()


def delete_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def move(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    path.with_name("new").write_text("mine")
    path.with_name("new").replace(path)


def block_folder(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("mine")


@posix
@pytest.mark.parametrize("lose", [delete, delete_folder, move, replace, block_folder])
@pytest.mark.parametrize("state", ["in a point", "at a point's end", "ending"])
def test_a_session_deleted_while_it_is_written_is_written_again(
    lose: Callable[[Path], None],
    state: str,
    documents: Documents,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    noted: Documents = []
    path, at = tmp_path / "folder" / "run.yaml", place_of(documents, state)
    recorder = Recorder(path, emit=noted.append)
    for document in documents[:at]:
        recorder(document)
    lose(path)
    recorder(documents[at])
    # Noticed with the next document, not at the end.
    assert read_session(recorder.path).documents == written(documents, at + 1)
    topics = [d.topic for d in noted if isinstance(d, Note)]
    assert topics == ["written-again"] * (state != "ending")
    for document in documents[at + 1 :]:
        recorder(document)
    recorder.close()
    assert read_session(recorder.path).documents == documents
    here = {delete: path, replace: path.with_name("run-2.yaml")}
    elsewhere = tmp_path / "home" / "data" / "sessions" / "run.yaml"
    assert recorder.path == (elsewhere if lose is block_folder else here.get(lose, path))
    if lose is replace:
        assert path.read_text() == "mine"


@posix
def test_a_session_cut_short_by_another_program_ends_the_run(
    documents: Documents, tmp_path: Path
) -> None:
    path = tmp_path / "run.yaml"
    message = record(documents, len(documents) - 1, path, lambda: os.truncate(path, 0))
    assert "another program has cut the file short" in message and str(path) in message


@posix
def test_a_session_that_cannot_be_written_again_ends_the_run(
    documents: Documents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "folder" / "run.yaml"

    def nowhere() -> None:
        block_folder(path)
        monkeypatch.setenv("PONGBENCH_HOME", str(path))
        monkeypatch.setattr(tempfile, "tempdir", str(path))

    message = record(documents, len(documents) - 1, path, nowhere)
    assert f"{path} was deleted or moved, and it cannot be written again: " in message
    assert path.parent.read_text() == "mine"


FILLED = """
    import sys
    from pathlib import Path
    from tests import synthetic
    from workbench.errors import PongbenchError
    from workbench.sessions import Recorder, read_session
    from workbench.documents import RunStop

    path = Path(sys.argv[1], "run.yaml")
    recorder = Recorder(path)
    try:
        for document in synthetic.session(3, 40):
            recorder(document)
    except PongbenchError as error:
        print(error)
    recorder(RunStop(t_us=1, status="failed"))
    recorder.close()
    session = read_session(path)
    print(len(session.documents), session.damage)
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="needs a disk of its own")
def test_a_full_disk_keeps_what_was_written(tmp_path: Path) -> None:
    script = tmp_path / "fill.py"
    script.write_text(textwrap.dedent(FILLED))
    disk = tmp_path / "disk"
    disk.mkdir()
    inside = 'mount -t tmpfs -o size=128k none "$1" && exec "$2" "$3" "$1"'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", inside, "sh", str(disk), sys.executable, str(script)],
        check=False,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    if "Operation not permitted" in done.stderr or "unshare failed" in done.stderr:
        pytest.skip("this system gives nobody a disk of their own")
    message, kept = done.stdout.splitlines()
    assert message.startswith("The disk is full. The session is complete up to ")
    count, *damage = kept.split()
    assert int(count) > 50 and not damage

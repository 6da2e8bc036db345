"""`pongbench compact`: the same session in the format of today, in another file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import golden
import pytest
import yaml

from app.__main__ import main
from tests import synthetic
from tests.recording import record_session
from workbench.analysis.histogram import merge
from workbench.documents import VERSION, Histograms, PointStop
from workbench.sessions import read_session


def old_session(folder: Path) -> Path:
    return Path(shutil.copy(golden.SESSIONS[-1], folder / "a.pong.yaml"))


@pytest.mark.parametrize("old", golden.SESSIONS, ids=lambda path: path.name)
def test_a_session_of_an_earlier_version_says_the_same_in_less_space(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, new = old.read_bytes(), tmp_path / "new.pong.yaml"
    assert main(["compact", str(old), "-o", str(new)]) == 0
    assert capsys.readouterr().out.startswith(f"{new}: ")
    assert old.read_bytes() == before
    assert new.stat().st_size < old.stat().st_size / 2

    was, now = read_session(old), read_session(new)
    assert (now.start.v, now.start.recorded_v) == (VERSION, was.start.v)
    assert now.notes == was.notes and not now.damage
    figures = json.loads(golden.kept(old).read_text())
    assert golden.lost(figures, json.loads(json.dumps(golden.results(new)))) == []
    for one, other in zip(was.documents, now.documents, strict=True):
        if isinstance(one, PointStop) and isinstance(other, PointStop):
            for name in Histograms.__struct_fields__:
                text = getattr(other.histograms, name)
                assert isinstance(text, str)
                assert merge([text]) == merge([getattr(one.histograms, name)])


def test_other_readers_read_what_it_wrote(tmp_path: Path) -> None:
    new = tmp_path / "new.pong.yaml"
    assert main(["compact", str(golden.SESSIONS[-1]), "-o", str(new)]) == 0
    first, *others = yaml.load_all(new.read_bytes(), yaml.CSafeLoader)
    assert (first["v"], first["kind"]) == (VERSION, "run_start")
    counts = {"windows": "index", "host_samples": "t_us"}
    written = [len(each[counts[k]]) if (k := each["kind"]) in counts else 1 for each in others]
    assert sum(written) + 1 == len(read_session(new).documents) > 2 * len(others)


def test_a_session_of_today_is_not_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = record_session(tmp_path / "a.pong.yaml", synthetic.session(2, 2))
    assert main(["compact", str(old)]) == 0
    assert capsys.readouterr().out == f"{old} is already compact; nothing was written.\n"
    assert list(tmp_path.iterdir()) == [old]


def test_no_file_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = old_session(tmp_path)
    before = old.read_bytes()
    for words, problem in (
        (["-o", str(old)], f"{old} already exists, and sessions are never overwritten."),
        (["-o", str(tmp_path / "no" / "b.yaml")], "No session can be written to"),
    ):
        assert main(["compact", str(old), *words]) == 2
        assert problem in capsys.readouterr().err
    assert old.read_bytes() == before


def test_a_damaged_session_is_written_as_far_as_it_can_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = old_session(tmp_path)
    lines = old.read_text().splitlines(keepends=True)
    old.write_text("".join([*lines[:-3], "--- {oops\n", *lines[-3:]]))
    assert main(["compact", str(old)]) == 2
    assert f"line {len(lines) - 2}" in capsys.readouterr().err
    written = read_session(tmp_path / "a-compact.pong.yaml")
    assert not written.damage and len(written.documents) == len(read_session(old).documents)


def test_a_list_that_contradicts_its_count_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "a.pong.yaml"
    text = golden.SESSIONS[-1].read_text()
    old.write_text(text.replace('"latency":[', '"latency":[0,1,', 1))
    assert main(["compact", str(old)]) == 2
    found = capsys.readouterr().err
    assert f"{old}, point " in found and "histograms.latency: this histogram has " in found
    assert not (tmp_path / "a-compact.pong.yaml").exists()

"""The whole hostile corpus, every file through every command that reads one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import corpus, trial

FILES = [*corpus.picked(), *((kind, n) for kind, size in corpus.SIZES.items() for n in range(size))]


@pytest.mark.parametrize(
    "file", FILES, ids=lambda f: f.name if isinstance(f, corpus.Hostile) else f"{f[0]}-{f[1]}"
)
def test_a_hostile_file_is_used_or_refused_in_a_sentence(
    file: corpus.Hostile | tuple[corpus.Kind, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PONGBENCH_HOME", str(tmp_path / "home"))
    hostile = file if isinstance(file, corpus.Hostile) else corpus.made(*file)
    assert trial.faults(hostile, tmp_path) == []

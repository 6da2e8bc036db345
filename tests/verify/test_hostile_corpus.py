"""The whole hostile corpus, every file through every command that reads one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

from tests.hostile import corpus, trial

FILES = [*corpus.picked(), *((kind, n) for kind, size in corpus.SIZES.items() for n in range(size))]


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    with trial.elsewhere(tmp_path_factory.mktemp("home")) as pool:
        yield pool


@pytest.mark.parametrize(
    "file", FILES, ids=lambda f: f.name if isinstance(f, corpus.Hostile) else f"{f[0]}-{f[1]}"
)
def test_a_hostile_file_is_used_or_refused_in_one_sentence(
    file: corpus.Hostile | tuple[corpus.Kind, int], tmp_path: Path, elsewhere: Executor
) -> None:
    hostile = file if isinstance(file, corpus.Hostile) else corpus.made(*file)
    assert elsewhere.submit(trial.faults, hostile, tmp_path).result() == []

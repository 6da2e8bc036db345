"""A sample of the hostile corpus; `make verify` runs all of it, `make fuzz` ever new files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

import pytest

from tests.hostile import corpus, trial

SAMPLE: dict[corpus.Kind, int] = {"session": 10, "plan": 12, "server": 12}


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Executor]:
    with trial.elsewhere(tmp_path_factory.mktemp("home")) as pool:
        yield pool


@pytest.mark.parametrize(
    ("kind", "seed"), [(kind, seed) for kind, count in SAMPLE.items() for seed in range(count)]
)
def test_a_hostile_file_is_used_or_refused_in_one_sentence(
    kind: corpus.Kind, seed: int, tmp_path: Path, elsewhere: Executor
) -> None:
    assert elsewhere.submit(trial.faults, corpus.made(kind, seed), tmp_path).result() == []


def test_a_session_of_points_out_of_order_is_drawn_as_far_as_it_is_in_order(
    tmp_path: Path, elsewhere: Executor
) -> None:
    """Drawing it ended the program with a segmentation fault."""
    (session,) = (each for each in corpus.picked() if each.name == "points-out-of-order")
    assert elsewhere.submit(trial.faults, session, tmp_path).result() == []


def test_a_seed_makes_the_same_file_for_ever() -> None:
    assert corpus.made("plan", 7).content == corpus.made("plan", 7).content
    assert corpus.made("plan", 7).content != corpus.made("plan", 8).content


_MEASURED = """
import os, subprocess, sys
program = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(program.pid, 0)
print(os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""
# From a small process: the peak of a program counts from what started it, which pytest makes large.


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="needs the use of resources by a child")
@pytest.mark.parametrize(
    ("kind", "seed"), [("session", 20), ("session", 21), ("plan", 20), ("server", 20)]
)
def test_the_program_itself_stays_within_its_limits(
    kind: corpus.Kind, seed: int, tmp_path: Path
) -> None:
    path = trial.written(corpus.made(kind, seed), tmp_path)
    words = list(trial.commands(kind, path))[-1]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _MEASURED, sys.executable, "-m", "app", *words],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PONGBENCH_HOME": str(tmp_path / "home")},
        check=True,
    )
    code, cpu_s, peak_bytes = done.stdout.split()
    assert int(code) in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert float(cpu_s) < trial.MOST_CPU_S
    assert int(peak_bytes) < trial.MOST_BYTES

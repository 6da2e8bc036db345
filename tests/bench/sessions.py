"""What a session of the sources' size costs, beside a reader of lists of numbers, in turns:

    git worktree add /tmp/lists 65d0e56a
    make bench BENCH=sessions ARGS=/tmp/lists

Nine servers at 87 rates, once and in five passes, with as many different times as real points have:
the size of their files, and the CPU time and memory of `pongbench summary`, as ratios of the other
checkout's. Without one, as they are. What differs are the histograms; the printed tables of 783
and 3,915 points are the same.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import astuple, dataclass
from pathlib import Path

from msgspec import structs

from tests import synthetic
from tests.histograms import sampled
from workbench.analysis.histogram import merge
from workbench.documents import AnyDocument, Histograms, PointStop, RunStart, Window
from workbench.sessions.columns import encode_all
from workbench.sessions.format import encode_line, encode_start

HERE = Path(__file__).parents[2]
RATES = [float(rate) for rate in range(400, 9_001, 100)]
SECONDS = 4.4
"""In which 9,000 connections per second are 40,000."""
TURNS = 5
LISTS = 6
"""The last version with lists."""


@dataclass(frozen=True)
class Cost:
    """Of one command."""

    cpu_s: float
    wall_s: float
    rss_mb: float


def main() -> int:
    other = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
    idle = _cost(HERE, "--version")
    with tempfile.TemporaryDirectory() as folder:
        for passes in (1, 5):
            packed, lists = (Path(folder) / f"{name}.pong.yaml" for name in ("packed", "lists"))
            _write(passes, packed, lists)
            print(
                f"9 x 87 x {passes}: {_mb(packed):.1f} MB, {_mb(packed) / _mb(lists):.2f} of lists"
            )
            ours, theirs = [], []
            for _ in range(TURNS):
                ours.append(_cost(HERE, "summary", packed))
                if other:
                    theirs.append(_cost(other, "summary", lists))
            _report("  summary", _median(ours), _median(theirs) if theirs else None, idle)
    return 0


def _write(passes: int, packed: Path, lists: Path) -> None:
    documents = synthetic.session(
        9, rates=RATES, seconds=SECONDS, repeats=passes, times=sampled(passes)
    )
    with packed.open("wb") as file:
        file.writelines(encode_all(documents))
    with lists.open("wb") as file:
        for each in map(_with_lists, documents):
            file.write(encode_start(each) if isinstance(each, RunStart) else encode_line(each))


def _with_lists(document: AnyDocument) -> AnyDocument:
    match document:
        case RunStart():
            return structs.replace(document, v=LISTS)
        case Window():
            latency, service = (merge([each]) for each in (document.latency, document.service))
            return structs.replace(document, latency=latency, service=service)
        case PointStop(histograms=packed):
            names = Histograms.__struct_fields__
            lists = Histograms(**{name: merge([getattr(packed, name)]) for name in names})
            return structs.replace(document, histograms=lists)
        case _:
            return document


def _cost(checkout: Path, *words: str | Path) -> Cost:
    code = "import sys; from app.__main__ import main; sys.exit(main(sys.argv[1:]))"
    begun_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        stdout=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} failed in {checkout}")
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - begun_s, used.ru_maxrss / 1e3)


def _median(costs: list[Cost]) -> Cost:
    return Cost(*(statistics.median(figures) for figures in zip(*map(astuple, costs), strict=True)))


def _report(what: str, ours: Cost, theirs: Cost | None, idle: Cost) -> None:
    print(
        f"{what}: {ours.cpu_s:.2f} s of CPU, {ours.wall_s:.2f} s,"
        f" {ours.rss_mb - idle.rss_mb:.0f} MB beyond the interpreter"
    )
    if theirs:
        print(
            f"    of the other's: {ours.cpu_s / theirs.cpu_s:.2f} of its CPU time,"
            f" {(ours.rss_mb - idle.rss_mb) / (theirs.rss_mb - idle.rss_mb):.2f} of its memory"
        )


def _mb(path: Path) -> float:
    return path.stat().st_size / 1e6


if __name__ == "__main__":
    raise SystemExit(main())

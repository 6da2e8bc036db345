"""How long a session of 10 MB takes to open and to write: python -m tests.bench.sessions."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from tests import synthetic
from workbench.documents import AnyDocument, RunStop
from workbench.sessions import Recorder, read_session

SIZE = 10_000_000
LIMIT_S = 0.5


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ten-megabytes.pong.yaml"
        documents = _write(path)
        opened = [_timed(path) for _ in range(7)]
        median = statistics.median(opened)
        print(
            f"open {path.stat().st_size / 1e6:.1f} MB, {documents:,} documents:"
            f" median {median:.3f} s, worst {max(opened):.3f} s (limit {LIMIT_S} s)"
        )
    return 0 if median < LIMIT_S else 1


def _write(path: Path) -> int:
    """An ordinary session whose points are repeated until it is large enough."""
    start, *run = synthetic.session(9, 20, seconds=4.4)
    points = [document for document in run if not isinstance(document, RunStop)]
    recorder = Recorder(path)
    began_s, count = time.perf_counter(), 0
    for document in chain([start], _endless(points)):
        recorder(document)
        count += 1
        if count % 100 == 0 and path.stat().st_size >= SIZE:
            break
    recorder(RunStop(t_us=0, status="done"))
    each_us = (time.perf_counter() - began_s) / count * 1e6
    recorder.close()
    print(f"write: {each_us:.0f} us a document, with a sync at every point")
    return count + 1


def _endless(documents: list[AnyDocument]) -> Iterator[AnyDocument]:
    while True:
        yield from documents


def _timed(path: Path) -> float:
    began_s = time.perf_counter()
    session = read_session(path)
    took_s = time.perf_counter() - began_s
    assert not (session.damage or session.torn or session.interrupted)
    return took_s


if __name__ == "__main__":
    raise SystemExit(main())

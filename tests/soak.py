"""`make soak`: many short runs in one process, as a window has that is never closed.

    python -m tests.soak [--runs 500] [--hours 12] [--memory-mb 20]

After every run the process has as many descriptors, threads and child processes as before, nothing
of the run is left, and memory has grown by no more than it may since the runs began. Every fourth
run is cancelled somewhere. Ends with status 1, and at once, where a limit is passed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import os
import random
import re
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from tests.plans import one_point
from tests.process.oracle import CLEAN_WITHIN_S, eventually, files_below, processes_with
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument
from workbench.errors import PongbenchError
from workbench.run.factory import engine_for
from workbench.sessions import completed, read_session
from workbench.sessions.recorder import Recorder

WARM_UP = 5
"""Runs after which the figures are those to compare with; of a few runs, the first."""
MOST_OBJECTS = 500
"""By so many they may grow, however many runs there are: what a run leaves behind shows here at
once, in the memory only beside what the allocator cannot give back."""
TOLD_EVERY_S = 10.0
PLAN = one_point("Soak")


@dataclass(frozen=True)
class Figures:
    """Of this process, between two runs."""

    descriptors: int
    threads: int
    processes: int
    """That it or a run has started and are still there."""
    tasks: int
    objects: int
    """That Python's collector tracks."""
    memory: int
    """Bytes, of its own."""

    def __str__(self) -> str:
        return (
            f"{self.descriptors} descriptors, {self.threads} threads, {self.processes} processes,"
            f" {self.objects:,} objects, {self.memory / 1e6:.1f} MB"
        )

    def beyond(self, before: Figures, most_bytes: float) -> str:
        """Which limit is exceeded; empty: none."""
        for name in ("descriptors", "threads", "processes", "tasks"):
            was, now = getattr(before, name), getattr(self, name)
            if now > was:
                return f"{was} {name} became {now}"
        if self.objects > before.objects + MOST_OBJECTS:
            return f"{before.objects:,} objects became {self.objects:,}"
        grown = self.memory - before.memory
        return f"memory grew by {grown / 1e6:.1f} MB" if grown > most_bytes else ""


def figures(home: Path) -> Figures:
    gc.collect()
    status = Path("/proc/self/status").read_text()

    def of(name: str) -> int:
        found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
        assert found
        return int(found[1])

    # How many threads asyncio has at hand is its own affair.
    pool = [thread for thread in threading.enumerate() if thread.name.startswith("asyncio_")]
    return Figures(
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        threads=of("Threads") - len(pool),
        processes=len(processes_with(str(home))),
        tasks=len(asyncio.all_tasks()),
        objects=len(gc.get_objects()),
        memory=of("RssAnon") * 1024,
    )


async def one_run(number: int, home: Path) -> str:
    """A run as the program does it: recorded, and its session read. Why it ended too early, if it
    was not cancelled; a machine that is too busy ends runs."""
    path = home / f"{number}.pong.yaml"
    recorder = Recorder(path)
    documents: list[AnyDocument] = []

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        recorder(document)

    running = asyncio.create_task(engine_for(PLAN, emit).run())
    cancelled = number % 4 == 0
    try:
        if cancelled:
            await asyncio.wait([running], timeout=random.Random(number).uniform(0, 3))
            running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            stop = await running
            return stop.reason
    except PongbenchError as error:
        return str(error)
    finally:
        recorder.close()
        if documents:
            session = read_session(path)
            assert not session.interrupted
            summarise(list(completed(session.documents)))
        path.unlink(missing_ok=True)
    return ""


async def settled(home: Path) -> list[str]:
    """What is left of the runs after a grace period."""
    runs = home / "cache" / "runs"

    def left() -> list[str]:
        return [*processes_with(str(home)).values(), *files_below(runs)]

    await asyncio.to_thread(eventually, lambda: not left(), within_s=CLEAN_WITHIN_S)
    return left()


async def soak(asked: argparse.Namespace, home: Path) -> int:
    began = reported = time.monotonic()
    before: Figures | None = None
    number = failed = 0
    ended = ""
    try:
        while not ended and number < asked.runs and time.monotonic() - began < 3600 * asked.hours:
            number += 1
            if why := await one_run(number, home):
                failed += 1
                print(f"Run {number} ended too early: {why}", flush=True)
            left = await settled(home)
            now = figures(home)
            if number == min(WARM_UP, max(1, asked.runs // 2)):
                before = now
            ended = f"this is left: {'; '.join(left)}" if left else ""
            if before and not ended:
                ended = now.beyond(before, 1e6 * asked.memory_mb)
            if ended or time.monotonic() - reported > TOLD_EVERY_S:
                reported = time.monotonic()
                print(f"Run {number}: {now}", flush=True)
    except asyncio.CancelledError:
        print("Ended by hand.")
    minutes = (time.monotonic() - began) / 60
    print(f"{number} runs in {minutes:.1f} minutes, {failed} ended too early.")
    if before:
        print(f"When they had begun: {before}.", f"At the end: {figures(home)}.", sep="\n")
    if ended:
        print(f"Run {number} passed a limit: {ended}.")
    return 1 if ended or failed == number else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--hours", type=float, default=12)
    parser.add_argument("--memory-mb", type=float, default=20, help="by so much it may grow")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pongbench-soak-") as home:
        os.environ["PONGBENCH_HOME"] = home
        return asyncio.run(soak(asked, Path(home)))


if __name__ == "__main__":
    sys.exit(main())

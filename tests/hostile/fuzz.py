"""`make fuzz`: hostile files with new seeds, until Ctrl-C; every failure with its seed.

    python -m tests.hostile.fuzz [--kind session] [--seed 12345] [--minutes 5] [--files 100]

`--seed` begins there; the same seed makes the same file. The files are tried in a process of its
own, which is killed when it hangs.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import itertools
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from tests.hostile import corpus, trial

TOLD_EVERY_S = 5.0
HANGS_S = trial.MOST_WALL_S + 15
"""For one command; by then it should have ended itself."""
REPEATED = 'make fuzz ARGS="--kind {kind} --seed {seed} --files 1"'


class Trier:
    """A process that tests one file after the other."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.trace = place / "hangs"
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, place), daemon=True)
        self.process.start()
        theirs.close()
        self.tried = 0

    def faults(self, kind: corpus.Kind, seed: int, progress: Progress) -> Iterator[str]:
        self.tried += 1
        self.connection.send((kind, seed))
        while True:
            limit = time.monotonic() + HANGS_S
            while not self.connection.poll(0.5):
                progress.tell()
                if time.monotonic() > limit:
                    self.end()
                    yield f"{progress.command} hangs:\n{self.trace.read_text()}"
                    return
            try:
                what, text = self.connection.recv()
            except (EOFError, ConnectionError):
                self.process.join()
                yield f"{progress.command} ended its process ({self.process.exitcode})"
                return
            if what == "over":
                return
            if what == "fault":
                yield text
            else:
                progress.command = text

    @property
    def worn(self) -> bool:
        return self.tried >= trial.FRESH_AFTER or not self.process.is_alive()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def serve(connection: Connection, place: Path) -> None:
    """In the child process: receives seeds, reports what is tested and what failed."""
    # Ctrl-C is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["PONGBENCH_HOME"] = str(place / "home")
    with (place / "hangs").open("w") as trace, contextlib.suppress(EOFError, ConnectionError):
        while True:
            kind, seed = connection.recv()
            hostile = corpus.made(kind, seed)
            with tempfile.TemporaryDirectory(dir=place) as folder:
                path = trial.written(hostile, Path(folder))
                for words in trial.commands(hostile.kind, path):
                    connection.send(("command", " ".join(words[:2])))
                    faulthandler.dump_traceback_later(HANGS_S - 5, file=trace)
                    if fault := trial.ask(words).fault:
                        connection.send(("fault", fault))
                faulthandler.cancel_dump_traceback_later()
            connection.send(("over", ""))


class Progress:
    """Print what was tested, every few seconds."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.failed: list[str] = []
        self.command = ""
        self.began = self._told = time.monotonic()

    def tell(self, *, now: bool = False) -> None:
        if now or time.monotonic() - self._told >= TOLD_EVERY_S:
            self._told = time.monotonic()
            print(self, flush=True)

    def __str__(self) -> str:
        tested = ", ".join(f"{count:,} {kind}s" for kind, count in self.done.items())
        minutes = (time.monotonic() - self.began) / 60
        return f"{tested or 'Nothing'} tried in {minutes:.1f} minutes, {len(self.failed):,} failed."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=corpus.KINDS, action="append")
    parser.add_argument("--seed", type=int, help="the first (default: by the clock)")
    parser.add_argument("--minutes", type=float, help="end after this number (default: never)")
    parser.add_argument("--files", type=int, help="end after this number (default: never)")
    parser.add_argument("--keep", type=Path, help="a folder for the files with which it fails")
    asked = parser.parse_args()
    begin = int(time.time()) if asked.seed is None else asked.seed
    end_s = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    kinds = asked.kind or corpus.KINDS
    files = ((seed, kind) for seed in itertools.count(begin) for kind in kinds)
    progress = Progress()
    print(f"From seed {begin} on, until Ctrl-C.", flush=True)
    with tempfile.TemporaryDirectory(prefix="pongbench-fuzz-") as place:
        trier = Trier(Path(place))
        try:
            for seed, kind in itertools.islice(files, asked.files):
                if time.monotonic() > end_s:
                    break
                if trier.worn:
                    trier.end()
                    trier = Trier(Path(place))
                faults = list(trier.faults(kind, seed, progress))
                progress.done[kind] += 1
                if faults:
                    progress.failed.append(f"{kind}-{seed}")
                    again = REPEATED.format(kind=kind, seed=seed)
                    print(f"{kind}-{seed} failed; {again}", *faults, sep="\n  ", flush=True)
                    if asked.keep:
                        asked.keep.mkdir(parents=True, exist_ok=True)
                        content = corpus.made(kind, seed).content
                        (asked.keep / f"{kind}-{seed}.yaml").write_bytes(content)
                progress.tell()
        except KeyboardInterrupt:
            print()
        finally:
            trier.end()
    progress.tell(now=True)
    if progress.failed:
        print("Failed:", *progress.failed)
    return 1 if progress.failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the program does with a hostile file: every command that reads one, in this process."""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import shutil
import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from app.export import command
from tests.hostile.corpus import RECORDED, Hostile, Kind
from workbench import cli
from workbench.errors import ExitCode

MOST_CPU_S = 10.0
"""Of one command."""

FRESH_AFTER = 50
"""Files, then another process tries them."""

MOST_WALL_S = 60.0
"""Of one command by the clock on the wall: who sleeps takes nothing of the processor."""

MOST_BYTES = 500_000_000
"""Of memory, this whole process."""

_SENTENCE = re.compile(r"^pongbench: \S.*[.?]$", re.MULTILINE)

ENDINGS = ("html", "csv", "svg", "pdf")


@dataclass(frozen=True)
class Answer:
    """Of one command to one file."""

    command: str
    code: int
    """-1: a traceback."""
    out: str
    said: str
    """On stderr, or the traceback."""
    took_s: float
    """Of the processor."""
    grown_bytes: int = 0
    """To how much more memory than is allowed; 0: it was not this command."""

    @property
    def fault(self) -> str:
        """What went wrong; empty: nothing."""
        if self.code == -1:
            return f"{self.command}: {self.said}"
        if self.code not in (ExitCode.DONE, ExitCode.BAD_INPUT):
            return f"{self.command} ended with {self.code}: {self.said[:500]}"
        if self.took_s > MOST_CPU_S:
            return f"{self.command} took {self.took_s:.1f} s"
        if self.grown_bytes:
            return f"{self.command} took {self.grown_bytes / 1e6:,.0f} MB"
        if "Traceback" in self.said:
            return f"{self.command} shows a traceback: {self.said[-2_000:]}"
        reported = "Only the part before" in self.out or _SENTENCE.search(self.said)
        if self.code == ExitCode.BAD_INPUT and not reported:
            return f"{self.command} says no sentence: {self.said[:500]!r}"
        return ""


def elsewhere(home: Path) -> Executor:
    """A process of its own, for pictures take a Qt application for good; and a new one now and
    then, for how much memory a command takes shows in a young one only."""
    return ProcessPoolExecutor(
        1,
        mp_context=get_context("spawn"),
        max_tasks_per_child=FRESH_AFTER,
        initializer=_at_home,
        initargs=(home,),
    )


def _at_home(home: Path) -> None:
    os.environ["PONGBENCH_HOME"] = str(home)


def faults(hostile: Hostile, folder: Path) -> list[str]:
    """What the program did wrong with a file, which is written into `folder` first."""
    path = written(hostile, folder)
    answers = map(ask, commands(hostile.kind, path))
    return [answer.fault for answer in answers if answer.fault]


def written(hostile: Hostile, folder: Path) -> Path:
    """The file; of a server its folder, whose other files are all there."""
    folder.mkdir(parents=True, exist_ok=True)
    if hostile.kind != "server":
        path = folder / f"{hostile.name}.yaml"
        path.write_bytes(hostile.content)
        return path
    path = folder / hostile.name
    assert hostile.beside is not None
    shutil.copytree(hostile.beside, path, ignore=shutil.ignore_patterns("__pycache__"))
    (path / "server.yaml").write_bytes(hostile.content)
    return path


def commands(kind: Kind, path: Path) -> Iterator[list[str]]:
    """The arguments of every command that reads such a file without starting what it names."""
    file = str(path)
    if kind == "server":
        yield ["catalogue", "show", file]
        return
    if kind == "plan":
        yield ["run", file, "--preview"]
        return
    # The plan in it is read, and no machine is opened.
    yield ["run", file, "--preview", "--target", "nowhere"]
    yield ["summary", file]
    yield ["summary", "--json", file]
    yield ["replay", "--json", file]
    yield ["replay", "--speed", "max", file]
    other = str(RECORDED[0])
    for shape in ([], ["--json"], ["--csv"]):
        yield ["compare", *shape, file, other]
    yield ["compare", file]
    yield ["compact", file, "-o", str(path.with_suffix(".compact"))]
    for ending in ENDINGS:
        yield ["report", file, "--newer", "-o", str(path.with_suffix(f".{ending}"))]


def ask(words: list[str]) -> Answer:
    """Run one command through the program's entry point, in the main thread."""
    out, message = io.StringIO(), io.StringIO()
    before, began_s = _most_memory(), time.process_time()
    try:
        with (
            _limited(),
            warnings.catch_warnings(action="error"),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(message),
        ):
            code = int(cli.main(words, more={"report": lambda: command.add_report}))
    except BaseException as error:
        # Whoever stops all this is meant; the command has its own answer to that.
        if isinstance(error, KeyboardInterrupt):
            raise
        code = -1
        message.write(traceback.format_exc())
    took_s = time.process_time() - began_s
    most = _most_memory()
    grown = most if before <= MOST_BYTES < most else 0
    return Answer(" ".join(words[:2]), code, out.getvalue(), message.getvalue(), took_s, grown)


class _TooLong(BaseException):
    """The command takes more of the processor, or of the day, than it may."""


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    with (
        _alarm(signal.SIGPROF, signal.ITIMER_PROF, 2 * MOST_CPU_S),
        _alarm(signal.SIGALRM, signal.ITIMER_REAL, MOST_WALL_S),
    ):
        yield


@contextlib.contextmanager
def _alarm(number: int, timer: int, seconds: float) -> Iterator[None]:
    """Restores another timer afterwards: pytest has one."""

    def stop(*signal: object) -> None:
        raise _TooLong

    handler = signal.signal(number, stop)
    left, interval = signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, left, interval)
        signal.signal(number, handler)


def _most_memory() -> int:
    """Bytes, of this process since it began."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

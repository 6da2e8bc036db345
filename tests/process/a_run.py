"""`pongbench` as a shell starts it, with a home of its own and every trace of it visible."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec
from oracle import CLEAN_WITHIN_S, eventually, processes_with
from wheels import PING_PONG, make_wheel

from workbench.documents import AnyDocument, Note, PointStop
from workbench.sessions import Session, read_session

D = TypeVar("D")

ROOT = Path(__file__).resolve().parents[2]
SERVERS = Path(__file__).with_name("servers")
PONGBENCH = [sys.executable, "-m", "app"]
RUN_WITHIN_S = 300.0
STREAMS = "asyncio-streams"


@dataclass(frozen=True)
class Answer:
    """Output and exit code of a command."""

    code: int
    stdout: str
    stderr: str


@dataclass
class Running:
    """A running command, in a process group of its own as in a terminal."""

    process: subprocess.Popen[bytes]
    session: Path
    output: Path
    """Of stdout and stderr together."""

    def told(self) -> str:
        return self.output.read_text(errors="replace")

    def recorded(self) -> str:
        return self.session.read_text() if self.session.exists() else ""

    def under_load(self) -> bool:
        """Whether a point has lasted for a second; its windows are written later."""
        begun = self.recorded().rpartition('"kind":"point_start"')[2]
        inside = self.session.exists() and '"kind":"point_stop"' not in begun and bool(begun)
        return inside and time.time() - self.session.stat().st_mtime > 1

    def wait_until(self, condition: Callable[[Running], bool]) -> None:
        """Fails when the command ends before that."""
        assert eventually(
            lambda: condition(self) or self.process.poll() is not None, within_s=RUN_WITHIN_S
        )
        assert self.process.poll() is None, self.told()

    def ctrl_c(self) -> None:
        """As the terminal does it: to every process of the group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self) -> int:
        return self.process.wait(RUN_WITHIN_S)

    def read(self) -> Session:
        return read_session(self.session)


@dataclass
class Home:
    """Where the program keeps its things. Its path is in the environment of all it starts."""

    folder: Path
    env: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        for name in ("tmp", "wheels", "plans"):
            (self.folder / name).mkdir(parents=True)
        shutil.copytree(SERVERS, self.folder / "data" / "servers")
        make_wheel(self.folder / "wheels", "ping_pong", "1.2.3", PING_PONG)
        self.env = {
            **os.environ,
            "PONGBENCH_HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": str(self.folder / "wheels"),
            "COLUMNS": "1000",
        }

    def plan(self, servers: list[str], **keys: object) -> Path:
        """A short plan; `keys` replace or add to its own."""
        plan = {
            "name": "Short",
            "servers": servers,
            "rates": [100, 200],
            "seconds": 1.0,
            "warm_up": None,
            "calibrate": False,
            "looks": 1,
            # However slow the machine, the same points are run.
            "give_up": None,
            **keys,
        }
        if "concurrency" in plan or "search" in plan:
            del plan["rates"]
        return self.file(msgspec.yaml.encode(plan))

    def file(self, content: bytes) -> Path:
        path = self.folder / "plans" / f"{len(list((self.folder / 'plans').iterdir()))}.yaml"
        path.write_bytes(content)
        return path

    def call(self, *words: str | Path, under: Sequence[str] = ()) -> Answer:
        """A command from beginning to end; never a traceback, and nothing left behind. `under`: the
        command that starts it."""
        done = subprocess.run(
            [*under, *PONGBENCH, *words],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=self.env,
            timeout=RUN_WITHIN_S,
            check=False,
        )
        assert "Traceback" not in done.stderr
        self.wait_until_clean()
        return Answer(done.returncode, done.stdout, done.stderr)

    def launch(self, plan: Path, session: Path, *options: str) -> Running:
        output = session.with_suffix(".log")
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*PONGBENCH, "run", plan, "-o", session, *options],
                stdout=file,
                stderr=file,
                cwd=ROOT,
                env=self.env,
                start_new_session=True,
            )
        return Running(process, session, output)

    def remains(self) -> list[str]:
        """Processes and files that should not outlive a run; finished runtimes may, and what the
        gate found, and known limits of the clients."""
        cache = self.folder / "cache"
        runtimes = {path.parent for path in cache.glob("runtimes/*/runtime.json")}
        gates = {cache / "gates", *cache.glob("gates/*.json")}
        limits = {cache / "limits", *cache.glob("limits/*.json")}
        kept = {cache / "runs", cache / "runtimes", *runtimes, *gates, *limits}
        files = [*cache.glob("*"), *cache.glob("*/*"), *(self.folder / "tmp").iterdir()]
        return [
            *processes_with(str(self.folder)).values(),
            *(str(path) for path in files if path not in kept),
        ]

    def wait_until_clean(self) -> None:
        """Fails when something is left after `CLEAN_WITHIN_S`."""
        eventually(lambda: not self.remains(), within_s=CLEAN_WITHIN_S)
        assert self.remains() == []


def of(kind: type[D], documents: list[AnyDocument]) -> list[D]:
    return [document for document in documents if isinstance(document, kind)]


def sweep_stops(documents: list[AnyDocument]) -> list[PointStop]:
    return [stop for stop in of(PointStop, documents) if stop.purpose == "sweep"]


def texts(documents: list[AnyDocument], topic: str) -> list[str]:
    return [note.text for note in of(Note, documents) if note.topic == topic]


def run(home: Home, session: Path, plan: Path, *, code: int = 0) -> list[AnyDocument]:
    """The documents of a run with that exit code, every point's conserved."""
    answer = home.call("run", plan, "-o", session)
    assert answer.code == code, answer.stderr
    documents = read_session(session).documents
    assert all(stop.conserved for stop in of(PointStop, documents))
    return documents


def sentence(answer: Answer) -> str:
    """The one sentence of a refused command, checked for exit code and stray output."""
    last = [line for line in answer.stderr.splitlines() if line.startswith("pongbench: ")]
    assert len(last) == 1, answer.stderr
    return last[0]

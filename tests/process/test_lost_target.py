"""A target lost in the middle of a point: nothing more is offered and no verdict is reached.

It is behind an SSH server in this process, on loopback; the loss is real.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from chosen import chosen
from oracle import eventually
from pids import parent
from sshd import SshHost, answer

from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, PointStop, RunStop, Window
from workbench.machines.profiles import save_profile
from workbench.plan.model import Plan
from workbench.run.engine import Consents, Engine
from workbench.run.factory import Fleet, engine_for
from workbench.sessions import completed
from workbench.workloads.registry import workload as a_workload

pytestmark = pytest.mark.alone

SERVER = "asyncio-streams"
SECONDS = 60.0
PLAN = Plan(
    name="Lost",
    servers=[SERVER],
    rates=[50.0, 100.0],
    seconds=SECONDS,
    warm_up=None,
    calibrate=False,
    cool_down_s=0.1,
    looks=1,
    workload=a_workload(timeout_s=2.0),
)


@dataclass
class Box:
    """The target, and what can happen to it."""

    host: SshHost
    work: Path
    stopped: int = 0

    def cut(self) -> None:
        for connection in self.host.connections:
            connection.abort()

    def swallow(self) -> None:
        """What is sent there vanishes; nobody notices."""
        for connection in self.host.connections:
            if isinstance(transport := connection._transport, asyncio.Transport):
                transport.pause_reading()

    def kill_runner(self) -> None:
        os.kill(self.runner(), signal.SIGKILL)

    def stop_runner(self) -> None:
        self.stopped = self.runner()
        os.kill(self.stopped, signal.SIGSTOP)

    async def end(self) -> None:
        self.cut()
        if self.stopped:
            guardian = Path(f"/proc/{parent(self.stopped)}")
            os.kill(self.stopped, signal.SIGKILL)
            assert await asyncio.to_thread(eventually, lambda: not guardian.exists())

    def kill_sampler(self) -> None:
        os.kill(self.sampler(), signal.SIGKILL)

    def sampler(self) -> int:
        return next(pid for pid, words in self.processes() if b"/sampler" in words[-1:][0])

    def runner(self) -> int:
        return parent(self.sampler())

    def processes(self) -> Iterator[tuple[int, list[bytes]]]:
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            except OSError:
                continue
            if any(word.startswith(bytes(self.work)) for word in words):
                yield int(folder.name), words


@pytest.fixture(name="box")
async def the_target(host: SshHost, tmp_path: Path) -> AsyncIterator[Box]:
    found = Box(host, tmp_path / "work")
    save_profile(host.profile(found.work))
    yield found
    await found.end()


async def run(act: Callable[[], None], seconds: float = SECONDS) -> list[AnyDocument]:
    """Do something in the middle of the first point."""
    documents: list[AnyDocument] = []

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, Window) and (document.point, document.index) == (1, 5):
            asyncio.get_running_loop().call_soon(act)

    plan = msgspec.structs.replace(PLAN, seconds=seconds)
    engine: Engine = engine_for(
        plan, emit, fleet=Fleet("box", ("localhost",)), consents=Consents(ask=answer)
    )
    await engine.run()
    return documents


LOSSES: dict[str, Callable[[Box], None]] = {
    "the connection is cut": Box.cut,
    "packets vanish": Box.swallow,
    "the runner is killed": Box.kill_runner,
    "the runner stands still": Box.stop_runner,
}


@pytest.mark.parametrize("loss", chosen(list(LOSSES), 1))
async def test_a_point_that_loses_the_target_ends_at_once_and_is_inconclusive(
    box: Box, loss: str
) -> None:
    documents = await run(lambda: LOSSES[loss](box))
    (point,) = [d for d in documents if isinstance(d, PointStop)]
    assert not point.complete
    assert point.verdict == "inconclusive"
    assert any(reason.startswith("The machine 'box' is gone: ") for reason in point.reasons)
    assert point.counts.scheduled < SECONDS / 2 * 50
    (note,) = [d for d in documents if isinstance(d, Note) and d.topic == "target-lost"]
    assert note.machine == "box" and note.text.startswith("The machine 'box' is gone: ")
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "failed" and stop.reason.startswith("The machine 'box' is gone: ")
    server = summarise(list(completed(documents))).servers[SERVER]
    assert server.knee is None
    assert "server-limited" not in {d.verdict for d in documents if isinstance(d, PointStop)}


async def test_a_point_that_loses_only_its_sampler_is_inconclusive_and_the_run_continues(
    box: Box,
) -> None:
    seconds = 3.0
    documents = await run(box.kill_sampler, seconds)
    first, second = (d for d in documents if isinstance(d, PointStop))
    assert not first.complete
    assert any(reason.startswith("The sampler ended by itself") for reason in first.reasons)
    assert first.counts.scheduled < seconds * 50
    assert second.complete and second.server_rss_bytes > 0
    assert [d.topic for d in documents if isinstance(d, Note) and "sampler" in d.topic] == [
        "sampler-restarted"
    ]
    (stop,) = [d for d in documents if isinstance(d, RunStop)]
    assert stop.status == "done"

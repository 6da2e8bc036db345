"""A run cancelled wherever it waits, and once more while it cleans up: a session with an
end, restored settings, nothing left."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import random
import types
from collections.abc import Callable, Coroutine, Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from chosen import chosen
from oracle import files_below, wait_until_clean

from tests.plans import one_point
from workbench.documents import AnyDocument, Note, PointStart, RunStop
from workbench.errors import PongbenchError
from workbench.machines.base import Machine
from workbench.machines.opening import open_machine
from workbench.machines.profiles import Profile, save_profile
from workbench.machines.secrets import Ask
from workbench.machines.tuning import Rights
from workbench.run.engine import Consents, Engine
from workbench.run.environment import Fleet
from workbench.run.tuning import Tuning, TuningPlan
from workbench.servers.catalogue import Catalogue
from workbench.sessions import read_session
from workbench.sessions.recorder import Recorder

T = TypeVar("T")
KEY, BEFORE, WANTED = "net.core.somaxconn", "777", "778"
PLACES = 200
"""Where a run is cancelled, as parts of its way."""
ALL = [(number / PLACES, random.Random(number).choice([1, 2, 3, 5, 8])) for number in range(PLACES)]
"""How far on its way it is cancelled, and how many awaits later once more."""

PLAN = one_point("Cancelled")


@types.coroutine
def counted(work: Coroutine[Any, Any, T], on_await: Callable[[], None]) -> Generator[Any, Any, T]:
    """`work`, and a call whenever it begins to wait."""
    step: Callable[[], Any] = lambda: work.send(None)  # noqa: E731
    while True:
        try:
            waits_for = step()
        except StopIteration as end:
            result: T = end.value
            return result
        on_await()
        try:
            yield waits_for
        except BaseException as error:
            thrown = error
            step = lambda: work.throw(thrown)  # noqa: B023, E731
        else:
            step = lambda: work.send(None)  # noqa: E731


class Run:
    """One run, its session and what it tunes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.sysctl = folder / "sys" / Path(*KEY.split("."))
        self.sysctl.parent.mkdir(parents=True)
        self.sysctl.write_text(f"{BEFORE}\n")
        self.session = folder / "session.pong.yaml"
        self.awaits = 0
        self.documents: list[AnyDocument] = []

    @property
    def rights(self) -> Rights:
        state, settings = str(self.folder / "state"), str(self.folder / "sys")
        return Rights("root", options=["--state", state, "--settings", settings])

    async def go(self, cancel_at: Sequence[int] = ()) -> bool:
        """Whether it came to its end; else it was cancelled."""
        recorder = Recorder(self.session)

        def emit(document: AnyDocument) -> None:
            self.documents.append(document)
            recorder(document)

        catalogue = Catalogue.load(extra_dirs=[])
        entries = [catalogue[server] for server in PLAN.servers]
        engine = Engine(PLAN, entries, emit, consents=Consents(tuning=Tuning("tests", consent)))
        loop = asyncio.get_running_loop()

        def on_await() -> None:
            self.awaits += 1
            if self.awaits in cancel_at:
                loop.call_soon(task.cancel)

        task = loop.create_task(self._whole(engine, on_await))
        try:
            await task
        except asyncio.CancelledError:
            return False
        except PongbenchError:
            # On a machine that is too busy it does not even begin.
            if self.documents:
                raise
            return False
        finally:
            recorder.close()
        return True

    async def _whole(self, engine: Engine, on_await: Callable[[], None]) -> RunStop:
        return await counted(engine.run(), on_await)


async def consent(plans: Sequence[TuningPlan]) -> bool | None:
    return True


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Run]:
    """A new run with a home of its own."""
    numbers = itertools.count()

    def make() -> Run:
        run = Run(tmp_path / str(next(numbers)))
        home = run.folder / "home"
        (home / "data" / "tuning").mkdir(parents=True)
        (home / "data" / "tuning" / "tests.yaml").write_text(
            f'name: tests\nsettings: {{{KEY}: "{WANTED}"}}\n'
        )
        monkeypatch.setenv("PONGBENCH_HOME", str(home))
        save_profile(Profile("localhost", tuning=True), replace=True)
        monkeypatch.setattr(Rights, "on", lambda *_: run.rights)
        return run

    return make


@pytest.mark.timeout(7200)
async def test_cancelled_twice_anywhere_the_session_ends_and_nothing_is_left(
    begin: Callable[[], Run],
) -> None:
    whole = begin()
    assert await whole.go()
    assert [d.topic for d in whole.documents if isinstance(d, Note)].count("tuned") == 1
    begun = await awaits_before_the_session(begin())
    for part, later in chosen(ALL, 4):
        run = begin()
        # One half of them before a session is begun, the other after that.
        at = round(2 * part * begun)
        if part >= 0.5:
            at = round(begun + (2 * part - 1) * (whole.awaits - begun))
        await run.go([at, at + later])
        await assert_in_order(run, f"cancelled at {at} and {at + later} of {whole.awaits}")


@pytest.mark.parametrize("aborted", [False, True])
async def test_a_run_that_is_aborted_while_it_stops_is_aborted_to_the_very_end(
    aborted: bool,
) -> None:
    documents: list[AnyDocument] = []

    async def open_closing(profile: Profile, ask: Ask) -> Machine:
        machine = await open_machine(profile, ask)
        close = machine.close

        async def closing() -> None:
            # Nothing but the machines is left to be closed.
            if aborted:
                task.cancel()
            await close()

        machine.close = closing  # type: ignore[method-assign]
        return machine

    def emit(document: AnyDocument) -> None:
        documents.append(document)
        if isinstance(document, PointStart):
            engine.control.stop()

    catalogue = Catalogue.load(extra_dirs=[])
    fleet = Fleet(open=open_closing)
    entries = [catalogue[server] for server in PLAN.servers]
    engine = Engine(PLAN, entries, emit, fleet=fleet)
    task = asyncio.create_task(engine.run())
    with pytest.raises(asyncio.CancelledError) if aborted else contextlib.nullcontext():
        await task
    assert isinstance(documents[-1], RunStop)
    assert documents[-1].status == ("aborted" if aborted else "stopped")


async def awaits_before_the_session(run: Run) -> int:
    begun = 0

    class Counting(list[AnyDocument]):
        def append(self, document: AnyDocument) -> None:
            nonlocal begun
            begun = begun or run.awaits
            super().append(document)

    run.documents = Counting()
    assert await run.go()
    return begun


async def assert_in_order(run: Run, where: str) -> None:
    if run.documents:
        kinds = [type(document).__name__ for document in run.documents]
        assert (kinds[0], kinds[-1]) == ("RunStart", "RunStop"), where
        assert kinds.count("RunStop") == 1, where
        session = read_session(run.session)
        assert not session.interrupted, where
        assert len(session.documents) == len(run.documents), where
    assert run.sysctl.read_text().strip() == BEFORE, where
    assert not (run.folder / "state").exists(), where
    await asyncio.to_thread(
        wait_until_clean, str(run.folder), run.folder / "home" / "cache" / "runs"
    )
    assert files_below(run.folder / "home" / "cache" / "runs") == [], where
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert others == set(), where

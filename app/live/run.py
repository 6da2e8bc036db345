"""Runs a plan for the window, in the engine's thread, wired like `pongbench run`. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.charts import words
from app.machines.prompts import Asker
from workbench.control import Control
from workbench.dispatcher import Dispatcher
from workbench.documents import AnyDocument, RunStop
from workbench.plan.model import Plan
from workbench.presentable import presentable
from workbench.run.engine import Consents, Engine, Observer
from workbench.run.factory import Fleet, engine_for, session_path
from workbench.run.tuning import Tuning
from workbench.servers.entry import ServerEntry
from workbench.sessions import Recorder


@dataclass(frozen=True)
class Outcome:
    path: Path | None
    """The session file; None: the run ended before anything was measured."""
    stop: RunStop | None


@dataclass(frozen=True)
class Where:
    """The names of machines' profiles, and the options for them."""

    target: str
    clients: tuple[str, ...]
    tune: str = ""
    """A set of kernel settings for the length of the run; empty: none is changed."""

    def __str__(self) -> str:
        return f"on {self.target}, load from {', '.join(self.clients)}"


@dataclass(frozen=True)
class Trial:
    """The progress of the server tests before a run."""

    servers: tuple[tuple[str, str], ...] = ()
    """(id, name), in the order of the tests; the last may be no contestant."""
    finished: int = -1
    """The number of finished tests, which is the index of the current one. -1: not started."""

    @property
    def now(self) -> tuple[str, str] | None:
        """(id, name) of the server under test."""
        return self.servers[self.finished] if 0 <= self.finished < len(self.servers) else None

    @property
    def contestants(self) -> tuple[int, int]:
        """How many of the servers that are compared are tested, and how many they are."""
        compared = [id_ not in words.TOOLS for id_, _ in self.servers]
        return sum(compared[: max(0, self.finished)]), sum(compared)


class LiveRun:
    """One run. In the engine's thread, `put` gets its documents, `notify` its progress as text, and
    `on_progress` the progress of the tests before it.
    """

    def __init__(
        self,
        plan: Plan,
        put: Callable[[AnyDocument], None],
        notify: Callable[[str], None],
        where: Where | None = None,
        person: Asker | None = None,
    ) -> None:
        """`where` None: on this computer. `person`: answers questions, in the engine's thread;
        None: nobody can answer.
        """
        self.plan, self.where, self._person = plan, where, person
        self.control = Control()
        """For use in the engine's thread."""
        self._put, self._notify = put, notify
        self.on_progress: Callable[[Trial], None] = lambda trial: None
        self.path = session_path(plan)
        """Of the session."""
        self._begun = False
        self._stop: RunStop | None = None
        self._task: asyncio.Task[object] | None = None

    async def run(self) -> Outcome:
        """Run the plan. Raises BadInput or PongbenchError when it cannot begin, or can no longer be
        recorded.
        """
        self._task = asyncio.current_task()
        dispatcher = Dispatcher()
        recorder = Recorder(self.path, or_beside=True, emit=dispatcher.emit)
        dispatcher.subscribe(recorder, essential=True)
        dispatcher.subscribe(self._see)

        async def begin() -> None:
            await self._engine(dispatcher.emit).run()

        try:
            # An unknown host key is found before anything is measured.
            await (self._person.trusting(begin) if self._person else begin())
        except asyncio.CancelledError:
            if not self.control.stopping:
                raise
        finally:
            recorder.close()
        return Outcome(recorder.path if self._begun else None, self._stop)

    def _engine(self, emit: Callable[[AnyDocument], None]) -> Engine:
        where, person = self.where, self._person
        fleet = Fleet(where.target, where.clients) if where else None
        consents = Consents()
        if person:
            consents = Consents(
                ask=person.ask,
                tuning=Tuning(where.tune, person.consent) if where and where.tune else None,
                expose=person.agree,
                run_foreign=person.agree,
                load=person.agree,
                on_busy=person.agree,
            )

        def on_trial(servers: Sequence[ServerEntry], finished: int) -> None:
            self.on_progress(Trial(tuple((each.id, each.name) for each in servers), finished))

        engine = engine_for(
            self.plan,
            emit,
            fleet=fleet,
            consents=consents,
            observer=Observer(notify=self._notify, on_trial=on_trial),
            control=self.control,
        )
        on_trial(engine.entries, -1)
        return engine

    def stop(self) -> None:
        """Stop cleanly. Anything that has not begun yet is skipped."""
        self.control.stop()
        if not self._begun and self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        """Abort. The running point is lost; finished points are in the session."""
        self.control.stop()
        if self._task is not None:
            self._task.cancel()

    def _see(self, document: AnyDocument) -> None:
        self._begun = True
        if isinstance(document, RunStop):
            self._stop = document
        self._put(presentable(document))

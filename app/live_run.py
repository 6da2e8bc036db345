"""A run for the window, in the engine's thread: wired like `pongbench run`. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workbench.control import Control
from workbench.dispatcher import Dispatcher
from workbench.documents import AnyDocument, RunStop
from workbench.plans import Plan
from workbench.sessions import Recorder


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    path: Path | None
    """Its session; None: it ended before anything was measured."""
    stop: RunStop | None


class LiveRun:
    """One run. `put` gets its documents, `tell` its progress in words, both in that thread."""

    def __init__(
        self, plan: Plan, put: Callable[[AnyDocument], None], tell: Callable[[str], None]
    ) -> None:
        self.plan = plan
        self.control = Control()
        """For the engine's thread."""
        self._put, self._tell = put, tell
        self._begun = False
        self._task: asyncio.Task[object] | None = None

    async def run(self) -> Outcome:
        """Raises BadInput or PongbenchError when it cannot begin, or no longer be recorded."""
        from workbench.runs import engine_for, session_path  # noqa: PLC0415 - late, in its thread

        self._task = asyncio.current_task()
        dispatcher = Dispatcher()
        engine = engine_for(self.plan, dispatcher.emit)
        engine.control, engine.tell = self.control, self._tell
        recorder = Recorder(session_path(self.plan))
        dispatcher.subscribe(recorder, essential=True)
        dispatcher.subscribe(self._see)
        stop = None
        try:
            stop = await engine.run()
        except asyncio.CancelledError:
            if not self.control.stopping:
                raise
        finally:
            recorder.close()
        return Outcome(recorder.path if self._begun else None, stop)

    def stop(self) -> None:
        """End early in good order. What has not begun yet is given up."""
        self.control.stop()
        if not self._begun and self._task is not None:
            self._task.cancel()

    def _see(self, document: AnyDocument) -> None:
        self._begun = True
        self._put(document)

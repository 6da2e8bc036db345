"""The engine's thread, and the only object that crosses threads: it passes work to that thread and
returns the results.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.errors import PongbenchError

T = TypeVar("T")
_Then = Callable[[Any], object]
_Fail = Callable[[str], object]
EVERY_MS = 60
_AT_ONCE_S = 0.02
"""Deliveries may block the window for this long."""
_BEHIND_S = 0.25
"""While more waits than can be delivered at once, pages redraw this often: a session that is opened
shows its end sooner.
"""

log = logging.getLogger(__name__)


class Bridge(QObject):
    """Delivers everything from the engine's thread in order, on a timer of the GUI. Neither thread
    ever waits for the other, and a GUI that stalls loses nothing.
    """

    drained = Signal()
    """Something was delivered; the page should redraw."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = EngineThread()
        self._collector = Collector(self)
        self._drawn_s = 0.0
        self._mail: deque[tuple[Callable[[Any], object], Any]] = deque()
        # Kept here: what belongs to the GUI must not end in the engine's thread.
        self._pending: dict[Future[Any], tuple[_Then, _Fail | None]] = {}
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._drain)
        self._timer.start(EVERY_MS)

    def submit(
        self,
        work: Coroutine[Any, Any, T],
        then: Callable[[T], object] = lambda result: None,
        fail: Callable[[str], object] | None = None,
    ) -> Future[T]:
        """Start `work` in the engine's thread; after `close` it is not started. In the GUI's
        thread, after everything the work posted, `then` gets its result or `fail` gets one
        sentence. Cancelled work calls neither. Without `fail` the sentence goes to the log, and
        from there to the window.
        """
        future = self._thread.submit(work)
        self._pending[future] = then, fail
        future.add_done_callback(lambda done: self._mail.append((self._finish, done)))
        return future

    def do(
        self,
        work: Callable[[], T],
        then: Callable[[T], object] = lambda result: None,
        fail: Callable[[str], object] | None = None,
    ) -> Future[T]:
        """Like `submit`, for a function that reads or writes files; it runs in its own thread."""

        async def run() -> T:
            return await asyncio.to_thread(work)

        return self.submit(run(), then, fail)

    def drop(self, work: Future[Any] | None) -> None:
        """Cancel work of which nothing counts any more, not even a result that is on its way."""
        if work is not None and self._pending.pop(work, None):
            work.cancel()

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the engine's thread."""
        self._thread.call(function, *arguments)

    def post(self, consumer: Callable[[Any], object]) -> Callable[[Any], None]:
        """Return a function for the engine's thread; `consumer` gets its argument in the GUI's."""
        return lambda item: self._mail.append((consumer, item))

    def close(self) -> bool:
        """Cancel running work, wait until it has cleaned up, and deliver what it posted."""
        self._timer.stop()
        closed = self._thread.close()
        while self._mail:
            self._drain()
        if closed:
            self._collector.close()
        return closed

    def _drain(self) -> None:
        now_s = time.monotonic()
        until = now_s + _AT_ONCE_S
        delivered = False
        while self._mail and time.monotonic() < until:
            consumer, item = self._mail.popleft()
            delivered = True
            try:
                consumer(item)
            except RuntimeError as error:
                # The dialog that asked for it was closed before its answer arrived.
                if "already deleted" not in str(error):
                    raise
                log.info("A result arrived for a widget that no longer exists: %s", error)
        if delivered and (not self._mail or now_s >= self._drawn_s + _BEHIND_S):
            self._drawn_s = now_s
            self.drained.emit()
        if self._mail:
            QTimer.singleShot(0, self, self._drain)

    def _finish(self, future: Future[Any]) -> None:
        then, fail = self._pending.pop(future, (None, None))
        if then is None or future.cancelled():
            return
        error = future.exception()
        if error is None:
            then(future.result())
            return
        expected = isinstance(error, PongbenchError)
        if fail is None:
            log.error("%s", error if expected else UNEXPECTED, exc_info=None if expected else error)
            return
        if not expected:
            log.warning(UNEXPECTED, exc_info=error)
        fail(str(error) if expected else _sentence(error))


UNEXPECTED = "Unexpected error in the engine's thread."


def _sentence(error: BaseException) -> str:
    return (
        f"Unexpected error ({type(error).__name__}: {error}). Recorded data is kept; please "
        "report this."
    )


class EngineThread:
    """Runs from its creation to `close`. All methods may be called from any thread."""

    def __init__(self) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop
        self._closing: asyncio.Event
        self._work: set[asyncio.Task[Any]] = set()
        self._over = False
        # A daemon: a loop that does not end must not keep the program from ending. What it started
        # on machines ends by itself then.
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve()), name="engine", daemon=True
        )
        self._thread.start()
        self._ready.wait()

    async def _serve(self) -> None:
        self._loop, self._closing = asyncio.get_running_loop(), asyncio.Event()
        self._ready.set()
        await self._closing.wait()
        self._over = True
        # Work submitted just before is started, so that it is among the tasks to cancel.
        await asyncio.sleep(0)
        # Only submitted work is cancelled: it ends the tasks it started itself, in its own order.
        while self._work:
            for task in self._work:
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)

    async def _tracked(self, coroutine: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._work.add(task)
        try:
            return await coroutine
        finally:
            self._work.discard(task)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine; cancelling the future cancels it. After `close` it is not started."""
        if self._over:
            coroutine.close()
            never: Future[T] = Future()
            never.cancel()
            return never
        return asyncio.run_coroutine_threadsafe(self._tracked(coroutine), self._loop)

    def call(self, function: Callable[..., object], *arguments: object) -> None:
        """Call a function in the loop, in the order of the calls. Does nothing after `close`."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function, *arguments)

    def close(self, timeout_s: float = 15.0) -> bool:
        """Cancel running work and wait for it to clean up. False: it did not end in time."""
        if self._thread.is_alive():
            self.call(self._closing.set)
            self._thread.join(timeout_s)
        return not self._thread.is_alive()


_COLLECT_EVERY_MS = 100
"""Often enough that each collection is short: a frame may have to wait for it."""
_ALL_EVERY_S = 60.0
"""A full collection takes tens of milliseconds."""


class Collector(QObject):
    """Collects Python's cyclic garbage in the GUI's thread, until the last instance is closed.

    By itself, Python collects in whichever thread allocates and destroys objects there. A Qt object
    that is destroyed in another thread than its own crashes the program or blocks it for ever.
    """

    _open = 0
    _all_at_s = 0.0

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        Collector._open += 1
        gc.disable()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._collect)
        self._timer.start(_COLLECT_EVERY_MS)

    def close(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
            Collector._open -= 1
        if not Collector._open:
            gc.enable()

    def _collect(self) -> None:
        """Collect the oldest generation that is due by Python's own counters."""
        counted = enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True))
        due = [generation for generation, (count, limit) in counted if 0 < limit < count]
        now_s = time.monotonic()
        if 2 in due and now_s - Collector._all_at_s < _ALL_EVERY_S:
            due.remove(2)
        elif 2 in due:
            Collector._all_at_s = now_s
        if due:
            gc.collect(due[-1])

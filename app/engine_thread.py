"""One asyncio loop in one thread, for everything that waits, reads or writes. No Qt."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


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
        """Start a coroutine. Cancelling the returned future cancels it. After `close` it is not
        started.
        """
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

"""Signals as callbacks of the event loop, also on Windows, whose loops do not support them."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator, Mapping
from functools import partial


@contextlib.contextmanager
def handled(handlers: Mapping[str, Callable[[], object]]) -> Iterator[None]:
    """In this context each signal of that name calls its handler in the running loop. Names unknown
    to this system are ignored."""
    loop = asyncio.get_running_loop()
    undo: list[Callable[[], object]] = []
    for name, handler in handlers.items():
        if (number := getattr(signal, name, None)) is None:
            continue
        try:
            loop.add_signal_handler(number, handler)
            undo.append(partial(loop.remove_signal_handler, number))
        except NotImplementedError:
            before = signal.signal(number, partial(_soon, loop, handler))
            undo.append(partial(signal.signal, number, before))
    try:
        yield
    finally:
        for restore in undo:
            restore()


def _soon(loop: asyncio.AbstractEventLoop, handler: Callable[[], object], *_signal: object) -> None:
    loop.call_soon_threadsafe(handler)

"""Clearing up that is not cut short, however often whoever does it is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """What `work` gives, or raises. Cancelled meanwhile: raises that afterwards."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        if not task.cancelled():
            task.exception()  # the cancellation comes first
        raise cancelled
    return task.result()


async def ended(*tasks: asyncio.Future[Any]) -> None:
    """Cancel them all and wait until they have ended, whatever becomes of them."""
    for task in tasks:
        task.cancel()
    await to_the_end(_over(tasks))


async def _over(tasks: tuple[asyncio.Future[Any], ...]) -> None:
    await asyncio.gather(*tasks, return_exceptions=True)

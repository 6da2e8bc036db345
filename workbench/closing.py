"""Cleanup that completes even if its task is cancelled in the meantime."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Awaitable[T]) -> T:
    """Wait for `work`, whose result is returned. A cancellation meanwhile is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled:
        if not task.cancelled():
            task.exception()  # The cancellation takes precedence.
        raise cancelled
    return task.result()


async def all_of(work: Iterable[Awaitable[T]]) -> list[T]:
    """Do all at once, and return their results; where one fails, the others are cancelled."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        await ended(*tasks)


async def ended(*tasks: asyncio.Future[Any]) -> None:
    """Cancel all tasks and wait until they have ended, whatever their results."""
    for task in tasks:
        task.cancel()
    await to_the_end(asyncio.gather(*tasks, return_exceptions=True))

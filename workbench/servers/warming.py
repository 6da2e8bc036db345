"""Warm-up calls to a server with a JIT compiler, before it is measured."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from workbench.remote.agent.tls import NAME
from workbench.servers.deployment import Deployment
from workbench.workloads.base import Declaration
from workbench.workloads.registry import spoken_by

AT_ONCE = 8
"""Concurrent connections: enough to keep one core of a server busy."""
PATIENCE_S = 5.0


async def warm(deployment: Deployment, rest: Callable[[float], Awaitable[None]]) -> int:
    """Call it for as long as its entry asks for. Returns the number of answered calls.

    Each call of the workload uses a new connection. `rest` waits a number of seconds, raises, or
    returns early when the user skips the wait.
    """
    answered = 0
    workload = spoken_by(deployment.entry.protocols)
    if workload is None:
        return 0

    async def calls() -> None:
        nonlocal answered
        while deployment.alive():
            answered += await _call(deployment, workload)

    async with asyncio.TaskGroup() as group:
        callers = [group.create_task(calls()) for _ in range(AT_ONCE)]
        try:
            await rest(deployment.entry.warm_up_s)
        finally:
            for caller in callers:
                caller.cancel()
    return answered


async def _call(deployment: Deployment, workload: Declaration) -> bool:
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            reader, writer = await asyncio.open_connection(
                *deployment.near,
                ssl=deployment.tls,
                server_hostname=NAME if deployment.tls else None,
            )
            try:
                return await workload.warm_up(reader, writer, deployment.entry)
            finally:
                writer.close()
    return False

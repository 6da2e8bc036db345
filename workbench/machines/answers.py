"""Output and exit status of a short program on a machine, with limits on time and size."""

from __future__ import annotations

import asyncio
import contextlib

from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import LONGEST_MESSAGE, InvalidMessage

WITHIN_S = 8.0


async def output(
    process: Process, within_s: float = WITHIN_S, longest: int = LONGEST_MESSAGE
) -> list[bytes]:
    """Yield its lines until it closes its output. Raises InvalidMessage when it takes too long or
    sends too much; PongbenchError when its machine is lost."""
    lines, size = [], 0
    try:
        async with asyncio.timeout(within_s):
            async for line in process.lines():
                lines.append(line)
                size += len(line) + 1
                if size > longest:
                    raise InvalidMessage(f"more than {longest >> 10:,} KiB")
    except TimeoutError:
        raise InvalidMessage(f"no end of it within {within_s:.0f} s") from None
    return lines


async def ran(machine: Machine, command: Command, within_s: float) -> tuple[int | None, list[str]]:
    """Return its exit status and its last lines. None: it exceeded the time limit, and was stopped.

    Raises PongbenchError when it cannot be started, or its machine is lost.
    """
    process = await machine.start(command)
    status = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            status = await process.wait()
    if status is None:
        await process.stop(grace_s=0)
    return status, process.tail()

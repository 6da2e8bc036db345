"""What a short program on a machine says and how it ends, waited for and kept within limits."""

from __future__ import annotations

import asyncio
import contextlib

from workbench.machines.base import Command, Machine, Process
from workbench.machines.wire import LONGEST_MESSAGE, InvalidMessage

WITHIN_S = 8.0


async def output(
    process: Process, within_s: float = WITHIN_S, longest: int = LONGEST_MESSAGE
) -> list[bytes]:
    """Its lines until it closes its output. Raises InvalidMessage where that takes too long, or is
    too much; PongbenchError when its machine is gone."""
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
    """How it ended, and the last lines it said. None: it did not end in time, and was stopped.

    Raises PongbenchError when it cannot be started, or its machine is gone."""
    process = await machine.start(command)
    status = None
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            status = await process.wait()
    if status is None:
        await process.stop(grace_s=0)
    return status, process.tail()

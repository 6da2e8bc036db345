"""The whole output of a short program on a machine, waited for and kept within limits."""

from __future__ import annotations

import asyncio

from workbench.machines.base import Process
from workbench.machines.wire import LONGEST_MESSAGE, InvalidMessage

WITHIN_S = 8.0


async def output(
    process: Process, within_s: float = WITHIN_S, longest: int = LONGEST_MESSAGE
) -> list[bytes]:
    """Its lines until it closes its output. Raises Nonsense where that takes too long, or is too
    much; PongbenchError when its machine is gone."""
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

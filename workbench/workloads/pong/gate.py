"""The wire gate of ping-pong."""

from __future__ import annotations

import asyncio

import msgspec

from workbench.workloads.gating import (
    CALLS,
    GateResult,
    after_reset,
    agreed,
    check,
    found,
    request,
)
from workbench.workloads.server import Server
from workbench.workloads.wire import Wire


async def gate(wire: Wire, entry: Server) -> GateResult:
    """Test that each connection gets one reply and is closed by the server."""
    asked = request(entry, "HTTP/1.0")
    ends = [await wire.whole(asked) for _ in range(CALLS)]
    ends += await asyncio.gather(*(wire.whole(asked) for _ in range(CALLS)))
    check([end.reply for end in ends], entry)
    ends.append(await after_reset(wire, asked))
    check([ends[-1].reply], entry)
    result = found(entry, ends[0], protocols=["pong"])
    if any(end.how == "reset" for end in ends):
        reset = "It ends connections with a reset, the request unread; the reply is complete."
        result = msgspec.structs.replace(result, resets=True, sentences=[*result.sentences, reset])
    return agreed(result, entry)

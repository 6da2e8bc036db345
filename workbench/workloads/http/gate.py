"""The wire gate of HTTP."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence

import msgspec

from workbench.errors import BadInput
from workbench.workloads.gating import (
    CALLS,
    PIPELINED,
    GateResult,
    after_reset,
    agreed,
    answering,
    check,
    failed,
    found,
    request,
)
from workbench.workloads.http.requests import Request
from workbench.workloads.reply import Fault, Reply
from workbench.workloads.server import Server
from workbench.workloads.wire import End, Wire

CALLS_KEPT = 10
"""Calls one after another on one connection."""

OF_LOAD = (408, 429)
"""Statuses that may depend on how busy the server is."""

STALL_S = (0.035, 0.060)
"""A call this slow has waited for a delayed acknowledgement, 40 ms on Linux."""
STALLS = (
    "A call on a connection it keeps takes {:.0f} ms: it sends a reply in pieces, and waits with"
    " the last for the client to acknowledge the first (Nagle's algorithm)."
)
DEAF = "It does not close a connection of HTTP/1.1 when it is asked to."


async def gate(wire: Wire, entry: Server) -> GateResult:
    """Test a call that ends with a close, several sequential ones on one connection, three
    pipelined."""
    must_close = "http/1.0" in entry.protocols
    first = await exactly(wire, request(entry, "HTTP/1.0"), must_close=must_close)
    check([first.reply], entry)
    for path in entry.also:
        other = await exactly(wire, request(entry, "HTTP/1.0", path=path))
        check([other.reply], entry, path)
    once = request(entry, "HTTP/1.1", "close")
    calls = (exactly(wire, once) for _ in range(CALLS))
    ends = await asyncio.gather(*calls)
    check([end.reply for end in ends], entry)
    deaf = any(end.how == "open" for end in ends)
    await after_reset(wire, request(entry, "HTTP/1.0"))
    asked = await wire.one_by_one(request(entry, "HTTP/1.0", "keep-alive"), CALLS_KEPT)
    check(asked, entry)
    one_call = found(entry, first, protocols=["http/1.0"], at=entry.path)
    kept_1_0 = len(asked) == CALLS_KEPT
    one_by_one = await wire.one_by_one(request(entry, "HTTP/1.1"), CALLS_KEPT)
    check(one_by_one, entry)
    if len(one_by_one) < CALLS_KEPT:
        closes = f"It closed the connection after {len(one_by_one)} of {CALLS_KEPT} calls"
        if "http/1.1" in entry.protocols:
            raise Fault(
                f"{closes}, so it does not keep connections alive; write"
                " `protocols: [http/1.0]` in its server.yaml."
            )
        text = f"{closes} of HTTP/1.1, so it is no server for that."
        return agreed(
            msgspec.structs.replace(
                one_call, keep_alive_1_0=kept_1_0, sentences=[*one_call.sentences, text]
            ),
            entry,
        )
    at_once = await wire.at_once(request(entry, "HTTP/1.1"), PIPELINED)
    check(at_once, entry)
    call_s = statistics.median(reply.took_s for reply in one_by_one)
    kept = f"It keeps connections alive; of {PIPELINED} calls sent at once it answered"
    result = msgspec.structs.replace(
        one_call,
        protocols=["http/1.0", "http/1.1"],
        keep_alive=True,
        keep_alive_1_0=kept_1_0,
        kept_bytes=one_by_one[0].size,
        kept_call_us=round(call_s * 1e6),
        pipelining=len(at_once),
        sentences=[
            *one_call.sentences,
            f"{kept} {len(at_once)}.",
            *([DEAF] if deaf else []),
            *stalls(one_by_one),
        ],
    )
    if "http/1.1" not in entry.protocols:
        return failed(entry, *result.sentences, "List http/1.1 among its protocols.")
    return agreed(result, entry)


def stalls(replies: Sequence[Reply]) -> list[str]:
    """Return a sentence where calls on a kept connection wait for a delayed acknowledgement."""
    call_s = statistics.median([reply.took_s for reply in replies] or [0.0])
    return [STALLS.format(call_s * 1000)] if STALL_S[0] <= call_s <= STALL_S[1] else []


async def exactly(wire: Wire, request: bytes, *, must_close: bool = False) -> End:
    """Make one call of which nothing comes after the reply. Raises Fault."""
    end = await wire.whole(request, must_close=must_close)
    if end.surplus:
        raise Fault(f"It sends {end.surplus} bytes after the end of its reply.")
    return end


async def asked(
    wire: Wire,
    entry: Server,
    result: GateResult,
    requests: Sequence[tuple[Request, bytes]],
    *,
    private: bool,
) -> GateResult:
    """Make each request of a plan once, as the bytes with it, and return the gate's result with
    these replies in place of its own; `private`: without their content. Raises BadInput if one
    whose reply neither the plan nor the server's entry states cannot succeed: a redirect, or an
    error of the request."""
    replies = {}
    for each, sent in requests:
        if each.method == "HEAD":
            continue  # Its reply is not parsed here.
        try:
            (reply,) = await wire.one_by_one(sent, 1)
        except Fault:
            continue  # The points of the run say more about it.
        if not each.reply(entry) and 300 <= reply.status < 500 and reply.status not in OF_LOAD:
            raise BadInput(
                f"{entry.name} answers {reply.status} to {each.method} {each.path}; correct the"
                f" request, or give it expect_status: {reply.status} to measure that reply."
            )
        replies[each.label] = reply
    return answering(result, replies, private=private) if replies else result

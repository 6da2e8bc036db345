"""The wire gate of HTTP."""

from __future__ import annotations

import asyncio
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from workbench.errors import BadInput
from workbench.formatting import continued
from workbench.untrusted import one_line
from workbench.workloads import gating
from workbench.workloads.http.requests import SAFE, Request
from workbench.workloads.wire import End, Fault, Reply, Wire

CALLS_KEPT = 10

OF_LOAD = (408, 429)
"""Statuses that may depend on how busy the server is."""

STALL_S = (0.035, 0.060)
"""A call this slow has waited for a delayed acknowledgement, 40 ms on Linux."""
STALLS = (
    "A call on a connection it keeps takes {:.0f} ms: it sends a reply in pieces, and waits with"
    " the last for the client to acknowledge the first (Nagle's algorithm)."
)
DEAF = "It does not close a connection of HTTP/1.1 when it is asked to."


async def gate(wire: Wire, entry: gating.Server) -> gating.GateResult:
    """Test a call that ends with a close, ten on one connection, three pipelined."""
    must_close = "http/1.0" in entry.protocols
    first = await exactly(wire, gating.request(entry, "HTTP/1.0"), must_close=must_close)
    gating.check([first.reply], entry)
    for path in entry.also:
        other = await exactly(wire, gating.request(entry, "HTTP/1.0", path=path))
        gating.check([other.reply], entry, path)
    once = gating.request(entry, "HTTP/1.1", "close")
    calls = (exactly(wire, once) for _ in range(gating.CALLS))
    ends = await asyncio.gather(*calls)
    gating.check([end.reply for end in ends], entry)
    deaf = any(end.how == "open" for end in ends)
    plain = gating.request(entry, "HTTP/1.0")
    await gating.after_reset(wire, plain, lambda: wire.whole(plain, must_close=False))
    asked = await wire.one_by_one(gating.request(entry, "HTTP/1.0", "keep-alive"), CALLS_KEPT)
    gating.check(asked, entry)
    one_call = gating.found(entry, first, protocols=["http/1.0"], at=entry.path)
    one_call = msgspec.structs.replace(one_call, keep_alive_1_0=len(asked) == CALLS_KEPT)
    one_by_one = await wire.one_by_one(gating.request(entry, "HTTP/1.1"), CALLS_KEPT)
    gating.check(one_by_one, entry)
    if len(one_by_one) < CALLS_KEPT:
        closes = f"It closed the connection after {len(one_by_one)} of {CALLS_KEPT} calls"
        if "http/1.1" in entry.protocols:
            raise Fault(
                f"{closes}, so it does not keep connections alive; write"
                " `protocols: [http/1.0]` in its server.yaml."
            )
        text = f"{closes} of HTTP/1.1, so it is no server for that."
        one_call = msgspec.structs.replace(one_call, sentences=[*one_call.sentences, text])
        return gating.agreed(one_call, entry)
    at_once = await wire.at_once(gating.request(entry, "HTTP/1.1"), gating.PIPELINED)
    gating.check(at_once, entry)
    call_s = statistics.median(reply.took_s for reply in one_by_one)
    kept = f"It keeps connections alive; of {gating.PIPELINED} calls sent at once it answered"
    result = msgspec.structs.replace(
        one_call,
        protocols=["http/1.0", "http/1.1"],
        keep_alive=True,
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
        return gating.failed(entry, *result.sentences, "List http/1.1 among its protocols.")
    return gating.agreed(result, entry)


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
    entry: gating.Server,
    result: gating.GateResult,
    requests: Sequence[tuple[Request, bytes]],
    *,
    private: bool,
) -> gating.GateResult:
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
    return gating.answering(result, replies, private=private) if replies else result


ASKED = 3
"""Calls of each request that changes nothing, to see what of its reply is constant."""
_LOCATION = re.compile(rb"\r\nlocation: *([^\r\n]+)", re.IGNORECASE)


async def probe(
    wire: Wire,
    entry: gating.Server,
    sent: Sequence[tuple[Request, bytes]],
    *,
    protocol: str,
    calls: int,
    private: bool,
) -> gating.Probed:
    """See `Declaration.probe`. `calls`: of a connection; `private`: record no content."""
    expected: dict[str, Mapping[str, Any]] = {}
    replies: dict[str, Reply] = {}
    sentences = []
    keeps = True
    for each, data in sent:
        if each.method == "HEAD":
            continue  # Its reply is not parsed here.
        wanted = ASKED if each.method in SAFE else 1
        try:
            found = await _asked(wire, data, wanted, to_the_end=protocol == "pong")
        except Fault as fault:
            said = f"{entry.name} cannot be measured: {continued(str(fault))}"
            if not wire.tls and fault.silent:
                said += " If it speaks TLS, begin its address with https://."
            raise BadInput(said) from None
        first = found[0]
        keeps = keeps and first.keep_alive
        if refusal := _refusal(entry, each, first):
            raise BadInput(refusal)
        replies[each.label] = first
        expected[each.label] = _checks(found)
        sentences += [_said(each, found), *stalls(found[1:])]
    if calls > 1 and not keeps:
        raise BadInput(
            f"{entry.name} closes the connection after each call, and the plan has {calls:,} calls"
            " on each; set calls_per_connection=1, or on_close=reconnect."
        )
    if not replies:
        await wire.connect()
    longest = max(replies.values(), key=lambda reply: reply.size, default=None)
    result = gating.GateResult(
        server=entry.id,
        passed=True,
        sentences=sentences or ["It accepts connections."],
        answers=sentences[0] if sentences else "",
        protocols=[protocol],
        reply=longest.raw[: gating.KEPT].decode("latin-1") if longest and not private else "",
        bytes_on_wire=longest.size if longest else 0,
        header_bytes=longest.header_bytes if longest else 0,
        keep_alive=keeps,
    )
    return result, expected


async def _asked(wire: Wire, data: bytes, wanted: int, *, to_the_end: bool) -> list[Reply]:
    """Return that many replies, several on a connection where the server keeps it. Raises Fault."""
    if to_the_end:
        return [(await wire.whole(data)).reply for _ in range(wanted)]
    found: list[Reply] = []
    while len(found) < wanted:
        found += await wire.one_by_one(data, wanted - len(found))
    return found


def _checks(found: Sequence[Reply]) -> Mapping[str, Any]:
    """Return what of the replies is constant, as a plan's checks."""
    first = found[0]
    checks: dict[str, Any] = {"status": first.status}
    if first.content_type and len({reply.content_type for reply in found}) == 1:
        checks["type"] = first.content_type
    if len(found) > 1 and len({reply.body_bytes for reply in found}) == 1:
        checks["bytes"] = first.body_bytes
    return checks


def _said(request: Request, found: Sequence[Reply]) -> str:
    sizes = sorted({reply.body_bytes for reply in found})
    size = f"{sizes[0]:,} bytes" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} bytes"
    kind = one_line(found[0].content_type) or "no type"
    what = f"{request.method} {request.path}"
    checked = "This is expected of each reply." if len(sizes) == 1 else "Its length varies."
    return f"It answers {what} with {found[0].status}, {kind}, {size}. {checked}"


def _refusal(entry: gating.Server, request: Request, reply: Reply) -> str:
    """Return why no call would succeed, and what to do; empty: they would."""
    status, what = reply.status, f"{request.method} {request.path}"
    wanted = request.checks.get("status") if request.checks else None
    if status == wanted or (wanted is None and 200 <= status < 300):
        return ""
    otherwise = f"or give expect_status: {status} to measure that reply."
    if 300 <= status < 400 and (place := _LOCATION.search(reply.raw)):
        to = one_line(place[1].decode("latin-1").strip())
        return f"{entry.name} redirects {what} to {to} ({status}); measure that, {otherwise}"
    if status in (401, 407):
        return (
            f"{entry.name} asks for a login at {what} ({status}); give the plan a header, such as"
            f" Authorization: {{secret: NAME}}, {otherwise}"
        )
    if status in (404, 410):
        return f"{entry.name} has no {request.path} ({status}); correct the path, {otherwise}"
    said = f"{entry.name} answers {status} to {what}; correct the request, {otherwise}"
    plain = status == 400 and entry.tls is None  # As nginx answers at a port of TLS.
    return said + " If it speaks TLS, begin its address with https://." * plain

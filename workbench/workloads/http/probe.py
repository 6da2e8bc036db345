"""Asks a server that is running already what a plan asks, before it is measured."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import BadInput
from workbench.formatting import continued
from workbench.untrusted import one_line
from workbench.workloads.gating import KEPT, GateResult
from workbench.workloads.http.gate import stalls
from workbench.workloads.http.requests import SAFE, Request
from workbench.workloads.reply import Fault, Reply
from workbench.workloads.server import Server
from workbench.workloads.wire import Wire

CALLS = 3
"""Of each request that changes nothing, to see what of its reply is constant."""
_LOCATION = re.compile(rb"\r\nlocation: *([^\r\n]+)", re.IGNORECASE)


async def probe(
    wire: Wire,
    entry: Server,
    sent: Sequence[tuple[Request, bytes]],
    *,
    protocol: str,
    calls: int,
    private: bool,
) -> tuple[GateResult, Mapping[str, Mapping[str, Any]]]:
    """See `Declaration.probe`. `calls`: that a connection is to have; `private`: no content of a
    reply may be recorded."""
    expected: dict[str, Mapping[str, Any]] = {}
    replies: dict[str, Reply] = {}
    sentences = []
    keeps = True
    for request, data in sent:
        if request.method == "HEAD":
            continue  # Its reply is not parsed here.
        wanted = CALLS if request.method in SAFE else 1
        try:
            found = await _asked(wire, data, wanted, to_the_end=protocol == "pong")
        except Fault as fault:
            said = f"{entry.name} cannot be measured: {continued(str(fault))}"
            if not wire.tls and fault.silent:
                said += " If it speaks TLS, begin its address with https://."
            raise BadInput(said) from None
        first = found[0]
        keeps = keeps and first.keep_alive
        if refusal := _refusal(entry, request, first):
            raise BadInput(refusal)
        replies[request.label] = first
        expected[request.label] = _checks(found)
        sentences += [_said(request, found), *stalls(found[1:])]
    if calls > 1 and not keeps:
        raise BadInput(
            f"{entry.name} closes the connection after each call, and the plan has {calls:,} calls"
            " on each; set calls_per_connection=1, or on_close=reconnect."
        )
    if not replies:
        await wire.connect()
    longest = max(replies.values(), key=lambda reply: reply.size, default=None)
    result = GateResult(
        server=entry.id,
        passed=True,
        sentences=sentences or ["It accepts connections."],
        answers=sentences[0] if sentences else "",
        protocols=[protocol],
        reply=longest.raw[:KEPT].decode("latin-1") if longest and not private else "",
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


def _refusal(entry: Server, request: Request, reply: Reply) -> str:
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

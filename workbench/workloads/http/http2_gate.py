"""The wire gate of HTTP/2."""

from __future__ import annotations

import statistics

import msgspec

from workbench.workloads.gating import CALLS_LEFT, GateResult, answer, check, request
from workbench.workloads.http.http2_wire import CLEARTEXT, OVER_TLS, Http2Wire
from workbench.workloads.reply import Fault
from workbench.workloads.server import Server
from workbench.workloads.wire import Wire

CALLS = 10
"""One after another on a connection, and at once as streams of another."""


async def gate(wire: Wire, entry: Server) -> GateResult:
    """Test calls one after another and at once, and clients that leave. A server that speaks it
    over TLS only is tested there; otherwise that it accepts connections."""
    key = OVER_TLS if wire.tls else CLEARTEXT
    if key not in entry.protocols:
        await wire.connect()
        said = ["It accepts connections; its HTTP/2 is tested over TLS only."]
        return GateResult(server=entry.id, passed=True, sentences=said, closes_first="client")
    wire = Http2Wire.like(wire)
    call = request(entry, "HTTP/2")
    one_by_one = await wire.one_by_one(call, CALLS)
    check(one_by_one, entry)
    if len(one_by_one) < CALLS:
        raise Fault(f"It ended the connection after {len(one_by_one)} of {CALLS} calls.")
    check(await wire.at_once(call, CALLS), entry)
    for path in entry.also:
        check(await wire.at_once(request(entry, "HTTP/2", path=path), 1), entry, path)
    for _ in range(CALLS_LEFT):
        await wire.leave(call)
    try:
        await wire.at_once(call, 1)
    except Fault as fault:
        raise Fault(f"It did not survive a client that reset its connection: {fault}") from None
    most = await wire.most_streams()
    limit = f"; it takes {most:,} at once" if most else ""
    reply = one_by_one[-1]
    answers = answer(entry.path, reply, reply.size)
    over = "over TLS" if wire.tls else "without TLS (h2c)"
    said = [answers, f"It speaks HTTP/2 {over}, and answered {CALLS} streams at once{limit}."]
    return GateResult(
        server=entry.id,
        passed=True,
        sentences=said,
        answers=answers,
        protocols=[key],
        reply=reply.raw.decode("latin-1"),
        bytes_on_wire=reply.size,
        header_bytes=reply.header_bytes,
        kept_bytes=reply.size,
        kept_call_us=round(1e6 * statistics.median(each.took_s for each in one_by_one)),
        closes_first="client",
    )


async def beside(wire: Wire, entry: Server, result: GateResult) -> GateResult:
    """Return the result of the gate of HTTP/1.1 with that of HTTP/2, where the server declares it
    for such connections."""
    if (OVER_TLS if wire.tls else CLEARTEXT) not in entry.protocols:
        return result
    found = await gate(wire, entry)
    return msgspec.structs.replace(
        result,
        protocols=[*result.protocols, *found.protocols],
        sentences=[*result.sentences, *found.sentences[1:]],
    )

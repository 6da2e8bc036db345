"""Sends a request of HTTP once to a running server, so that a user sees the reply."""

from __future__ import annotations

import msgspec

from workbench.errors import BadInput
from workbench.formatting import continued, duration, number_of
from workbench.machines.secrets import named
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import http_request
from workbench.servers.address import Running
from workbench.servers.catalogue import entry_of
from workbench.servers.running import wire_to
from workbench.untrusted import safe
from workbench.workloads.http.requests import Request
from workbench.workloads.wire import Fault


async def send_once(
    address: str, request: Request, *, protocol: str, insecure: bool = False
) -> tuple[str, str]:
    """Send the bytes that an agent would send. Returns a line with status, time and size, and the
    reply as text. Raises BadInput."""
    if request.method == "HEAD":
        raise BadInput("A reply to HEAD has no body and is not read here; send GET.")
    entry = entry_of(address, Running(insecure=insecure))
    secrets = await named(request.secrets)
    wire = await wire_to(entry)
    if protocol in ("http/2", "h2c"):
        from workbench.workloads.http.http2_gate import Http2Wire  # noqa: PLC0415  it brings h2

        wire = Http2Wire.like(wire)
    assert entry.running
    sent = msgspec.structs.replace(
        request,
        path=entry.path if request.path == "/" else request.path,
        headers={"Host": entry.running.address.authority, **request.headers},
    )
    load = Load(wire.host, wire.port, "http", options={"protocol": protocol})
    try:
        (reply,) = await wire.one_by_one(http_request(load, sent.driven(secrets)), 1)
    except Fault as fault:
        raise BadInput(f"{entry.name} sent no reply: {continued(str(fault))}") from None
    kind = f", {reply.content_type}" if reply.content_type else ""
    size = number_of(reply.body_bytes, "bytes")
    line = f"{reply.status} in {duration(reply.took_s * 1e6)}, {size}{kind}"
    head = reply.raw.partition(b"\r\n\r\n")[0].decode("latin-1").replace("\r\n", "\n")
    return safe(line), safe(f"{head}\n\n{reply.body.decode(errors='replace')}")

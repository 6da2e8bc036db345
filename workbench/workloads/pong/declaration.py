"""Ping-pong: what a plan says about it, and what it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar, Literal

import msgspec

from workbench.workloads import gating
from workbench.workloads.base import Protocol
from workbench.workloads.http import declaration as http
from workbench.workloads.options import Workload
from workbench.workloads.wire import Wire


class PongWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One call of HTTP/1.0 a connection, whose end is the server's close."""

    protocol: Literal["pong"] = "pong"
    path: str = "/"
    pipeline: http.Pipeline = 1
    """Always 1; plans of all times have it."""


class Pong(http.Http):
    """A request of HTTP, but read until the server closes, whatever comes after the body."""

    key = "pong"
    label = "Ping-pong"
    options = PongWorkload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "pong": Protocol("Ping-pong: read until close", "ping-pong over TCP", "ping-pong")
    }
    families: ClassVar[Mapping[str, str]] = {"socket": "Raw sockets"}
    axes = ()
    several_calls = False
    null_server = "null"

    async def gate(self, wire: Wire, entry: gating.Server) -> gating.GateResult:
        """Test that each connection gets one reply and is closed by the server."""
        asked = gating.request(entry, "HTTP/1.0")
        ends = [await wire.whole(asked) for _ in range(gating.CALLS)]
        ends += await asyncio.gather(*(wire.whole(asked) for _ in range(gating.CALLS)))
        gating.check([end.reply for end in ends], entry)
        again = await gating.after_reset(wire, asked, lambda: wire.whole(asked, must_close=False))
        ends.append(again)
        gating.check([ends[-1].reply], entry)
        result = gating.found(entry, ends[0], protocols=["pong"])
        if any(end.how == "reset" for end in ends):
            reset = "It ends connections with a reset, the request unread; the reply is complete."
            said = [*result.sentences, reset]
            result = msgspec.structs.replace(result, resets=True, sentences=said)
        return gating.agreed(result, entry)

    def able(self, gate: gating.GateResult) -> list[str]:
        return ["pong"] if "pong" in gate.protocols else []


DECLARATION = Pong()

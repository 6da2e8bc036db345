"""WebSocket: what a plan says about it, and what it takes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from workbench.errors import BadInput
from workbench.formatting import continued
from workbench.messages.problems import Problem
from workbench.remote.agent.websocket import LONGEST_MESSAGE
from workbench.workloads.base import Declaration, Protocol, Secrets, Varied
from workbench.workloads.gating import GateResult, Probed, Server
from workbench.workloads.http.requests import Tls, path_problems
from workbench.workloads.options import Workload
from workbench.workloads.websocket.gate import gate, one_echo, probe
from workbench.workloads.wire import Fault, Wire

SETTLE_S = 1.5
"""From the last connection of the ramp to the first message: TCP repeats an attempt after 1 s."""
WINDOW_S = 0.2
"""A ramp ends with a window of the report."""


class WebSocketWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Connections that are held, and messages on them."""

    protocol: Literal["websocket"]
    connections: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000
    connect_per_s: Annotated[float, Meta(gt=0, le=100_000)] = 500.0
    message_size: Annotated[int, Meta(ge=1, le=LONGEST_MESSAGE)] = 64
    p99_ms: Annotated[float, Meta(gt=0, le=600_000)] = 100.0
    reconnect_s: Annotated[float, Meta(ge=0, le=3_600)] = 1.0
    path: str = "/"
    tls: Tls = "none"

    @property
    def held(self) -> int:
        return self.connections

    @property
    def held_per_s(self) -> float:
        return self.connect_per_s

    @property
    def ramp_s(self) -> float:
        connecting_s = self.connections / self.connect_per_s + SETTLE_S
        return round(math.ceil(connecting_s / WINDOW_S - 1e-9) * WINDOW_S, 6)


class _Named(WebSocketWorkload, frozen=True, kw_only=True):
    """As a server is asked that runs already."""

    authority: str = ""


class WebSocket(Declaration):
    """Connections made in a ramp and held; few messages, and a ping on each at the end."""

    key = "websocket"
    label = "WebSocket"
    options: ClassVar[type[Workload]] = WebSocketWorkload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "websocket": Protocol("WebSocket, held open", "WebSocket", "WebSocket")
    }
    families: ClassVar[Mapping[str, str]] = {"websocket": "WebSocket"}
    axes: ClassVar[Sequence[Varied]] = (
        Varied("connections", scale="log", limit="highest"),
        Varied("message_size", scale="log"),
    )
    several_calls = False
    closed_loop = False
    counts = "messages"
    null_server = "null-websocket"

    def problems(self, workload: Any) -> Iterator[Problem]:
        yield from super().problems(workload)
        yield from path_problems(workload.path)

    def at(self, workload: Any, entry: Server) -> Any:
        given = msgspec.structs.asdict(super().at(workload, entry))
        return _Named(**given, authority=entry.authority)

    def request_bytes(self, workload: Any) -> int:
        return int(workload.message_size)

    def conditions(self, workload: Mapping[str, Any]) -> str:
        size, limit = workload.get("message_size"), workload.get("p99_ms")
        if not (isinstance(size, int) and isinstance(limit, int | float)):
            return "connections held open"
        return f"connections held open, messages of {size:,} bytes, p99 limit {limit:g} ms"

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        return closes_first == "client"

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        return await gate(wire, entry)

    async def probe(self, wire: Wire, workload: Any, entry: Server, secrets: Secrets) -> Probed:
        try:
            said = await probe(wire, workload)
        except Fault as fault:
            said = f"{entry.name} cannot be measured: {continued(str(fault))}"
            if not wire.tls and fault.silent:
                said += " If it speaks TLS, begin its address with wss://."
            raise BadInput(said) from None
        protocols = ["websocket"]
        return GateResult(server=entry.id, passed=True, sentences=[said], protocols=protocols), {}

    async def warm_up(self, wire: Wire, entry: Server) -> None:
        await one_echo(wire)


DECLARATION = WebSocket()

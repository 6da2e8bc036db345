"""HTTP/2: what a plan says about it, and what it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from workbench.workloads.base import Protocol, Secrets, Varied
from workbench.workloads.gating import GateResult, Server
from workbench.workloads.http.declaration import OfRequests, OneRequest
from workbench.workloads.options import Workload
from workbench.workloads.wire import Wire


class Http2Workload(OneRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls of HTTP/2, over TLS or without."""

    protocol: Literal["http/2", "h2c"]
    streams: Annotated[int, Meta(ge=1, le=10_000)] = 10


class Http2(OfRequests):
    """Streams on connections that are kept for the whole point."""

    key = "http2"
    label = "HTTP/2"
    options: ClassVar[type[Workload]] = Http2Workload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "http/2": Protocol("HTTP/2 over TLS", "HTTP/2 over TLS", "HTTP/2"),
        "h2c": Protocol("HTTP/2 without TLS", "HTTP/2 without TLS", "h2c"),
    }
    load_tool = "h2load"
    axes: ClassVar[Sequence[Varied]] = (Varied("streams", scale="log"),)
    several_calls = False

    def tls(self, workload: Any) -> Literal["", "full", "resumed"]:
        return "full" if workload.protocol == "http/2" else ""

    def conditions(self, workload: Mapping[str, Any]) -> str:
        streams = workload.get("streams")
        return f"{streams} streams on each connection" if streams else "kept connections"

    def driven(self, workload: Any, secrets: Secrets) -> dict[str, Any]:
        own = {"protocol": workload.protocol, "streams": workload.streams}
        return own | self._requests(workload)[0].driven(secrets)

    def unfit(self, workload: Any, entry: Server) -> str:
        if self.tls(workload) and entry.tls is None:
            return (
                f"{entry.name} does not terminate TLS; leave it out, or set workload.protocol to"
                " h2c."
            )
        return super().unfit(workload, entry)

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        return False  # A few connections for the whole point.

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        from workbench.workloads.http.http2_gate import gate  # noqa: PLC0415  it brings h2

        return await gate(wire, entry)

    def _wired(self, wire: Wire) -> Wire:
        from workbench.workloads.http.http2_gate import Http2Wire  # noqa: PLC0415

        return Http2Wire.like(wire)


DECLARATION = Http2()

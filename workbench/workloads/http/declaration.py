"""HTTP/1.0 and HTTP/1.1: what a plan says about them, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import msgspec

from workbench.messages import plans, workloads
from workbench.workloads.base import Protocol, Varied
from workbench.workloads.http import requests as http
from workbench.workloads.http.gate import gate
from workbench.workloads.http.versions import OfRequests, OneRequest
from workbench.workloads.options import Workload, about

if TYPE_CHECKING:
    from workbench.workloads.gating import GateResult
    from workbench.workloads.server import Server
    from workbench.workloads.wire import Wire

Pipeline = Annotated[
    int,
    about(
        "Pipeline",
        "calls outstanding on a connection",
        unit="outstanding",
        advanced=True,
        ge=1,
        le=1_000,
    ),
]


OnClose = Annotated[
    Literal["fail", "reconnect"],
    about(
        "On close",
        "where the server closes before all calls of a connection are made: the rest"
        " fail, or `reconnect` makes them on a new one and counts it, as `ab -k` and `wrk` do;"
        " after a timeout the rest fail",
        advanced=True,
    ),
]


class HttpWorkload(OneRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls of HTTP."""

    protocol: Annotated[Literal["http/1.0", "http/1.1"], about("Protocol")]
    expect_text: http.ExpectText = ""
    expect_type: http.ExpectType = ""
    expect_bytes: http.ExpectBytes = None
    requests: http.Requests = msgspec.field(default_factory=list)
    pipeline: Pipeline = 1
    on_close: OnClose = "fail"
    tls: http.Tls = "none"


class Http(OfRequests):
    """One call or many on a connection, sequential or pipelined."""

    key = "http"
    label = "HTTP"
    options: ClassVar[type[Workload]] = HttpWorkload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "http/1.0": Protocol("HTTP/1.0", "HTTP/1.0", "HTTP/1.0"),
        "http/1.1": Protocol("HTTP/1.1, kept alive", "HTTP/1.1", "HTTP/1.1"),
    }
    families: ClassVar[Mapping[str, str]] = {
        "wsgi": "WSGI and ASGI",
        "macro": "Database apps",
        "hello": "Hello World",
    }
    axes: ClassVar[Sequence[Varied]] = (Varied("pipeline"),)
    null_server = "null-http"

    def problems(self, workload: Any) -> Iterator[plans.Problem]:
        yield from super().problems(workload)
        if workload.pipeline > workload.calls_per_connection:
            yield workloads.PipelineTooDeep(pipeline=workload.pipeline)
        several = self._several(workload)
        alike = workload.pipeline == 1 and not workload.think_time_s and not several
        if self._reconnects(workload) and not alike:
            yield workloads.ReconnectAlone()

    def needs(self, workload: Any) -> str:
        # One that closes after each reply is connected to again.
        return "http/1.0" if self._reconnects(workload) else super().needs(workload)

    def _reconnects(self, workload: Any) -> bool:
        return getattr(workload, "on_close", "fail") == "reconnect"

    def _calls(self, workload: Any) -> int:
        return 1 if self._reconnects(workload) else super()._calls(workload)

    def driven(self, workload: Any, secrets: Mapping[str, str]) -> dict[str, Any]:
        requests = [each.driven(secrets) for each in self._requests(workload)]
        return {
            "protocol": workload.protocol,
            "pipeline": workload.pipeline,
            **({"requests": requests} if self._several(workload) else requests[0]),
            **({"private": True} if self.secrets(workload) else {}),
            **({"on_close": "reconnect"} if self._reconnects(workload) else {}),
        }

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        # A kept-alive connection is ended by who knows that no call follows: the client.
        kept = workload.protocol == "http/1.1"
        return kept or super().clients_close(workload, closes_first)

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        result = await gate(wire, entry)
        if not result.passed:
            return result
        from workbench.workloads.http.http2_gate import beside  # noqa: PLC0415  it brings h2

        return await beside(wire, entry, result)

    def able(self, gate: GateResult) -> list[str]:
        kept = "several calls on a connection"
        found = {
            "HTTP/1.0": "http/1.0" in gate.protocols,
            f"HTTP/1.0, {kept}": gate.keep_alive_1_0,
            f"HTTP/1.1, {kept}": gate.keep_alive,
            "HTTP/1.1, 3 calls at once": gate.pipelining == 3,
        }
        return [words for words, able in found.items() if able]


DECLARATION = Http()

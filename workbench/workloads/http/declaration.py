"""HTTP/1.0 and HTTP/1.1: what a plan says about them, and what they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from workbench.messages.problems import Problem, problem
from workbench.remote.agent.protocol import Load
from workbench.remote.agent.request import http_request
from workbench.workloads.base import Declaration, Protocol, Secrets, Varied
from workbench.workloads.gating import GateResult, Probed, Server
from workbench.workloads.http import requests as http
from workbench.workloads.http.gate import asked, gate, probe
from workbench.workloads.http.requests import Request
from workbench.workloads.options import Workload
from workbench.workloads.wire import Wire


class OneRequest(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The request that all calls make, unless a plan has several."""

    method: http.Method = "GET"
    path: str = "/"
    headers: http.Headers = msgspec.field(default_factory=dict)
    body: str = ""
    expect_status: http.Status = None


class OfRequests(Declaration):
    """What follows from the requests of a plan, in every version of HTTP."""

    statuses = True

    def problems(self, workload: Any) -> Iterator[Problem]:
        yield from super().problems(workload)
        if several := self._several(workload):
            yield from self._beside_requests(workload)
            for number, request in enumerate(several, 1):
                yield from http.problems(request, number)
        else:
            yield from http.problems(self._requests(workload)[0])

    def _beside_requests(self, workload: Any) -> Iterator[Problem]:
        defaults = Request(path="/")
        for name in http.OF_ONE:
            if name != "headers" and getattr(workload, name) != getattr(defaults, name):
                yield problem("beside-requests", f"workload.{name}")

    def _reconnects(self, workload: Any) -> bool:
        return getattr(workload, "on_close", "fail") == "reconnect"

    def _several(self, workload: Any) -> list[Request]:
        return list(getattr(workload, "requests", []))

    def _requests(self, workload: Any) -> list[Request]:
        """Return all requests, of one plan at least one; headers of the workload are of all."""
        given = {name: getattr(workload, name) for name in http.OF_ONE if hasattr(workload, name)}
        shared = given.get("headers", {})
        several = [
            msgspec.structs.replace(each, headers={**shared, **each.headers})
            for each in self._several(workload)
        ]
        return several or [Request(**given)]

    def requests(self, workload: Any) -> list[str]:
        return [request.label for request in self._several(workload)]

    def request_bytes(self, workload: Any) -> int:
        bodies = [len(each.body.encode()) for each in self._requests(workload)]
        return super().request_bytes(workload) + max(bodies)

    def secrets(self, workload: Any) -> set[str]:
        return set().union(*(each.secrets for each in self._requests(workload)))

    def unfit(self, workload: Any, entry: Server) -> str:
        if why := super().unfit(workload, entry):
            return why
        if entry.running:
            own = self._requests(workload)[0].path
            if entry.path == "/" or own in ("/", entry.path) or self._several(workload):
                return ""
            return (
                f"{entry.name} is to be asked for {entry.path}, and the plan asks for {own}; leave"
                " one of them out."
            )
        # A check of the plan says what such a server is to answer.
        paths = {each.path for each in self._requests(workload) if not each.checks}
        if "/" not in paths or "/" in entry.replies:
            return ""
        answered = " and ".join(entry.replies)
        return f"{entry.name} answers {answered}, not /. Give one of them as the workload's path."

    def suits(self, workload: Any, entry: Server) -> bool:
        if self.tls(workload) and entry.tls is None:
            return False
        return all(each.path in entry.replies for each in self._requests(workload))

    def asked(self, workload: Any) -> str:
        over = " over TLS" if self.tls(workload) else ""
        paths = dict.fromkeys(each.path for each in self._requests(workload))
        return f"{over} at {' and '.join(paths)}"

    def reply(self, workload: Any, entry: Server) -> dict[str, Any]:
        replies = [each.reply(entry) for each in self._requests(workload)]
        if not self._several(workload):
            return replies[0]
        return {"each": replies} if any(replies) else {}

    async def own_calls(
        self, wire: Wire, workload: Any, entry: Server, result: GateResult, secrets: Secrets
    ) -> GateResult:
        sent = self._sent(wire, workload, secrets)
        return await asked(self._wired(wire), entry, result, sent, private=bool(secrets))

    def _wired(self, wire: Wire) -> Wire:
        """Return the test client that speaks its version."""
        return wire

    def _sent(self, wire: Wire, workload: Any, secrets: Secrets) -> list[tuple[Request, bytes]]:
        load = Load(
            wire.host,
            wire.port,
            self.key,
            options={"protocol": workload.protocol},
            calls_per_connection=workload.calls_per_connection,
        )
        requests = self._requests(workload)
        return [(each, http_request(load, each.driven(secrets))) for each in requests]

    def at(self, workload: Any, entry: Server) -> Any:
        workload = workload if self._several(workload) else super().at(workload, entry)
        if entry.authority and hasattr(workload, "headers"):
            headers = {"Host": entry.authority, **workload.headers}
            workload = msgspec.structs.replace(workload, headers=headers)
        return workload

    def asks(self, workload: Any) -> list[tuple[str, str]]:
        return [(each.method, each.path) for each in self._requests(workload)]

    async def probe(self, wire: Wire, workload: Any, entry: Server, secrets: Secrets) -> Probed:
        return await probe(
            self._wired(wire),
            entry,
            self._sent(wire, workload, secrets),
            protocol=workload.protocol,
            calls=1 if self._reconnects(workload) else workload.calls_per_connection,
            private=bool(secrets),
        )


Pipeline = Annotated[int, Meta(ge=1, le=1_000)]


class HttpWorkload(OneRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls of HTTP."""

    protocol: Literal["http/1.0", "http/1.1"]
    expect_text: str = ""
    expect_type: str = ""
    expect_bytes: http.Length = None
    requests: http.Requests = msgspec.field(default_factory=list)
    pipeline: Pipeline = 1
    on_close: Literal["fail", "reconnect"] = "fail"
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

    def problems(self, workload: Any) -> Iterator[Problem]:
        yield from super().problems(workload)
        if workload.pipeline > workload.calls_per_connection:
            yield problem("pipeline-too-deep", pipeline=workload.pipeline)
        several = self._several(workload)
        alike = workload.pipeline == 1 and not workload.think_time_s and not several
        if self._reconnects(workload) and not alike:
            yield problem("reconnect-alone")

    def needs(self, workload: Any) -> str:
        # One that closes after each reply is connected to again.
        return "http/1.0" if self._reconnects(workload) else super().needs(workload)

    def driven(self, workload: Any, secrets: Secrets) -> dict[str, Any]:
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

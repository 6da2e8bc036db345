"""HTTP: what a plan says about it, and what it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from msgspec import Meta

from workbench.messages import plans
from workbench.workloads.base import Declaration, Protocol, Varied, Workload

if TYPE_CHECKING:
    from workbench.workloads.gating import GateResult
    from workbench.workloads.server import Server
    from workbench.workloads.wire import Wire

Path = Annotated[
    str,
    Meta(title="Path", description="of the request", extra_json_schema={"advanced": True}),
]
Pipeline = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000,
        title="Pipeline",
        description="calls outstanding on a connection",
        extra_json_schema={"unit": "outstanding", "advanced": True},
    ),
]


def path_problems(path: str) -> Iterator[plans.Problem]:
    if not re.fullmatch(r"/[\x21-\x7e]*", path):
        yield plans.InvalidPath()


class HttpWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Calls of HTTP."""

    protocol: Annotated[Literal["http/1.0", "http/1.1"], Meta(title="Protocol")]
    path: Path = "/"
    pipeline: Pipeline = 1


class Http(Declaration):
    """One call or many on a connection, one at a time or pipelined."""

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
        yield from path_problems(workload.path)
        if workload.pipeline > workload.calls_per_connection:
            yield plans.PipelineTooDeep(pipeline=workload.pipeline)

    def unfit(self, workload: Any, entry: Server) -> str:
        path = workload.path
        if path != "/" or path in entry.replies:
            return ""
        answered = " and ".join(entry.replies)
        return f"{entry.name} answers {answered}, not /. Give one of them as the workload's path."

    def suits(self, workload: Any, entry: Server) -> bool:
        return workload.path in entry.replies

    def asked(self, workload: Any) -> str:
        return f" at {workload.path}"

    def reply(self, workload: Any, entry: Server) -> dict[str, Any]:
        wanted = entry.replies.get(workload.path)
        if wanted is None:
            return {}
        return {"status": wanted.status, "body": wanted.body, "json": wanted.json}

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        # A kept-alive connection is ended by who knows that no call follows: the client.
        kept = workload.protocol == "http/1.1"
        return kept or super().clients_close(workload, closes_first)

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        from workbench.workloads.http.gate import gate  # noqa: PLC0415  it brings h11

        return await gate(wire, entry)

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

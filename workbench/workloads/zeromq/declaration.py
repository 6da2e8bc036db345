"""ZeroMQ: messages of one size, as the server's pattern has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from workbench import paths
from workbench.machines.bundle import Brought
from workbench.messages.problems import Problem, problem
from workbench.workloads.base import Declaration, Protocol, Varied
from workbench.workloads.options import Workload

MOST_QUEUED = 1 << 30
"""Bytes in the queue of one socket."""


class ZeromqWorkload(Workload, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Messages of one size over one transport."""

    protocol: Literal["zeromq"] = "zeromq"
    message_size: Annotated[int, Meta(ge=32, le=1 << 24)] = 64
    transport: Literal["tcp", "ipc", "inproc"] = "tcp"
    high_water_mark: Annotated[int, Meta(ge=1, le=1_000_000)] = 1_000


class Zeromq(Declaration):
    """One client socket; the server's entry decides the pattern."""

    key = "zeromq"
    label = "ZeroMQ"
    options: ClassVar[type[Workload]] = ZeromqWorkload
    protocols: ClassVar[Mapping[str, Protocol]] = {
        "zeromq": Protocol("ZeroMQ messages", "ZeroMQ messages", "ZeroMQ")
    }
    families: ClassVar[Mapping[str, str]] = {"message": "Messages"}
    load_tool = "zeromq"
    axes: ClassVar[Sequence[Varied]] = (Varied("message_size", scale="log"),)
    several_calls = False
    counts = "messages"

    def problems(self, workload: Any) -> Iterator[Problem]:
        yield from super().problems(workload)
        queued = workload.message_size * workload.high_water_mark
        if queued > MOST_QUEUED:
            yield problem(
                "queues-too-large",
                message_size=workload.message_size,
                high_water_mark=workload.high_water_mark,
                most_gib=MOST_QUEUED / (1 << 30),
            )

    def one_client(self, workload: Any) -> str:
        return "The transport inproc" if workload.transport == "inproc" else ""

    def conditions(self, workload: Mapping[str, Any]) -> str:
        mark = workload.get("high_water_mark")
        queues = f", high-water mark {mark:,}" if isinstance(mark, int) else ""
        return f"over {workload.get('transport', 'tcp')}{queues}"

    def payload_bytes(self, workload: Any) -> int:
        return int(workload.message_size)

    def brought(self, workload: Any) -> Brought | None:
        if workload.transport != "inproc":
            return None
        server = paths.RESOURCES / "apps" / "zeromq.py"
        return Brought(files={server.name: server}, packages_here=True)

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        return False  # One connection for all messages of a point.


DECLARATION = Zeromq()

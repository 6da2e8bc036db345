"""The declaration of a workload: its fields in a plan, its requirements and its cost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

from workbench.axis import Axis
from workbench.consent import ForeignCode
from workbench.machines.bundle import Brought
from workbench.messages.plans import Warned
from workbench.messages.problems import Problem, problem
from workbench.workloads.gating import GateResult, Probed, Server, request
from workbench.workloads.options import Workload, fields
from workbench.workloads.wire import Wire

Secrets: TypeAlias = Mapping[str, str]
"""Values by the names that a plan has."""


@dataclass(frozen=True)
class Varied:
    """A numeric field of a workload that a plan may vary from point to point."""

    key: str
    scale: Literal["linear", "log"] = "linear"
    limit: Literal["highest", "none"] = "none"
    """See `axis.Axis`. The client limit is a rate, so none of these is calibrated."""


@dataclass(frozen=True)
class Protocol:
    """A protocol of servers, for display."""

    label: str
    """In a choice: "HTTP/1.1, kept alive"."""
    phrase: str
    """Among the conditions of a run: "ping-pong over TCP"."""
    short: str
    """In a list: "ping-pong"."""


class Declaration:
    """A workload. The defaults are those of one call after another over TCP."""

    key: ClassVar[str]
    """The name of its folder; its driver is the file of that name in `remote/drivers`."""
    label: ClassVar[str]
    noun: ClassVar[str] = ""
    """What a load tool runs of it, in a sentence; empty: the label."""
    options: ClassVar[type[Workload]]
    protocols: ClassVar[Mapping[str, Protocol]]
    """By key in plans and in `server.yaml`: what a server must speak."""
    families: ClassVar[Mapping[str, str]] = {}
    """Families of the servers made for it: `family` in `server.yaml`, and its name for display."""
    implied_by: ClassVar[str] = ""
    """The key that makes a workload without a protocol one of these; empty: none."""
    spoken: ClassVar[Sequence[str]] = ()
    """Protocols of which a server must speak one, where the plan's is not that of a server."""
    load_tool: ClassVar[str] = "agent"
    """Its load tool unless a plan names one. The agent needs a driver in `remote/drivers`."""
    engines: ClassVar[Mapping[str, str]] = {}
    """Where its key `engine` decides what generates the load: the load tool of each."""
    axes: ClassVar[Sequence[Varied]] = ()
    """What a plan may vary in place of the load, by `vary`."""
    several_calls: ClassVar[bool] = True
    """Whether a connection can have several calls."""
    closed_loop: ClassVar[bool] = True
    """Whether it has the mode `closed`."""
    counts: ClassVar[str] = ""
    """What calls are named, and what rates count; empty: replies, and connections or requests."""
    concurrent: ClassVar[str] = ""
    """What a closed loop has a fixed number of; empty: connections."""
    statuses: ClassVar[bool] = False
    """Whether replies have statuses, so that errors are split as HTTP's."""
    null_server: ClassVar[str] = ""
    """Id of the server for calibrating the clients; empty: there is none."""

    def tool(self, workload: Any) -> str:
        """Return what generates its load unless a plan names another tool."""
        return self.engines[workload.engine] if self.engines else self.load_tool

    @property
    def own_tools(self) -> list[str]:
        """What `tool` may return."""
        return [self.load_tool, *self.engines.values()]

    def answers(self, workload: Any) -> str:
        """Return what answered calls of it are; see `counts`."""
        return self.counts

    def remarks(self, workload: Any) -> Iterator[Warned]:
        """Return what a reader should know of it before a run."""
        return iter(())

    def axis(self, key: str, values: Sequence[float]) -> Axis | None:
        """Return the axis of one of its fields; None: it cannot be varied."""
        varied = next((each for each in self.axes if each.key == key), None)
        field = next((each for each in fields(self.options) if each.key == key), None)
        if varied is None or field is None:
            return None
        return Axis(
            key=key,
            label=field.label,
            unit=field.unit,
            scale=varied.scale,
            values=[float(value) for value in values],
            limit=varied.limit,
        )

    def problems(self, workload: Any) -> Iterator[Problem]:
        """Return all problems beyond the bounds of single fields."""
        if workload.calls_per_connection > 1 and not self.several_calls:
            yield problem("one-call-only", protocol=workload.protocol)
        if workload.mode == "closed" and not self.closed_loop:
            yield problem("no-closed-loop", workload=self.label)

    def unfit(self, workload: Any, entry: Server) -> str:
        """Return why a server that speaks the protocol cannot be measured; empty: it can."""
        if entry.running and entry.tls is not None and getattr(workload, "tls", "") == "none":
            return f"{entry.name} is reached over TLS; set workload.tls to full."
        if self.tls(workload) and entry.tls is None:
            return (
                f"{entry.name} does not terminate TLS; leave it out, or set workload.tls to none."
            )
        return ""

    def one_client(self, workload: Any) -> str:
        """Return what leaves room for one client only, as a subject; empty: nothing."""
        return ""

    def suits(self, workload: Any, entry: Server) -> bool:
        """Return whether a server that speaks it is included with its family."""
        return not self.unfit(workload, entry)

    def asked(self, workload: Any) -> str:
        """Return its requirement beyond the protocol, as the end of a sentence: " at /json"."""
        return ""

    def driven(self, workload: Any, secrets: Secrets) -> dict[str, Any]:
        """Return its options for the driver. `secrets`: values by the names that it has."""
        options: dict[str, Any] = workload.own
        return options

    def brought(self, workload: Any) -> Brought | None:
        """Return what it brings to the clients beside the agent; None: nothing."""
        return None

    def foreign_code(self, workload: Any, clients: Sequence[str]) -> ForeignCode | None:
        """Return the user's program that it runs on the clients, for consent; None: none."""
        return None

    def secrets(self, workload: Any) -> set[str]:
        """Return the names of the secrets that it takes from the environment or the keyring."""
        return set()

    def tls(self, workload: Any) -> Literal["", "full", "resumed"]:
        """Return how clients use TLS: full handshakes, or resumed sessions; empty: not."""
        how: Literal["none", "full", "resumed"] = getattr(workload, "tls", "none")
        return "" if how == "none" else how

    def found(self, workload: Any) -> Mapping[str, str]:
        """Return by its keys what their values turned out to be, for display."""
        return {}

    def requests(self, workload: Any) -> list[str]:
        """Return labels of its several requests, whose results are recorded each; empty: one."""
        return []

    def conditions(self, workload: Mapping[str, Any]) -> str:
        """Describe a recorded workload in place of its calls per connection; empty: by them."""
        return ""

    def reply(self, workload: Any, entry: Server) -> dict[str, Any]:
        """Return the expected response, for the driver; empty: the driver knows it."""
        return {}

    def payload_bytes(self, workload: Any) -> int | None:
        """Return the size of a reply's payload; None: the server decides it."""
        return None

    def request_bytes(self, workload: Any) -> int:
        """Return how many bytes clients send for a call, about."""
        return 100

    def p99_limit_ms(self, workload: Workload) -> float | None:
        """Return the p99 of the latency above which a value is not sustained; None: any is."""
        limit: float | None = getattr(workload, "p99_ms", None)
        return limit

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        """Return whether clients end connections. `closes_first`: who does after one call."""
        return closes_first == "client" or workload.calls_per_connection > 1

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        """Test a server's actual responses. Raises `wire.Fault`."""
        raise NotImplementedError

    async def own_calls(
        self, wire: Wire, workload: Any, entry: Server, result: GateResult, secrets: Secrets
    ) -> GateResult:
        """Make calls of the plan where they are not the gate's. Returns the gate's result with what
        they were answered. Raises BadInput where none would succeed. `secrets`: as of `driven`."""
        return result

    def needs(self, workload: Any) -> str:
        """Return what a server has to speak for a workload."""
        protocol: str = workload.protocol
        return protocol

    def serves(self, protocol: str, protocols: Collection[str]) -> bool:
        """Return whether a server that speaks `protocols` can be measured with a plan's one."""
        return any(wanted in protocols for wanted in self.spoken or (protocol,))

    def at(self, workload: Any, entry: Server) -> Any:
        """Return the workload as a server is asked: a running one by its own path and name."""
        if entry.running and getattr(workload, "path", "") == "/":
            return msgspec.structs.replace(workload, path=entry.path)
        return workload

    def asks(self, workload: Any) -> list[tuple[str, str]]:
        """Return method and path of each request of HTTP; empty: it makes none."""
        return []

    async def probe(self, wire: Wire, workload: Any, entry: Server, secrets: Secrets) -> Probed:
        """Ask a running server what the plan asks, in place of the gate. Returns what it answered,
        also as checks by label of the requests. Raises BadInput where no call would succeed.
        `workload`: from `at`; `secrets`: as of `driven`."""
        await wire.connect()
        said = ["It accepts connections."]
        return GateResult(server=entry.id, passed=True, sentences=said), {}

    def able(self, gate: GateResult) -> list[str]:
        """Describe what a gated server can be measured with."""
        return [protocol.label for key, protocol in self.protocols.items() if key in gate.protocols]

    async def warm_up(self, wire: Wire, entry: Server) -> None:
        """Make one call on a new connection. Raises `wire.Fault`."""
        await wire.whole(request(entry, "HTTP/1.0"))

"""The declaration of a workload: its fields in a plan, its requirements and its cost."""

from __future__ import annotations

import asyncio
import math
import typing
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import NODEFAULT, Meta, inspect

from workbench import formatting
from workbench.axis import Axis
from workbench.messages.plans import NoClosedLoop, OneCallOnly

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.machines.bundle import Brought
    from workbench.messages.plans import Problem
    from workbench.workloads.gating import GateResult
    from workbench.workloads.server import Server
    from workbench.workloads.wire import Wire

Arrivals: TypeAlias = Literal["uniform", "poisson"]
Kind: TypeAlias = Literal["choice", "whole number", "number", "text", "lines", "data"]
Mode: TypeAlias = Literal["open", "closed"]
ThinkTimes: TypeAlias = Literal["constant", "exponential"]


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one client does with one connection: the keys that all workloads have.

    A declaration adds its own in a subclass. `Meta` holds bounds, and for people: `title`,
    `description`, and in `extra_json_schema` the unit and whether it is `advanced`: folded away.
    """

    protocol: Annotated[str, Meta(title="Protocol")]
    calls_per_connection: Annotated[
        int,
        Meta(
            ge=1,
            le=1_000_000,
            title="Calls",
            description="per connection, one after another",
        ),
    ] = 1
    think_time_s: Annotated[
        float,
        Meta(
            ge=0,
            le=3_600,
            title="Think time",
            description="between a reply and the next call of its connection",
            extra_json_schema={"unit": "s", "advanced": True},
        ),
    ] = 0.0
    think_times: Annotated[
        ThinkTimes,
        Meta(
            title="Think times",
            description="`constant`, or `exponential` with that mean, seeded",
            extra_json_schema={"advanced": True},
        ),
    ] = "constant"
    timeout_s: Annotated[
        float,
        Meta(
            gt=0,
            le=600,
            title="Timeout",
            description="of each call",
            extra_json_schema={"unit": "s"},
        ),
    ] = 5.0
    arrivals: Annotated[
        Arrivals, Meta(title="Arrivals", description="`uniform`, or `poisson`, seeded")
    ] = "uniform"
    mode: Annotated[
        Mode,
        Meta(
            title="Mode",
            description="`closed`: a fixed number of concurrent connections; give `concurrency` in"
            " place of `rates`",
        ),
    ] = "open"

    @property
    def own(self) -> dict[str, Any]:
        """The protocol and the declaration's own fields, for the driver."""
        common = set(Workload.__struct_fields__) - {"protocol"}
        data = msgspec.structs.asdict(self)
        return {name: value for name, value in data.items() if name not in common}


@dataclass(frozen=True)
class LoadModel:
    """A load model: the combination of `mode` and `arrivals`."""

    mode: Mode
    arrivals: Arrivals
    label: str
    help: str
    """Sentences."""


LOAD_MODELS = (
    LoadModel(
        "open",
        "uniform",
        "Constant rate",
        "Evenly spaced calls, sent on schedule whether or not the server answers.",
    ),
    LoadModel(
        "open",
        "poisson",
        "Poisson arrivals",
        "Randomly spaced calls, as from independent visitors, sent whether or not the server"
        " answers.",
    ),
    LoadModel(
        "closed",
        "uniform",
        "Fixed concurrency",
        "Finished connections are replaced. Load slows with the server, so stalls are"
        " under-reported.",
    ),
)


@dataclass(frozen=True)
class Field:
    """A key of a workload, for forms and documentation."""

    key: str
    label: str
    help: str
    unit: str
    default: Any
    """None: it is required, or may be left empty."""
    kind: Kind
    """lines: text that may have several; data: a mapping or a list, written as YAML."""
    choices: tuple[Any, ...] = ()
    advanced: bool = False
    """Rarely changed."""
    least: float | None = None
    most: float | None = None

    def text(self, value: Any) -> str:
        """Format a value with its unit: "10 calls"."""
        if value is None or value in ("", {}, []):
            return "none"
        if isinstance(value, dict | list):
            return msgspec.json.encode(value).decode()
        figure = f"{value:,}" if isinstance(value, int) else f"{value}".removesuffix(".0")
        return formatting.counted(figure, f" {self.unit}".rstrip())


@cache
def fields(options: type[Workload]) -> tuple[Field, ...]:
    """Return the fields of a declaration, its own last."""
    return tuple(_fields(options))


def _fields(options: type[Workload]) -> Iterator[Field]:
    hints = typing.get_type_hints(options, include_extras=True)
    for field in msgspec.structs.fields(options):
        hint = hints[field.name]
        meta = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Meta)), Meta())
        type_, extra = inspect.type_info(hint), meta.extra_json_schema or {}
        while isinstance(type_, inspect.Metadata):
            type_ = type_.type
        if isinstance(type_, inspect.UnionType):  # It may be left empty.
            type_ = next(t for t in type_.types if not isinstance(t, inspect.NoneType))
        while isinstance(type_, inspect.Metadata):
            type_ = type_.type
        kind: Kind = "lines" if extra.get("lines") else "text"
        choices: tuple[Any, ...] = ()
        if isinstance(type_, inspect.LiteralType):
            kind, choices = "choice", tuple(type_.values)
        elif isinstance(type_, inspect.IntType):
            kind = "whole number"
        elif isinstance(type_, inspect.FloatType):
            kind = "number"
        elif isinstance(type_, inspect.DictType | inspect.ListType):
            kind = "data"
        default = field.default
        if field.default_factory is not NODEFAULT:
            default = field.default_factory()
        yield Field(
            key=field.name,
            label=meta.title or field.name,
            help=meta.description or "",
            unit=extra.get("unit", ""),
            advanced=extra.get("advanced", False),
            default=None if default is NODEFAULT else default,
            kind=kind,
            choices=choices,
            least=meta.ge if meta.ge is not None else meta.gt,
            most=meta.le,
        )


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
    """The name of its folder; its driver is `driver.py` there."""
    label: ClassVar[str]
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
    """What generates its load unless a plan names another tool. The agent needs a `driver.py`."""
    axes: ClassVar[Sequence[Varied]] = ()
    """What a plan may vary in place of the load, by `vary`."""
    several_calls: ClassVar[bool] = True
    """Whether a connection can have several calls."""
    closed_loop: ClassVar[bool] = True
    """Whether it has the mode `closed`."""
    counts: ClassVar[str] = ""
    """What rates count; empty: connections or requests."""
    concurrent: ClassVar[str] = ""
    """What a closed loop has a fixed number of; empty: connections."""
    null_server: ClassVar[str] = ""
    """Id of the server for calibrating the clients; empty: there is none."""

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
            yield OneCallOnly(protocol=workload.protocol)
        if workload.mode == "closed" and not self.closed_loop:
            yield NoClosedLoop(workload=self.label)

    def unfit(self, workload: Any, entry: Server) -> str:
        """Return why a server that speaks the protocol cannot be measured; empty: it can."""
        return ""

    def suits(self, workload: Any, entry: Server) -> bool:
        """Return whether a server that speaks the protocol is included when a family is
        selected."""
        return not self.unfit(workload, entry)

    def asked(self, workload: Any) -> str:
        """Return its requirement beyond the protocol, as the end of a sentence: " at /json"."""
        return ""

    def driven(self, workload: Any, secrets: Mapping[str, str]) -> dict[str, Any]:
        """Return its options for the driver. `secrets`: values by the names that it has."""
        options: dict[str, Any] = workload.own
        return options

    def brought(self, workload: Any) -> Brought | None:
        """Return what it brings to the clients beside its folder; None: nothing."""
        return None

    def foreign_code(self, workload: Any) -> Path | None:
        """Return the user's program that it runs on the clients, for consent; None: none."""
        return None

    def secrets(self, workload: Any) -> set[str]:
        """Return the names of the secrets that it takes from the environment or the keyring."""
        return set()

    def tls(self, workload: Any) -> Literal["", "full", "resumed"]:
        """Return how clients use TLS: full handshakes, or resumed sessions; empty: not."""
        return ""

    def own_errors(self, workload: Any) -> bool:
        """Return whether calls may fail in classes that httperf does not have."""
        return False

    def requests(self, workload: Any) -> list[str]:
        """Return labels of its several requests, whose results are recorded each; empty: one."""
        return []

    def conditions(self, workload: Mapping[str, Any]) -> str:
        """Describe a recorded workload in place of its calls per connection; empty: by them."""
        return ""

    def reply(self, workload: Any, entry: Server) -> dict[str, Any]:
        """Return the expected response, for the driver; empty: the driver knows it."""
        return {}

    def calls(self, workload: Workload) -> int:
        """Return the calls (samples) of one connection."""
        return workload.calls_per_connection

    def payload_bytes(self, workload: Any) -> int | None:
        """Return the size of a reply's payload; None: the server decides it."""
        return None

    def stay_s(self, workload: Workload) -> float:
        """Return how long, on average, the workload alone keeps a connection open."""
        return (workload.calls_per_connection - 1) * workload.think_time_s

    def longest_stay_s(self, workload: Workload) -> float:
        """Return how long it keeps nearly all of them open: with random think times two standard
        deviations longer. By then connections end as often as they begin."""
        thinks = workload.calls_per_connection - 1
        spread = 2 * math.sqrt(thinks) if workload.think_times == "exponential" else 0.0
        return (thinks + spread) * workload.think_time_s

    def held(self, workload: Workload) -> int:
        """Return the connections that are made before a point's schedule and held open until after
        it; the schedule then has calls on them. 0: connections come and go."""
        return 0

    def held_per_s(self, workload: Workload) -> float:
        """Return how many of these are made per second."""
        return 0.0

    def ramp_s(self, workload: Workload) -> float:
        """Return how long making them takes."""
        return 0.0

    def drain_s(self, workload: Workload) -> float:
        """Return how long a point goes on after its schedule if every call is answered at once."""
        return 0.0

    def p99_limit_ms(self, workload: Workload) -> float | None:
        """Return the p99 of the latency above which a value is not sustained; None: any is."""
        return None

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        """Return whether clients end connections, which occupies their ports. `closes_first`: who
        ends one after one call."""
        return closes_first == "client" or workload.calls_per_connection > 1

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        """Test a server's actual responses. Raises `wire.Fault`."""
        raise NotImplementedError

    def serves(self, protocol: str, protocols: Collection[str]) -> bool:
        """Return whether a server that speaks `protocols` can be measured with a plan's one."""
        return any(wanted in protocols for wanted in self.spoken or (protocol,))

    def able(self, gate: GateResult) -> list[str]:
        """Describe what a gated server can be measured with."""
        return [protocol.label for key, protocol in self.protocols.items() if key in gate.protocols]

    async def warm_up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, entry: Server
    ) -> bool:
        """Make one call on a new connection. Returns whether it was answered."""
        writer.write(f"GET {entry.path} HTTP/1.0\r\nHost: pongbench\r\n\r\n".encode())
        return bool(await reader.read())

"""What a workload declares: its fields in a plan, what it needs of a server, what it costs."""

from __future__ import annotations

import asyncio
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import NODEFAULT, Meta, inspect

from workbench.axis import Axis

if TYPE_CHECKING:
    from workbench.messages.plans import Problem
    from workbench.workloads.gating import GateResult
    from workbench.workloads.server import Server
    from workbench.workloads.wire import Wire

Arrivals: TypeAlias = Literal["uniform", "poisson"]
Mode: TypeAlias = Literal["open", "closed"]


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
            description="`closed`: so many connections at a time; give `concurrency` in place of"
            " `rates`",
        ),
    ] = "open"

    @property
    def own(self) -> dict[str, Any]:
        """The protocol, and what the declaration adds; for the driver."""
        common = set(Workload.__struct_fields__) - {"protocol"}
        data = msgspec.structs.asdict(self)
        return {name: value for name, value in data.items() if name not in common}


@dataclass(frozen=True)
class LoadModel:
    """How connections begin: what `mode` and `arrivals` say together."""

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
        "Connections are replaced as they finish. The load slows down with the server, so stalls"
        " are under-reported.",
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
    """None: it has to be given."""
    kind: Literal["choice", "whole number", "number", "text"]
    choices: tuple[Any, ...] = ()
    advanced: bool = False
    """Few people change it."""
    least: float | None = None
    most: float | None = None

    def text(self, value: Any) -> str:
        """A value with its unit: "10 calls"."""
        figure = f"{value:,}" if isinstance(value, int) else f"{value}".removesuffix(".0")
        return f"{figure} {self.unit}".strip()


@cache
def fields(options: type[Workload]) -> tuple[Field, ...]:
    """Of a declaration, its own last."""
    return tuple(_fields(options))


def _fields(options: type[Workload]) -> Iterator[Field]:
    hints = typing.get_type_hints(options, include_extras=True)
    for field in msgspec.structs.fields(options):
        hint = hints[field.name]
        meta = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Meta)), Meta())
        type_, extra = inspect.type_info(hint), meta.extra_json_schema or {}
        while isinstance(type_, inspect.Metadata):
            type_ = type_.type
        kind: Literal["choice", "whole number", "number", "text"] = "text"
        choices: tuple[Any, ...] = ()
        if isinstance(type_, inspect.LiteralType):
            kind, choices = "choice", tuple(type_.values)
        elif isinstance(type_, inspect.IntType):
            kind = "whole number"
        elif isinstance(type_, inspect.FloatType):
            kind = "number"
        yield Field(
            key=field.name,
            label=meta.title or field.name,
            help=meta.description or "",
            unit=extra.get("unit", ""),
            advanced=extra.get("advanced", False),
            default=None if field.default is NODEFAULT else field.default,
            kind=kind,
            choices=choices,
            least=meta.ge if meta.ge is not None else meta.gt,
            most=meta.le,
        )


@dataclass(frozen=True)
class Varied:
    """A field of a workload that a plan may vary from point to point; a number."""

    key: str
    scale: Literal["linear", "log"] = "linear"
    limit: Literal["highest", "none"] = "none"
    """See `axis.Axis`. The clients' own ceiling is one of rates, so none of these is calibrated."""


@dataclass(frozen=True)
class Protocol:
    """What a server says that it speaks, in words."""

    label: str
    """As a choice: "HTTP/1.1, kept alive"."""
    phrase: str
    """Among the conditions of a run: "ping-pong over TCP"."""
    short: str
    """In a list: "ping-pong"."""


class Declaration:
    """A workload. What is not overridden is that of one call after another over TCP."""

    key: ClassVar[str]
    """The name of its folder; its driver is `driver.py` there."""
    label: ClassVar[str]
    options: ClassVar[type[Workload]]
    protocols: ClassVar[Mapping[str, Protocol]]
    """By their keys in plans and in `server.yaml`: what a server must speak."""
    families: ClassVar[Sequence[str]] = ()
    """Of servers, made for it."""
    driven_by_agent: ClassVar[bool] = True
    """Is there a `driver.py`? Otherwise a load tool of its own runs it."""
    axes: ClassVar[Sequence[Varied]] = ()
    """What a plan may vary in place of the load, by `vary`."""
    several_calls: ClassVar[bool] = True
    """Can a connection have more than one?"""
    null_server: ClassVar[str] = ""
    """Id of the server that finds the clients' own limit; empty: there is none."""

    def axis(self, key: str, values: Sequence[float]) -> Axis | None:
        """Of one of its fields; None: that is none to be varied."""
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
        """All that makes no sense beyond bounds."""
        yield from ()

    def unfit(self, workload: Any, entry: Server) -> str:
        """Why a server that speaks the protocol cannot be measured with it; empty: it can."""
        return ""

    def suits(self, workload: Any, entry: Server) -> bool:
        """Is a server that speaks the protocol among those that a whole family stands for?"""
        return not self.unfit(workload, entry)

    def asked(self, workload: Any) -> str:
        """What it asks of a server beyond the protocol, as the end of a sentence: " at /json"."""
        return ""

    def reply(self, workload: Any, entry: Server) -> dict[str, Any]:
        """What the server has to answer, for the driver; empty: the driver knows."""
        return {}

    def calls(self, workload: Workload) -> int:
        """Samples: of one connection."""
        return workload.calls_per_connection

    def stay_s(self, workload: Workload) -> float:
        """How long the workload alone keeps a connection, and its descriptor, open."""
        return (workload.calls_per_connection - 1) * workload.think_time_s

    def clients_close(self, workload: Workload, closes_first: str) -> bool:
        """Do clients end connections, which holds their ports? `closes_first`: who does after one
        call."""
        return closes_first == "client" or workload.calls_per_connection > 1

    async def gate(self, wire: Wire, entry: Server) -> GateResult:
        """Look at what a server really answers. Raises `wire.Fault`."""
        raise NotImplementedError

    def able(self, gate: GateResult) -> list[str]:
        """What a server that was gated can be measured with, in words."""
        return [said.label for key, said in self.protocols.items() if key in gate.protocols]

    async def warm_up(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, entry: Server
    ) -> bool:
        """One call on a new connection; was it answered?"""
        writer.write(f"GET {entry.path} HTTP/1.0\r\nHost: pongbench\r\n\r\n".encode())
        return bool(await reader.read())

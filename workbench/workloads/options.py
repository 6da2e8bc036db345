"""What a plan states of a workload: the keys that all have, and the load models. What is said of
each key is in `resources/keys.yaml`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import NODEFAULT, Meta, inspect

from workbench import formatting, paths
from workbench.analysis import phases
from workbench.config.yaml import convert, load_yaml

Arrivals: TypeAlias = Literal["uniform", "poisson"]
Mode: TypeAlias = Literal["open", "closed"]
ThinkTimes: TypeAlias = Literal["constant", "exponential"]


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one client does with one connection: the keys that all workloads have."""

    protocol: str
    calls_per_connection: Annotated[int, Meta(ge=1, le=1_000_000)] = 1
    think_time_s: Annotated[float, Meta(ge=0, le=3_600)] = 0.0
    think_times: ThinkTimes = "constant"
    timeout_s: Annotated[float, Meta(gt=0, le=600)] = 5.0
    arrivals: Arrivals = "uniform"
    mode: Mode = "open"

    @property
    def own(self) -> dict[str, Any]:
        """The protocol and the declaration's own fields, for the driver."""
        common = set(Workload.__struct_fields__) - {"protocol"}
        data = msgspec.structs.asdict(self)
        return {name: value for name, value in data.items() if name not in common}

    @property
    def stay_s(self) -> float:
        """How long, on average, it alone keeps a connection open."""
        return (self.calls_per_connection - 1) * self.think_time_s

    @property
    def longest_stay_s(self) -> float:
        """How long it keeps nearly all of them open: load rises and drains so long."""
        return phases.longest_stay_s(self.calls_per_connection, self.think_time_s, self.think_times)

    @property
    def held(self) -> int:
        """Connections that are made before a point's schedule and held open until after it; the
        schedule then has calls on them. 0: connections come and go."""
        return 0

    @property
    def held_per_s(self) -> float:
        """How many of these are made per second."""
        return 0.0

    @property
    def ramp_s(self) -> float:
        """How long making them takes: part of the length of a point."""
        return 0.0


@dataclass(frozen=True)
class LoadModel:
    """A load model: the combination of `mode` and `arrivals`."""

    mode: Mode
    arrivals: Arrivals
    label: str
    help: str


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


Kind: TypeAlias = Literal["choice", "whole number", "number", "text", "lines", "file", "data"]


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


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a key."""

    title: str
    help: str = ""
    unit: str = ""
    advanced: bool = False
    kind: Literal["text", "lines", "file"] = "text"


@cache
def known_keys() -> dict[str, About]:
    path = paths.RESOURCES / "keys.yaml"
    return convert(load_yaml(path, what="keys"), dict[str, About], name=str(path), what="keys")


@cache
def fields(options: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the fields of a declaration, its own last, or those of a request."""
    return tuple(_fields(options))


def _fields(options: type[msgspec.Struct]) -> Iterator[Field]:
    for field in msgspec.structs.fields(options):
        given = getattr(field.type, "__metadata__", ())
        meta = next((each for each in given if isinstance(each, Meta)), Meta())
        type_, about = inspect.type_info(field.type), known_keys()[field.name]
        if isinstance(type_, inspect.UnionType):  # It may be left empty.
            type_ = next(t for t in type_.types if not isinstance(t, inspect.NoneType))
        kind: Kind = about.kind
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
            label=about.title,
            help=about.help,
            unit=about.unit,
            advanced=about.advanced,
            default=None if default is NODEFAULT else default,
            kind=kind,
            choices=choices,
            least=meta.ge if meta.ge is not None else meta.gt,
            most=meta.le,
        )

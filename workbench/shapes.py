"""The valid ranges and schemas of a session's figures and plain data, checked whenever a document
is read. No run records values outside them, and arithmetic on those would fail."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, ValidationError

from workbench.config.yaml import DEEPEST
from workbench.converting import convert

Whole: TypeAlias = Annotated[int, Meta(ge=0, le=10**15)]

Positive: TypeAlias = Annotated[int, Meta(ge=1, le=10**9)]

Signed: TypeAlias = Annotated[int, Meta(ge=-(10**15), le=10**15)]

Number: TypeAlias = Annotated[float, Meta(ge=-1e18, le=1e18)]

Rate: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]

Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=1e9)]

Timeout: TypeAlias = Annotated[float, Meta(gt=0, le=1e9)]
"""In seconds; drawn on a logarithmic axis."""


class _Workload(msgspec.Struct, frozen=True):
    protocol: str = "pong"
    path: str = "/"
    calls_per_connection: Positive = 1
    think_time_s: Seconds = 0.0
    think_times: str = "constant"
    pipeline: Whole = 1
    timeout_s: Timeout = 5.0
    arrivals: str = "uniform"
    mode: str = "open"


class _WarmUp(msgspec.Struct):
    rate_per_s: Rate
    seconds: Seconds


class _Search(msgspec.Struct):
    errors_pct: Number = 1.0
    p99_ms: Number | None = None


class _ToCeiling(msgspec.Struct):
    from_: Rate = msgspec.field(name="from")
    points: Positive


class _Plan(msgspec.Struct):
    """A plan in the form of `plan.reading.to_data`."""

    name: str = ""
    workload: _Workload = _Workload()
    rate_of: str | None = None
    rates: list[Rate] | _ToCeiling = []
    concurrency: list[Whole] = []
    search: _Search | None = None
    connections: Whole | None = None
    seconds: Seconds | None = None
    warm_up: _WarmUp | None = None
    cool_down_s: Seconds = 0.0
    repeats: Positive = 1
    looks: Positive = 1
    order: str = ""
    backlog: Whole = 0
    nofile: Whole = 0
    workers: Positive = 1


def check_plan(plan: dict[str, Any]) -> None:
    """Check a plan. Raises msgspec.ValidationError, which names the place."""
    check_free(plan, "plan")
    check_shape(plan, _Plan, "plan")


def check_shape(data: dict[str, Any], shape: type[msgspec.Struct], place: str) -> None:
    """Check the known keys and ignore others. Raises msgspec.ValidationError."""
    try:
        convert(data, shape)
    except ValidationError as error:
        text, _, path = str(error).partition(" - at ")
        inside = path.strip("`").removeprefix("$")
        raise ValidationError(f"{text} - at `$.{place}{inside}`") from None


def check_free(data: object, place: str, left: int = DEEPEST) -> None:
    """Check that free data are not nested too deeply. Raises msgspec.ValidationError."""
    if left == 0:
        raise ValidationError(f"This is nested more than {DEEPEST} deep - at `$.{place}`")
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    for each in inner:
        if isinstance(each, dict | list):
            check_free(each, place, left - 1)

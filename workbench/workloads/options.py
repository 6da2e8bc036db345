"""What a plan states of a workload: the keys that all have, and the load models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

Arrivals: TypeAlias = Literal["uniform", "poisson"]
Mode: TypeAlias = Literal["open", "closed"]
ThinkTimes: TypeAlias = Literal["constant", "exponential"]


def about(
    title: str,
    description: str = "",
    *,
    unit: str = "",
    advanced: bool = False,
    lines: bool = False,
    file: bool = False,
    **bounds: Any,
) -> Meta:
    """What a form, `--set`, the documentation and messages about errors say of a key.

    `advanced`: folded away. `lines`: a text that may have several. `file`: the path of
    one. `bounds`: as of `Meta`.
    """
    extra = {"unit": unit, "advanced": advanced, "lines": lines, "file": file}
    return Meta(
        title=title,
        description=description,
        extra_json_schema={name: value for name, value in extra.items() if value},
        **bounds,
    )


class Workload(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one client does with one connection: the keys that all workloads have.

    A declaration adds its own in a subclass.
    """

    protocol: Annotated[str, about("Protocol")]
    calls_per_connection: Annotated[
        int, about("Calls", "per connection, one after another", ge=1, le=1_000_000)
    ] = 1
    think_time_s: Annotated[
        float,
        about(
            "Think time",
            "between a reply and the next call of its connection",
            unit="s",
            advanced=True,
            ge=0,
            le=3_600,
        ),
    ] = 0.0
    think_times: Annotated[
        ThinkTimes,
        about("Think times", "`constant`, or `exponential` with that mean, seeded", advanced=True),
    ] = "constant"
    timeout_s: Annotated[float, about("Timeout", "per call", unit="s", gt=0, le=600)] = 5.0
    arrivals: Annotated[Arrivals, about("Arrivals", "`uniform`, or `poisson`, seeded")] = "uniform"
    mode: Annotated[
        Mode,
        about(
            "Mode",
            "`closed`: a fixed number of concurrent connections; give `concurrency` in"
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

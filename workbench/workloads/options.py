"""What a plan states of a workload: the keys that all have, and the load models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

Arrivals: TypeAlias = Literal["uniform", "poisson"]
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
            description="per call",
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

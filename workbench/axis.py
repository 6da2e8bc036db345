"""What a plan varies from point to point: an offered rate, a concurrency, a size of messages.

Every point has a place on the axis, `x`. Sessions of version 1 record the rate or the concurrency
instead; only this module reads those two, see `of_plan` and `recorded`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

import msgspec
from msgspec import Meta

from workbench import formatting
from workbench.shapes import Number


class Axis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Describes itself, so that labels, figures and conclusions need no branch on its key."""

    key: str
    """ "rate", "concurrency", "connections", "message_size", "processes", ..."""
    label: str
    unit: str
    """ "connections/s", "requests/s", "concurrent", "bytes"."""
    scale: Literal["linear", "log"] = "linear"
    values: list[Number] = []
    """Planned values, ascending."""
    points: Annotated[int, Meta(ge=0, le=100_000)] = 0
    """How many values there will be, where the client limit decides them; a note has them."""
    bounds: list[Number] = []
    """Of a search, which chooses its values while it runs: the lowest and the highest."""
    step: Number = 0.0
    """Of a search: between two rates that it may choose."""
    limit: Literal["highest", "none"] = "none"
    """highest: the result of a server is its highest sustained value (the knee)."""
    calibrated: bool = False
    """Whether offered load compares with the client limit, and answered with offered load."""
    answers: str = ""
    """What an answered call is, in the plural: "messages"; empty: a reply."""
    calls_each: Annotated[int, Meta(ge=1)] = 1
    """Calls of each connection or user that a rate counts."""

    @property
    def replies(self) -> str:
        """What is counted as answered: "replies", "messages", "tasks"."""
        return self.answers or "replies"

    @property
    def served(self) -> str:
        """What replies per second count: "replies", "users served" (with all their calls)."""
        whole = self.of_connections and (self.calls_each > 1 or self.counts == "users")
        return f"{self.counts} served" if whole else self.replies

    @property
    def served_axis(self) -> tuple[str, str]:
        """Title and unit of an axis: ("Users served", "per second, 13 calls each")."""
        if self.served == self.replies:
            return f"Successful {self.replies}", "per second"
        each = formatting.number_of(self.calls_each, "calls")
        return self.served.capitalize(), f"per second, {each} each"

    def answered(self, per_s: float) -> str:
        """Format replies per second: "4,700 replies/s", "97 users served/s (1,261 calls/s)"."""
        found = f"{per_s:,.0f} {self.served}/s"
        calls = self.calls_per_s(per_s)
        return found if calls is None else f"{found} ({calls:,.0f} calls/s)"

    def calls_per_s(self, per_s: float) -> float | None:
        """Calls per second, from users served per second; None: each is one call."""
        return None if self.calls_each == 1 else per_s * self.calls_each

    @property
    def per_second(self) -> bool:
        return self.unit.endswith("/s")

    @property
    def counts(self) -> str:
        """What is counted: "connections", "requests", "users" (with a connection each)."""
        return self.unit.removesuffix("/s")

    @property
    def of_connections(self) -> bool:
        """Whether one unit is a connection with all its calls."""
        return self.counts in ("connections", "users")

    @property
    def has_limit(self) -> bool:
        return self.limit == "highest"

    @property
    def ends(self) -> list[float]:
        """The lowest and the highest planned value; empty: not recorded."""
        planned = self.bounds or self.values
        return [min(planned), max(planned)] if planned else []

    @property
    def of_workload(self) -> bool:
        """Whether it is a field of the workload, with the same load at all its values."""
        return self.key not in ("rate", "concurrency")

    @property
    def suffix(self) -> str:
        """Suffix of a figure: "/s", " concurrent", " bytes"."""
        return "/s" if self.per_second else f" {self.unit}".rstrip()

    @property
    def name(self) -> str:
        """Its name within a sentence: "offered rate"."""
        return f"{self.label[:1].lower()}{self.label[1:]}"

    @property
    def column(self) -> str:
        return self.label if self.of_workload else "Offered"

    @property
    def title(self) -> str:
        """ "Offered rate, connections per second", "Concurrent connections"."""
        if self.per_second:
            return f"{self.label}, {self.counts} per second"
        return self.label if self.unit in self.label.lower() else f"{self.label}, {self.unit}"

    def figure(self, x: float) -> str:
        """Format a value as on the charts: "4,700", "8,276" for 8,275.9, "2.5"."""
        return formatting.rate(x)

    def at(self, x: float) -> str:
        """Format a value with its unit: "4,700/s", "50 concurrent", "64 bytes", "1 byte"."""
        return formatting.counted(self.figure(x), self.suffix)

    def of(self, point: Place) -> str:
        """Format what a point offers; a warm-up always as a rate."""
        if point.purpose == "warm_up" and not point.concurrency:
            return RATE.at(point.rate_per_s)
        return self.at(point.x)


class Place(Protocol):
    @property
    def x(self) -> float: ...
    @property
    def purpose(self) -> str: ...
    @property
    def rate_per_s(self) -> float: ...
    @property
    def concurrency(self) -> int: ...


def rate(unit: str, values: list[float], **more: Any) -> Axis:
    """Return an axis of rates. `unit`: what the rate counts, "connections" or "requests"; `more`:
    what a search or the client limit decides."""
    return Axis(
        key="rate",
        label="Offered rate",
        unit=f"{unit}/s",
        values=values,
        limit="highest",
        calibrated=True,
        **more,
    )


def concurrency(values: list[float], counts: str = "") -> Axis:
    """Return the axis of a closed loop, where the server sets the pace and so sustains every value.
    `counts`: what runs at once, such as "users"; empty: connections."""
    label = counts.capitalize() or "Concurrent connections"
    return Axis(key="concurrency", label=label, unit=counts or "concurrent", values=values)


RATE = rate("connections", [])
"""The axis of a session that does not record one."""


def of_plan(plan: Mapping[str, Any]) -> Axis:
    """Return the axis of a recorded plan, for sessions that do not record one."""
    if plan.get("workload", {}).get("mode") == "closed":
        return concurrency(_numbers(plan.get("concurrency")))
    return completed(rate(rates_count(plan), _numbers(plan.get("rates"))), plan)


def rates_count(plan: Mapping[str, Any]) -> str:
    """Return what the rates of a recorded plan count: "connections", "requests", "messages", ..."""
    workload = plan.get("workload", {})
    if "connections" in workload:  # It holds them.
        return "messages"
    if "locustfile" in workload:
        return "tasks"
    one_call = workload.get("calls_per_connection", 1) == 1
    return str(plan.get("rate_of") or ("connections" if one_call else "requests"))


def completed(axis: Axis, plan: Mapping[str, Any]) -> Axis:
    """Return the axis of a recorded plan with what earlier sessions do not record: what an answered
    call is, and how many calls a connection or user has."""
    workload = plan.get("workload", {})
    answers = "messages" if "message_size" in workload else "tasks" * ("locustfile" in workload)
    calls = workload.get("calls_per_connection", 1) if axis.of_connections else 1
    known = axis.calls_each if axis.calls_each > 1 else max(1, calls)
    return msgspec.structs.replace(axis, answers=axis.answers or answers, calls_each=known)


def _numbers(values: object) -> list[float]:
    found = values if isinstance(values, list) else []
    return [float(value) for value in found if isinstance(value, int | float)]


def recorded(axis: Axis, x: float) -> dict[str, Any]:
    """Return the fields of a point by which version 1 records `x`."""
    if axis.key == "concurrency":
        return {"rate_per_s": 0.0, "concurrency": round(x)}
    return {"rate_per_s": x if axis.per_second else 0.0, "concurrency": 0}

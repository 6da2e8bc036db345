"""What findings of audits have in common, and findings that any audit may have."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.axis import RATE
from workbench.messages.base import Message, places


class Finding(Message, frozen=True, kw_only=True):
    """The finding of one audit."""


class OfPoints(Finding, frozen=True, kw_only=True):
    """The finding of an audit that checks single points."""

    points: int = 0
    """Number of points that were checked."""
    left_out: int = 0
    """Points that could not be checked."""
    at: list[tuple[str, float]] = msgspec.field(default_factory=list)
    """Points that failed: server and position on the axis."""
    suffix: str = RATE.suffix
    """Suffix of a position; see `Axis`."""

    def where(self) -> str:
        """The points that failed."""
        return places(self.at, self.suffix)

    def all(self) -> str:
        return every(self.points, "point")

    @property
    def left(self) -> str:
        """What is said of the points that could not be checked."""
        return f"; {self.left_out:,} more cannot be checked" if self.left_out else ""


class NothingYet(Finding, frozen=True, kw_only=True):
    """There is nothing to check."""

    def text(self) -> str:
        return "No point is complete."


class NotRecorded(Finding, frozen=True, kw_only=True):
    """The session was recorded by a version that did not record what the audit needs."""

    what: Literal[
        "pending", "codes", "resources", "backlog", "background", "link", "clients", "client times"
    ]

    def text(self) -> str:
        what = {
            "pending": "calls in flight were counted",
            "codes": "reasons of verdicts had codes",
            "resources": "processes, cores and limits were read back",
            "backlog": "the backlog was read back",
            "background": "background load was measured",
            "link": "links were checked",
            "clients": "clients were recorded one by one",
            "client times": "each client reported its own response times",
        }[self.what]
        return f"Recorded before {what}."


class NotReportedByTool(Finding, frozen=True, kw_only=True, tag="not-told-by-tool"):
    """The load tool does not report what the audit needs."""

    tool: str

    def text(self) -> str:
        return f"The load tool '{self.tool}' does not report it."


def every(count: int, noun: str) -> str:
    """ "all 7 servers", "both servers", "the server"."""
    if count == 1:
        return f"the {noun}"
    return f"both {noun}s" if count == 2 else f"all {count:,} {noun}s"


def counted(states: dict[str, int], failed: list[str]) -> str:
    """ "12 passed, 1 failed (quiet host), 1 not known". `states`: number of audits by state;
    `failed`: labels."""
    said = [f"{states.get('passed', 0)} passed"]
    if failed:
        said.append(f"{len(failed)} failed ({', '.join(failed)})")
    if unknown := states.get("not-known"):
        said.append(f"{unknown} not known")
    return ", ".join(said)

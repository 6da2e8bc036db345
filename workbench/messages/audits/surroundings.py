"""Findings of audits of the surroundings; see `analysis.audits.surroundings`."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench import formatting
from workbench.messages.audits.base import Finding, OfPoints, every
from workbench.messages.base import by_host

QUIET = "Repeat on a quiet machine."


class QuietHost(OfPoints, frozen=True, kw_only=True):
    """Other programs on the cores of server and clients."""

    most_pct: float = 0.0
    """Percent of one core: the highest at any point."""
    limit_pct: float
    stolen_pct: float = 0.0
    """The most that the host of a virtual machine took."""
    others: list[str] = msgspec.field(default_factory=list)
    """Machines with another user's run."""

    def text(self) -> str:
        if self.others:
            return (
                f"Another run was on {formatting.listed(self.others)}: each disturbs the"
                " other. Agree on who measures when."
            )
        if self.at:
            return (
                f"Background load took up to {self.most_pct:.0f} % of a core"
                f"{by_host(self.stolen_pct)}: {self.where()}. {QUIET}"
            )
        return (
            f"Background load took less than {self.limit_pct:.0f} % of a core at {self.all()}"
            f" (at most {self.most_pct:.0f} %)."
        )


class LinkAudit(Finding, frozen=True, kw_only=True):
    """The links between clients and target, before anything was measured."""

    links: int = 0
    lossy: dict[str, float] = msgspec.field(default_factory=dict)
    """By client: share of segments that were lost."""
    both_ways: bool = False
    """Their capacity is known in both directions."""
    slow: list[str] = msgspec.field(default_factory=list)
    """Clients whose link has less capacity than the plan needs."""

    def text(self) -> str:
        if self.lossy:
            each = ", ".join(f"{name} {100 * lost:.1f} %" for name, lost in self.lossy.items())
            return f"Links lost packets before the run: {each}. Check the network."
        if self.slow:
            return (
                f"The link to {formatting.listed(self.slow)} carries less than the plan needs at"
                " its highest values: there the link may be the limit, not a server."
            )
        links = every(self.links, "link")
        ways = " in both directions" * self.both_ways
        return (
            f"Packet loss and capacity of {links} were measured{ways} before the run, and suffice."
        )


class NoLink(Finding, frozen=True, kw_only=True):
    """Servers and clients share a machine."""

    def text(self) -> str:
        return "Servers and clients share a machine: no network lies between them."


class LinkNotChecked(Finding, frozen=True, kw_only=True):
    """A link could not be measured."""

    clients: list[str]

    def text(self) -> str:
        return f"The link of {formatting.listed(self.clients)} could not be measured."


class Recording(OfPoints, frozen=True, kw_only=True):
    """The recording is complete."""

    end: Literal["done", "stopped", "aborted", "failed", "interrupted"] = "done"
    unwatched: bool = False
    """The sampler of the target was lost."""

    def text(self) -> str:
        if self.at:
            what = "CPU, memory and counters" if self.unwatched else "Some windows"
            return f"{what} are missing: {self.where()}."
        ended = {
            "done": "",
            "interrupted": "The recording was cut off before the run ended",
            "stopped": "The run was stopped early",
            "aborted": "The run was aborted",
            "failed": "The run failed",
        }[self.end]
        if ended:
            return f"{ended}: not all planned points were measured."
        return "The run completed, and no window or sample is missing."


class UnderWay(Finding, frozen=True, kw_only=True):
    """The run has not ended."""

    def text(self) -> str:
        return "The run has not ended."

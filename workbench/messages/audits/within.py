"""Findings of audits within points; see `analysis.audits.within`."""

from __future__ import annotations

import msgspec

from workbench import formatting
from workbench.messages.audits.base import Finding


class TooFewWindows(Finding, frozen=True, kw_only=True):
    """Too few windows of sustained points."""

    needed: int

    def text(self) -> str:
        return (
            f"A server needs {self.needed} windows of 200 ms at points it sustains, with 20 replies"
            " each; lengthen the points or add passes."
        )


class SteadyState(Finding, frozen=True, kw_only=True):
    """Response times are steady within points."""

    servers: int
    """Number of servers checked."""
    unsteady: dict[str, tuple[str, float]] = msgspec.field(default_factory=dict)
    """By name: kind and change in percent (see `analysis.steadiness`)."""

    def text(self) -> str:
        if not self.unsteady:
            what = "the server" if self.servers == 1 else f"all {self.servers} servers"
            return f"Response times of {what} are steady within points."
        said = [_unsteady(name, *what) for name, what in self.unsteady.items()]
        return f"Not steady within points: {'; '.join(said)}. Lengthen the warm-up or the points."


def _unsteady(name: str, kind: str, change_pct: float) -> str:
    pct = f"{formatting.span(abs(change_pct), abs(change_pct))} %"
    word = "slower" if change_pct > 0 else "faster"
    if kind == "warm-up":
        return f"{name} warms up, {pct} {word} in its first windows than in the rest"
    if kind == "drift":
        return f"{name} drifts, {pct} {word} at the end of a point than at its beginning"
    return f"{name} has no steady state"


class IndependentWindows(Finding, frozen=True, kw_only=True):
    """The windows of a point are independent of each other."""

    servers: int
    """Number of servers checked."""
    dependent: dict[str, float] = msgspec.field(default_factory=dict)
    """By name: the number of independent windows that one window is worth."""

    def text(self) -> str:
        if not self.dependent:
            return "Windows of a point are independent enough for intervals from a single pass."
        said = [
            f"one of {name} is worth {worth:.2g} independent ones"
            for name, worth in self.dependent.items()
        ]
        return (
            f"Windows depend on one another: {formatting.listed(said)}. Intervals from a"
            " single pass are too narrow; compare passes."
        )

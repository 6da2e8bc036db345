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
            f"A server needs {self.needed} windows of 200 ms at points it sustains, with 20"
            " answered calls each; lengthen the points or add passes."
        )


class OfNetwork(Finding, frozen=True, kw_only=True):
    """Response times were not the server's alone at any point that could be checked."""

    def text(self) -> str:
        return (
            "Response times depended on the network or on one client at the points that could be"
            " checked; see these points."
        )


class SteadyState(Finding, frozen=True, kw_only=True):
    """Response times are steady within points."""

    servers: int
    """Number of servers checked."""
    unsteady: dict[str, tuple[str, float]] = msgspec.field(default_factory=dict)
    """By name: kind and change in percent (see `analysis.steadiness`)."""

    def text(self) -> str:
        if not self.unsteady:
            what = formatting.number_of(self.servers, "servers")
            return f"Response times of {what} that could be checked are steady within points."
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


class TooShortForGrowth(Finding, frozen=True, kw_only=True):
    """No point with answered calls is long enough to see a trend of memory."""

    def text(self) -> str:
        return "Points are too short to tell whether memory grows; it takes 10 s at one rate."


class MemoryGrowth(Finding, frozen=True, kw_only=True):
    """The memory of servers does not grow under constant load."""

    servers: int
    """Number of servers whose calls were answered."""
    growth: dict[str, tuple[float, float, float, bool]]
    """By name: bytes per hour, the ends of their 95 % interval, and whether it is a leak."""
    seconds: float
    """For which the longest point was watched."""

    def text(self) -> str:
        watched = f"within {formatting.time_span((self.seconds, self.seconds))}"
        leaks = [f"{name} by {_growth(each)}" for name, each in self.growth.items() if each[3]]
        if leaks:
            return (
                f"Memory grows under constant load, {watched}: {'; '.join(leaks)}. It leaks, or"
                " fills a cache; a longer point shows which."
            )
        most, each = max(self.growth.items(), key=lambda item: item[1][0])
        return f"Memory does not grow {watched}; most by {_growth(each)} ({most})."


def _growth(each: tuple[float, float, float, bool]) -> str:
    """ "120 MB per hour (110 to 130)"."""
    figures = [f"{float(f'{bytes_ / 1e6:.3g}'):,.10g}" for bytes_ in each[:3]]
    return f"{figures[0]} MB per hour ({figures[1]} to {figures[2]})"


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

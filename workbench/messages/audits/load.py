"""Findings of audits of the load; see `analysis.audits.load`."""

from __future__ import annotations

import msgspec

from workbench import formatting
from workbench.messages.audits.base import Finding, OfPoints, every
from workbench.messages.tools import NotChecked, Unchecked


class Conservation(OfPoints, frozen=True, kw_only=True):
    """Each scheduled call is unsent, answered, failed or open, exactly once."""

    calls: int

    def text(self) -> str:
        if self.at:
            return (
                f"Calls are missing or counted twice: {self.where()}. These points are excluded;"
                " please report this."
            )
        return (
            f"{self.calls:,} calls at {self.all()}: each is counted once, as answered, failed,"
            f" unsent or open at the end{self.left}."
        )


class LittlesLaw(OfPoints, frozen=True, kw_only=True):
    """Calls in flight equal rate times service time."""

    tolerance_pct: float
    """In addition to 50 µs per call and the clients' own lateness."""
    in_flight: float = 0.0
    """Mean number of calls in flight at the worst point."""
    expected: float = 0.0
    """Rate times service time at that point."""

    def text(self) -> str:
        if self.at:
            worst = f"{self.in_flight:,.1f} calls were in flight, not {self.expected:,.1f}"
            return (
                f"Calls in flight contradict rate × service time: {self.where()} (at worst"
                f" {worst}). Do not trust response times there."
            )
        return (
            f"Calls in flight equal rate × service time at {self.all()}, within"
            f" {self.tolerance_pct:g} %, 50 µs per call and the clients' own lateness{self.left}."
        )


class NoLittlesLaw(Finding, frozen=True, kw_only=True):
    """Little's law can be checked at no point."""

    def text(self) -> str:
        return "Too many connections failed, so it is unknown how long they were open."


class Schedule(OfPoints, frozen=True, kw_only=True):
    """The offered load is the planned load."""

    planned_pct: float
    """By how much the two may differ."""

    def text(self) -> str:
        if self.at:
            return (
                f"The clients did not keep their schedule: {self.where()}. They started late, left"
                " calls out, or offered another load than was planned."
            )
        return (
            f"The clients kept their schedule at {self.all()}: on time, and within"
            f" {self.planned_pct:g} % of the planned load{self.left}."
        )


class NoSchedule(Finding, frozen=True, kw_only=True):
    """There is no schedule in a closed loop."""

    def text(self) -> str:
        return "Closed loop: the servers set the pace, so there is no schedule to keep."


class AllChecked(OfPoints, frozen=True, kw_only=True):
    """Verdicts had all evidence."""

    def text(self) -> str:
        return f"The load tool reported all that verdicts rest on, at {self.all()}."


class NotAllChecked(Finding, frozen=True, kw_only=True):
    """Verdicts did without what load tools do not report."""

    by_tool: dict[str, list[Unchecked]]

    def text(self) -> str:
        said = [NotChecked(tool=tool, what=what).text() for tool, what in self.by_tool.items()]
        return " ".join(said)


class Overlap(OfPoints, frozen=True, kw_only=True):
    """Several clients offered load at the same time."""

    clients: int
    least_pct: float
    """Smallest share of any point in which all clients offered load."""
    missing: list[str] = msgspec.field(default_factory=list)
    """Clients that took no part in a point."""

    def text(self) -> str:
        if self.missing:
            return (
                f"{formatting.listed(self.missing)} took no part in some points: {self.where()}."
                " The others offered its share, so these points are not comparable with the rest."
            )
        if self.at:
            return (
                f"The clients did not offer load at the same time: {self.where()} (all of them in"
                f" only {self.least_pct:.1f} % of the point). Check their clocks and links."
            )
        who = formatting.capital(every(self.clients, "client"))
        return f"{who} offered load together for at least {self.least_pct:.1f} % of every point."


class OneClient(Finding, frozen=True, kw_only=True):
    """A single client cannot overlap with another."""

    def text(self) -> str:
        return "One client offered the whole load."


class ClientsAlike(Finding, frozen=True, kw_only=True):
    """All clients see the same service times."""

    clients: int
    """Number of clients compared."""
    slow: dict[str, tuple[float, float]] = msgspec.field(default_factory=dict)
    """By name of a slow client: by how many percent its service times are longer (interval)."""

    def text(self) -> str:
        if not self.slow:
            return f"None of {self.clients} clients sees service times 10 % longer than the others."
        said = [
            f"{name} {formatting.span(low, high)} % longer"
            for name, (low, high) in self.slow.items()
        ]
        return (
            f"A client sees longer service times than the others: {formatting.listed(said)} (p50)."
            " It is slow or farther away; high percentiles are mostly its own."
        )


class ClientLimit(Finding, frozen=True, kw_only=True):
    """The rate the clients themselves can reach."""

    limit_per_s: float
    others_cpu_pct: float = 0.0
    """Background load during calibration in percent of one core, if high enough to lower the
    limit."""

    def text(self) -> str:
        if not self.limit_per_s:
            return "The clients sustained no rate against the null server: no point can be trusted."
        limit = f"{formatting.rate(self.limit_per_s)}/s"
        if self.others_cpu_pct:
            return (
                f"The client limit, {limit}, was measured while background load took"
                f" {self.others_cpu_pct:.0f} % of a core; it may be higher. Repeat on a quiet"
                " machine."
            )
        return (
            f"The clients reach {limit} by themselves; failures beyond that are not counted against"
            " a server."
        )


class NoCalibration(Finding, frozen=True, kw_only=True):
    """The client limit was not measured."""

    def text(self) -> str:
        return "The clients were not calibrated, so a limit may be theirs. Use calibrate: true."


class NotCalibrated(Finding, frozen=True, kw_only=True):
    """The axis is not a rate."""

    def text(self) -> str:
        return "The plan does not vary a rate, so the clients were not calibrated."

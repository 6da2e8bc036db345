"""Notes on the course of a run: points left out, repeated or waited for."""

from __future__ import annotations

from workbench import formatting
from workbench.axis import RATE
from workbench.documents import Verdict
from workbench.messages.base import place
from workbench.messages.notes.notice import Notice, Point, Severity
from workbench.shapes import Rate


class GaveUp(Point, frozen=True, kw_only=True):
    """The rest of a server's sweep was left out because its points failed."""

    level = Severity.SERIOUS
    names_server = False

    success_below_pct: float
    points: int
    """Points in a row."""
    left_out: int

    def text(self) -> str:
        points = "at this point" if self.points == 1 else f"at {self.points} points in a row"
        left = "1 higher one was" if self.left_out == 1 else f"{self.left_out:,} higher ones were"
        return (
            f"The sweep ended early at {self.at()}: fewer than {self.success_below_pct:g} % of the "
            f"calls succeeded {points}; {left} left out."
        )


class Skipped(Notice, frozen=True, kw_only=True):
    """A person skipped a server."""

    name: str

    def text(self) -> str:
        return f"{self.name} was skipped."


class WrittenAgain(Notice, frozen=True, kw_only=True):
    """The session's file was deleted or moved while it was written."""

    level = Severity.WARNING

    lost: str
    path: str
    """The file that holds the whole session now."""

    def text(self) -> str:
        now = "was written again" if self.path == self.lost else f"is now in {self.path}"
        return f"The session file {self.lost} was deleted or moved; the session {now}."


class CoolDown(Notice, frozen=True, kw_only=True):
    """A long pause after a point."""

    names_server = False

    seconds: float

    def text(self) -> str:
        return f"Waiting {self.seconds:.0f} s until the client's local ports are free again."


class Settle(Notice, frozen=True, kw_only=True):
    """A server did not settle after a point."""

    level = Severity.WARNING

    name: str
    seconds: float

    def text(self) -> str:
        return (
            f"{self.name} still had connections waiting {self.seconds:.0f} s after the last point; "
            "they carry over into the next one."
        )


class Rates(Notice, frozen=True, kw_only=True):
    """The rates of the plan, which end at the client limit."""

    values: list[Rate]
    suffix: str = RATE.suffix

    def text(self) -> str:
        low, high = RATE.figure(self.values[0]), place(self.values[-1], self.suffix)
        return f"{len(self.values)} rates up to the client limit: {low} to {high}."


class Again(Notice, frozen=True, kw_only=True):
    """The rate that decides what a server sustains is in doubt, so it is repeated."""

    apart = ("look", "pass_number")

    name: str = ""
    look: int
    """Attempts so far."""
    pass_number: int
    rates_per_s: list[float]
    """Values on the plan's axis."""
    suffix: str = RATE.suffix
    verdict: Verdict = "inconclusive"
    held: bool = False
    passes: int = 1

    def text(self) -> str:
        found = {
            "server-limited": "did not sustain",
            "client-limited": "could not be offered",
            "network-limited": "was limited by the network at",
            "faulty": "gave unexpected responses at",
        }.get(self.verdict, "could not be judged at")
        found = "sustained" if self.held else found
        where = f", pass {self.pass_number}" if self.passes > 1 else ""
        rates = formatting.listed([RATE.figure(rate) for rate in self.rates_per_s])
        return (
            f"{self.name} {found} {formatting.counted(rates, self.suffix)}"
            f" ({formatting.ordinal(self.look)} "
            f"try{where}): repeating, because its limit is decided there."
        )


class Paused(Notice, frozen=True, kw_only=True):
    """A person paused the run."""

    names_server = False

    x: float | None = None
    """Position of the last point; None: before the first."""
    suffix: str = RATE.suffix

    def text(self) -> str:
        if self.x is None:
            return "Paused after the servers were tested."
        return f"Paused after {place(self.x, self.suffix)}."


class Resumed(Notice, frozen=True, kw_only=True):
    """A person resumed the run."""

    names_server = False

    def text(self) -> str:
        return "Resumed."

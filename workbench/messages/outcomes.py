"""Results of a search and of a profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from workbench.axis import RATE
from workbench.documents import Verdict
from workbench.formatting import number_of
from workbench.messages.base import Said, place
from workbench.messages.reasons import limit_phrase
from workbench.untrusted import one_line


class Outcome(Said, msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data


class Peak(Outcome, frozen=True, kw_only=True):
    """The highest tested rate at which a server met the limits of the search, in one pass."""

    code: ClassVar[str] = "peak"  # type: ignore[misc]
    name: str
    pass_number: int = 1
    passes: int = 1
    errors_pct: float
    """Limit: percent of the attempts."""
    p99_ms: float | None = None
    """Limit; None: not limited."""
    peak_per_s: float | None
    """None: no tested rate met the limits."""
    low_per_s: float
    """Lower bound of the server's limit; 0: no rate is known to meet the limits."""
    high_per_s: float | None
    """Upper bound; None: the limit was not reached."""
    confidence: float
    """Probability that the limit lies between these bounds, at least 0.95."""
    sure: bool
    """It was located to within one step and confirmed before the search ran out of points."""
    met: list[int]
    """Numbers of the points that met the limits, in the order of measurement."""
    missed: list[int]
    """Numbers of the points that did not."""
    unjudged: list[int] = msgspec.field(default_factory=list)
    """Numbers of the points that showed nothing about the server; not counted."""
    blocked_per_s: float | None = None
    """The rate from which nothing could be judged."""
    blocked_by: Verdict | None = None

    def text(self) -> str:
        limits = limit_phrase(self.errors_pct, self.p99_ms)
        tests = len(self.met) + len(self.missed) + len(self.unjudged)
        points = f"{number_of(tests, 'points')}{f', pass {self.pass_number}' * (self.passes > 1)}"
        if self.peak_per_s is not None:
            figure = "≥ " * (self.high_per_s is None) + RATE.at(self.peak_per_s)
            interval = f"above {RATE.at(self.low_per_s)}"
            if self.high_per_s is not None:
                interval = f"{RATE.figure(self.low_per_s)} to {RATE.at(self.high_per_s)}"
            said = f"{self.name}: peak {figure} with {limits} (95 % interval {interval}; {points})"
        elif self.missed:
            said = f"{self.name} met the limits at no tested rate ({limits}; {points})"
        else:
            said = f"The peak of {self.name} is unknown ({points})"
        return f"{said}.{self._why()}"

    def _why(self) -> str:
        """Why the peak is not known more precisely."""
        if self.blocked_per_s is not None:
            how = {
                "client-limited": "the clients are the limit",
                "ports-limited": "the clients run out of local ports",
                "network-limited": "the network is the limit",
            }.get(str(self.blocked_by), "no point could be judged")
            return f" From {RATE.at(self.blocked_per_s)} on {how}."
        return "" if self.sure else " The search ended before the peak was certain."


# Where a server's CPU time goes, as a profiler saw it.

FEWEST_SAMPLES = 100
"""With which a share of a half is known to 10 points (95 %)."""

_MOST_NAMED = 3
"""Functions that the sentence names."""


class Profile(Outcome, frozen=True, kw_only=True):
    """Of one server, in a pass that is left out of the results."""

    code: ClassVar[str] = "profile"  # type: ignore[misc]
    name: str
    x: float
    suffix: str = RATE.suffix
    tool: str
    """With its version: "py-spy 0.4.3"."""
    seconds: float
    """For which it was sampled."""
    samples: int
    """How often it was seen running; see `docs/profiling.md`."""
    frames: list[str]
    """The names of functions; to show them use `names`."""
    stacks: list[int]
    """One after another: how often it was seen, how many calls it has, and as many places in
    `frames`, from the outermost call to the innermost."""
    other: int = 0
    """Samples of stacks that are left out, the rarest of them."""

    def text(self) -> str:
        few = " are too few to rely on" * self.few
        where = place(self.x, self.suffix)
        return (
            f"CPU time of {self.name} at {where}: {self.shares()}"
            f" ({self.samples:,} samples{few}, {self.tool})."
        )

    @property
    def few(self) -> bool:
        """Too few samples to rely on."""
        return self.samples < FEWEST_SAMPLES

    @property
    def names(self) -> list[str]:
        """`frames` on one line each: they come from a server, or from anybody's file."""
        return [one_line(name) for name in self.frames]

    def each(self) -> Iterator[tuple[int, list[int]]]:
        """Every stack: how often it was seen, its calls as places in `frames`."""
        at = 0
        while at < len(self.stacks):
            count, depth = self.stacks[at : at + 2]
            yield count, self.stacks[at + 2 : at + 2 + depth]
            at += 2 + depth

    def folded(self) -> Iterator[str]:
        """Every stack as "main;send 12"."""
        names = [name.replace(";", ",") for name in self.names]
        for count, calls in self.each():
            yield f"{';'.join(names[at] for at in calls)} {count}"
        if self.other:
            yield f"(other) {self.other}"

    def hottest(self) -> list[tuple[str, int, int]]:
        """The functions that work most themselves first, each with the samples that saw it work,
        and with those that saw it on the stack."""
        own: Counter[str] = Counter()
        total: Counter[str] = Counter()
        names = self.names
        for count, calls in self.each():
            own[names[calls[-1]]] += count
            for name in {names[call] for call in calls}:
                total[name] += count
        found = [(name, own[name], count) for name, count in total.items()]
        return sorted(found, key=lambda each: (-each[1], -each[2], each[0]))

    def shares(self) -> str:
        """ "41 % in send (socket.py), 12 % in recv (socket.py)"."""
        named = [(name, own) for name, own, _ in self.hottest()[:_MOST_NAMED] if own]
        return ", ".join(f"{100 * n / self.samples:.0f} % in {name}" for name, n in named)

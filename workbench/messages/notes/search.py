"""The result of a search."""

from __future__ import annotations

import msgspec

from workbench.axis import RATE
from workbench.documents import Verdict
from workbench.messages.notes.notice import Notice, Severity
from workbench.messages.reasons import limit_phrase


class Peak(Notice, frozen=True, kw_only=True):
    """The highest tested rate at which a server met the limits of the search, in one pass."""

    apart = ("pass_number",)

    name: str
    pass_number: int = 1
    passes: int = 1
    """Number of passes of the run."""
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

    def severity(self) -> Severity:
        return Severity.INFO if self.sure else Severity.WARNING

    @property
    def limits_text(self) -> str:
        """ "at most 1 % errors and a p99 of at most 50 ms"."""
        return limit_phrase(self.errors_pct, self.p99_ms)

    @property
    def tests(self) -> int:
        return len(self.met) + len(self.missed) + len(self.unjudged)

    @property
    def figure(self) -> str:
        """ "14,250/s"; "≥ 20,000/s" if the server's limit was not reached; empty: none."""
        if self.peak_per_s is None:
            return ""
        return f"{'≥ ' * (self.high_per_s is None)}{RATE.at(self.peak_per_s)}"

    @property
    def interval(self) -> str:
        """ "14,250 to 14,500/s", "above 14,250/s"."""
        if self.high_per_s is None:
            return f"above {RATE.at(self.low_per_s)}"
        return f"{RATE.figure(self.low_per_s)} to {RATE.at(self.high_per_s)}"

    def text(self) -> str:
        where = f", pass {self.pass_number}" if self.passes > 1 else ""
        points = f"{self.tests} point{'s' * (self.tests != 1)}{where}"
        if self.peak_per_s is None:
            found = (
                f"{self.name} met the limits at no tested rate ({self.limits_text}; {points})."
                if self.missed
                else f"The peak of {self.name} is unknown ({points})."
            )
        else:
            found = (
                f"{self.name}: peak {self.figure} with {self.limits_text} "
                f"(95 % interval {self.interval}; {points})."
            )
        return " ".join(filter(None, [found, self._why()]))

    def _why(self) -> str:
        """Why the peak is not known more precisely."""
        if self.blocked_per_s is not None:
            how = {
                "client-limited": "the clients are the limit",
                "ports-limited": "the clients run out of local ports",
                "network-limited": "the network is the limit",
            }.get(str(self.blocked_by), "no point could be judged")
            return f"From {RATE.at(self.blocked_per_s)} on {how}."
        return "" if self.sure else "The search ended before the peak was certain."

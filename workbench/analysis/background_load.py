"""What other programs took of the CPU while points were measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.analysis.verdicts import OTHERS_PCT
from workbench.documents import PointStop

_FEW = 0.1
"""Of all points: as many as may be disturbed before it was another set-up."""


@dataclass(frozen=True)
class Others:
    """In percent of a core."""

    looked: Sequence[float]
    """At every point where somebody looked."""
    disturbing: Sequence[float]
    """Of these, where it was enough to move a limit."""

    @classmethod
    def at(cls, points: Iterable[PointStop]) -> Others:
        known = (point.evidence.get("others_cpu_pct") for point in points)
        looked = [pct for pct in known if pct is not None]
        return cls(looked, [pct for pct in looked if pct >= OTHERS_PCT])

    @property
    def many(self) -> bool:
        """Were more than a few points disturbed?"""
        return len(self.disturbing) > _FEW * len(self.looked)

    @property
    def text(self) -> str:
        """Empty: nobody looked."""
        if not self.disturbing:
            return "took next to no CPU" if self.looked else ""
        return (
            f"took up to {max(self.disturbing):.0f} % of a core, at {len(self.disturbing):,} of"
            f" {len(self.looked):,} points"
        )

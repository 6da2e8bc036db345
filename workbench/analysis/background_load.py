"""CPU that other programs took on the cores of server and clients during points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.analysis.verdicts import OTHERS_PCT
from workbench.documents import PointStop

_FEW = 0.1
"""A set-up counts as disturbed if more than this share of its points is."""


@dataclass(frozen=True)
class BackgroundLoad:
    """Background load over several points, in percent of one core."""

    measured: Sequence[float]
    """One value per point where it was measured."""
    disturbing: Sequence[float]
    """The values of `measured` that are high enough to move a limit."""

    @classmethod
    def at(cls, points: Iterable[PointStop]) -> BackgroundLoad:
        known = (point.evidence.get("others_cpu_pct") for point in points)
        measured = [pct for pct in known if pct is not None]
        return cls(measured, [pct for pct in measured if pct >= OTHERS_PCT])

    @property
    def is_frequent(self) -> bool:
        """Whether more than a few points were disturbed."""
        return len(self.disturbing) > _FEW * len(self.measured)

    @property
    def text(self) -> str:
        """For people, to follow "Background load"; empty: not measured."""
        if not self.disturbing:
            return "took next to no CPU" if self.measured else ""
        return (
            f"took up to {max(self.disturbing):.0f} % of a core, at {len(self.disturbing):,} of"
            f" {len(self.measured):,} points"
        )

"""Which part of a session the charts show, and on which scales. No Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

Span: TypeAlias = tuple[float, float]
"""From the lowest to the highest value, in the axis's own unit, also on a logarithmic one."""

ACROSS = "x"
"""The key of the axis that all charts share; the others have their metric's."""


@dataclass(frozen=True)
class Showing:
    """The same for all linked charts. An axis without an entry shows everything, on its own
    scale.
    """

    zoom: Mapping[str, Span] = field(default_factory=dict)
    log: Mapping[str, bool] = field(default_factory=dict)
    """Whether an axis is logarithmic."""
    band: bool = False
    """A second percentile is shown beside the chosen one."""

    def zoomed(self, zoom: Mapping[str, Span]) -> Showing:
        return replace(self, zoom=dict(zoom))

    def elsewhere(self, log: bool | None) -> Showing:
        """Return it for other values of x: without a zoom, on this scale; None: on their own."""
        others = {key: on for key, on in self.log.items() if key != ACROSS}
        return replace(self, zoom={}, log=others if log is None else {**others, ACROSS: log})

    def scaled(self, key: str, log: bool) -> Showing:
        """Return it with another scale of one axis."""
        return replace(self, log={**self.log, key: log})

"""Base of metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.analysis.usage import Usage
from workbench.documents import Metric, Window
from workbench.load.base import LoadReport


@dataclass(frozen=True)
class Measured:
    report: LoadReport
    windows: Sequence[Window]
    usage: Usage
    held: int = 0
    """Connections that the workload holds; 0: they come and go."""
    payload_bytes: int | None = None
    """Size of a reply's payload, where the workload fixes it."""
    answered_per_s: float = 0.0
    """Calls answered per second of the measured part."""
    statuses: bool = False
    """Whether replies have statuses, as those of HTTP."""


class PointMetric(Protocol):
    """A metric."""

    @property
    def record(self) -> Metric: ...

    def of(self, measured: Measured) -> float | None:
        """None: unknown."""
        ...

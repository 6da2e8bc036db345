"""What a metric is taken from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from workbench.documents import Metric, Window
from workbench.load.base import LoadReport
from workbench.machines.usage import Usage


@dataclass(frozen=True)
class Measured:
    """A point at its end."""

    report: LoadReport
    windows: Sequence[Window]
    usage: Usage
    """Of the server and its machine."""


class PointMetric(Protocol):
    """A file of this folder has one."""

    @property
    def record(self) -> Metric: ...

    def of(self, measured: Measured) -> float | None:
        """None: not known."""
        ...

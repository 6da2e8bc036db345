"""One server of one session in a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.server_summary import ServerSummary
from workbench.documents import ServerRecord


@dataclass(frozen=True)
class Contender:
    """One server of one session."""

    tag: str
    """The tag of its session."""
    record: ServerRecord
    result: ServerSummary
    backlog: int = 0
    """In force in the kernel; 0: unknown."""

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def key(self) -> str:
        """ "A/gevent"."""
        return f"{self.tag}/{self.id}"

    @property
    def label(self) -> str:
        """ "gevent in A"."""
        return f"{self.name} in {self.tag}"

    @property
    def measured(self) -> bool:
        return bool(self.result.counted)

    @cached_property
    def xs(self) -> list[float]:
        """The values it was measured at, ascending."""
        return [point.x for point in self.result.points]

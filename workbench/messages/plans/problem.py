"""What problems and warnings of plans have in common."""

from __future__ import annotations

from typing import ClassVar

from workbench.axis import RATE
from workbench.messages.base import Message, place
from workbench.messages.notes import Notice, Severity


class Problem(Message, frozen=True, kw_only=True):
    """Keeps a plan from running."""

    keys: tuple[str, ...]
    """Of the plan: what is wrong, or what is best changed. The last is where it is shown."""

    def line(self) -> str:
        """ "connections, seconds: what is wrong; what to do."."""
        text = self.text()
        return f"{', '.join(self.keys)}: {text[:1].lower()}{text[1:]}"


class PointProblem(Problem, frozen=True, kw_only=True):
    """Of a point, by its place on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Behind the figure; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


class Warned(Notice, frozen=True, kw_only=True):
    """Lets a plan run; noted in the session."""

    level: ClassVar[Severity] = Severity.WARNING

    keys: tuple[str, ...]
    """As of a `Problem`."""


class PointWarned(Warned, frozen=True, kw_only=True):
    """As a `PointProblem`."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)

"""Base classes of problems and warnings of plans."""

from __future__ import annotations

from itertools import chain
from typing import ClassVar

import msgspec

from workbench import formatting
from workbench.axis import RATE
from workbench.messages.base import Message, place
from workbench.messages.notes import Notice, Severity


class Problem(Message, frozen=True, kw_only=True):
    """Prevents a plan from running."""

    keys: tuple[str, ...]
    """Keys of the plan that are invalid or best changed; shown beside the last one."""

    def line(self) -> str:
        """ "connections, seconds: what is wrong; what to do." A name at its beginning stays as it
        is written."""
        text = self.text()
        fields = msgspec.structs.astuple(self)
        texts = chain.from_iterable(each if type(each) is tuple else (each,) for each in fields)
        names = tuple(each for each in texts if each and type(each) is str)
        said = text if text.startswith(names) else formatting.continued(text)
        return f"{', '.join(self.keys)}: {said}"


class PointProblem(Problem, frozen=True, kw_only=True):
    """A problem of a point, by its position on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Suffix of the position; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)


class Warned(Notice, frozen=True, kw_only=True):
    """Does not prevent a plan from running; noted in the session."""

    level: ClassVar[Severity] = Severity.WARNING

    keys: tuple[str, ...]
    """As in `Problem`."""


class PointWarned(Warned, frozen=True, kw_only=True):
    """A warning about a point, as `PointProblem`."""

    x: float
    suffix: str = RATE.suffix

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)

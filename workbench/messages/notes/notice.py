"""Messages that become notes, and their severity."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from workbench.axis import RATE
from workbench.documents import Note
from workbench.messages.base import Message, place


class Severity(IntEnum):
    """How much a note matters to a reader of the figures."""

    QUIET = 0
    """The same in every pass; not printed in the terminal."""
    INFO = 1
    WARNING = 2
    """Changes what figures mean."""
    SERIOUS = 3
    """Figures are missing."""
    ALERT = 4
    """Unexpected and needs attention: shown at once, above the charts."""


class Notice(Message, frozen=True, kw_only=True):
    """A message that becomes a note."""

    level: ClassVar[Severity] = Severity.INFO
    names_server: ClassVar[bool] = True
    """The sentence contains the name of the server it is about, if there is one."""

    def severity(self) -> Severity:
        return self.level

    def note(self, t_us: int, *, server: str = "", machine: str = "") -> Note:
        """The document that records it."""
        return Note(
            t_us=t_us,
            topic=self.code,
            text=self.text(),
            server=server,
            machine=machine,
            data=self.data(),
        )


class Point(Notice, frozen=True, kw_only=True):
    """A notice about a point, by its position on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Suffix of the position; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)

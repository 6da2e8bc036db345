"""What becomes a note, and how much it matters."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar

from workbench.axis import RATE
from workbench.documents import Note
from workbench.messages.base import Message, place


class Severity(IntEnum):
    """How much a note matters to a reader of the figures."""

    QUIET = 0
    """The same in every turn: no line in the terminal."""
    INFO = 1
    WARNING = 2
    """Figures mean something else for it."""
    SERIOUS = 3
    """Figures are missing for it."""
    ALERT = 4
    """Unexpected, and needs attention: shown at once, above the charts."""


class Notice(Message, frozen=True, kw_only=True):
    """What becomes a note."""

    level: ClassVar[Severity] = Severity.INFO
    names_server: ClassVar[bool] = True
    """The sentence names the server it is about, if it is about one."""

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
    """Of a point, by its place on the plan's axis."""

    x: float
    suffix: str = RATE.suffix
    """Behind the figure; see `Axis`."""

    def at(self) -> str:
        """ "4,700/s"."""
        return place(self.x, self.suffix)

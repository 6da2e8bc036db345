"""One series of a session with the notes about it."""

from __future__ import annotations

from workbench.analysis.results import PointResult, SeriesResult
from workbench.analysis.unchecked import of_points, unchecked
from workbench.axis import RATE, Axis
from workbench.documents import OUR_AGENT, Note, PointStop
from workbench.messages.notes import Profile
from workbench.messages.tools import NotChecked, ToolCannotTell, Unchecked


class ServerSummary(SeriesResult):
    """One server over all its passes, with the notes about it."""

    def __init__(
        self,
        id_: str,
        name: str,
        version: str = "",
        *,
        axis: Axis = RATE,
        server: str = "",
        load_tool: str = OUR_AGENT,
    ) -> None:
        """`id_`: key of the series; `server`: the server's id if that is another."""
        super().__init__(id_, name, axis=axis)
        self.version = version
        self.server = server or id_
        self.load_tool = load_tool
        self.tls = ""
        """Version and cipher of its connections; empty: without TLS, or not recorded."""
        self.closed = False
        """Whether its load was a closed loop."""
        self.untold: list[ToolCannotTell] = []
        """What the load tools of the session do not report."""
        self.noted: list[Note] = []
        """About this server, other than what was `found` when it was deployed."""
        self.profile: Profile | None = None
        """Where its CPU time goes; None: it was not profiled."""

    def not_checked(self, stop: PointStop) -> list[Unchecked]:
        """What the verdict of a point could not check."""
        return unchecked(stop, closed=self.closed, noted=self.untold)

    @property
    def cut(self) -> PointResult | None:
        """The last of its points if none of them is complete; None: one is, or none began."""
        return self.shown[-1] if self.shown and not self.complete else None

    @property
    def there(self) -> PointResult | None:
        """The point whose figures stand beside what it sustains: where it sustains that, has most
        replies, or was cut. None: there is none."""
        return self.cut or (self.at_knee if self.axis.has_limit else self.most)

    @property
    def all_not_checked(self) -> NotChecked | None:
        """The same of all its points together; None: everything was checked."""
        return next(of_points(self.counted, closed=self.closed, noted=self.untold), None)

    @property
    def gave_up(self) -> str:
        """Why its sweep ended early; empty: it did not."""
        return " ".join(self._texts("gave-up"))

    @property
    def died(self) -> str:
        """How it died under load; empty: it did not."""
        return " ".join(self._texts("died"))

    @property
    def notes(self) -> list[str]:
        """All other notes; a profile stands beside why it stops."""
        shown = {"gave-up", "died", *["profile"] * (self.profile is not None)}
        others = {note.topic for note in self.noted} - shown
        return self._texts(*others)

    def _texts(self, *topics: str) -> list[str]:
        """A note that recurs in every pass is listed once."""
        return list(dict.fromkeys(note.text for note in self.noted if note.topic in topics))

    @property
    def id(self) -> str:
        return self.key

    def ordered(self) -> list[PointStop]:
        """Points for tables: the attempts at a value together, although all other servers ran
        between them; of a search in the order of measurement."""
        if self.axis.bounds:
            return list(self.stops)
        return sorted(self.stops, key=lambda stop: (stop.pass_number, stop.x, stop.look))

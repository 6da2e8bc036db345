"""Messages about points that must not be trusted: a server's first, and the first after a good one;
and about the first point at which a server is faulty. Of several attempts at a point the last one
counts, as in the ranking.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.analysis.knee import last_attempts
from workbench.analysis.series import TRUSTED
from workbench.axis import RATE
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.messages.notes import Faulty, NotJudged


class Change(NamedTuple):
    """What a document changed of the doubts."""

    added: Sequence[Note] = ()
    withdrawn: Sequence[Note] = ()
    """Notes about attempts that do not count any more."""


class FirstUntrusted:
    """Examines every document; a `RunStart` resets it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._axis = RATE
        self._no_client_limit = False
        self._stops: list[PointStop] = []
        self.notes: list[Note] = []
        """All doubts, by time."""
        self._start_again()

    def _start_again(self) -> None:
        self._trusted: dict[str, bool] = {}
        self._faulty: set[str] = set()
        # After the clients sustained no rate, which is reported, no point can be trusted.
        self._reported = self._no_client_limit

    def __call__(self, document: AnyDocument) -> Change:
        match document:
            case RunStart():
                self.__init__()  # type: ignore[misc]
                self._axis = document.axis or RATE
                self._names = {record.key: record.label for record in document.series}
            case Note(topic="ceiling"):
                self._no_client_limit = document.data.get("ceiling_per_s") == 0
                self._reported = self._no_client_limit
            case PointStop(judged=True, complete=True):
                return self._take(document)
            case _:
                pass
        return Change()

    def _take(self, point: PointStop) -> Change:
        self._stops.append(point)
        if point.look == 1:
            found = self._judge(point)
            self.notes += found
            return Change(found)
        before, self._stops = self.notes, last_attempts(self._stops)
        self._start_again()
        in_time = sorted(self._stops, key=lambda stop: stop.t_us)
        self.notes = [note for stop in in_time for note in self._judge(stop)]
        return Change(
            [note for note in self.notes if note not in before],
            [note for note in before if note not in self.notes],
        )

    def _judge(self, point: PointStop) -> list[Note]:
        if point.verdict == "faulty" and point.series not in self._faulty:
            self._faulty.add(point.series)
            cause = " ".join(point.reasons[:1])
            faulty = Faulty(
                name=self._names.get(point.series, point.series),
                x=point.x,
                suffix=self._axis.suffix,
                cause=cause,
            )
            return [faulty.note(point.t_us, server=point.server)]
        before = self._trusted.get(point.series)
        self._trusted[point.series] = trusted = point.verdict in TRUSTED
        if trusted or before is False:
            return []
        first = before is None and not self._reported
        self._reported = self._reported or first
        doubt = NotJudged(
            name=self._names.get(point.series, point.series),
            x=point.x,
            suffix=self._axis.suffix,
            first=first,
            cause=" ".join(point.reasons[:1]) or f"The verdict is {point.verdict}.",
        )
        return [doubt.note(point.t_us, server=point.server)]

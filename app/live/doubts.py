"""Messages about points that must not be trusted: a server's first, and the first after a good one;
and about the first point at which a server is faulty.
"""

from __future__ import annotations

from workbench.analysis.results import TRUSTED
from workbench.axis import RATE
from workbench.documents import AnyDocument, Note, PointStop, RunStart
from workbench.messages.notes import Faulty, NotJudged


class Doubts:
    """Examines every document; a `RunStart` resets it."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._trusted: dict[str, bool] = {}
        self._faulty: set[str] = set()
        self._reported = False
        self._axis = RATE

    def __call__(self, document: AnyDocument) -> Note | None:
        """Return a note about a point; None: it raises no new doubt."""
        match document:
            case RunStart():
                self.__init__()  # type: ignore[misc]
                self._axis = document.axis or RATE
                self._names = {record.key: record.label for record in document.series}
            case Note(topic="ceiling"):
                # After the clients sustained no rate, which is reported, no point can be trusted.
                self._reported = document.data.get("ceiling_per_s") == 0
            case PointStop(judged=True, complete=True):
                return self._judge(document)
            case _:
                pass
        return None

    def _judge(self, point: PointStop) -> Note | None:
        if point.verdict == "faulty" and point.series not in self._faulty:
            self._faulty.add(point.series)
            cause = " ".join(point.reasons[:1])
            faulty = Faulty(
                name=self._names.get(point.series, point.series),
                x=point.x,
                suffix=self._axis.suffix,
                cause=cause,
            )
            return faulty.note(point.t_us, server=point.server)
        before = self._trusted.get(point.series)
        self._trusted[point.series] = trusted = point.verdict in TRUSTED
        if trusted or before is False:
            return None
        first = before is None and not self._reported
        self._reported = self._reported or first
        doubt = NotJudged(
            name=self._names.get(point.series, point.series),
            x=point.x,
            suffix=self._axis.suffix,
            first=first,
            cause=" ".join(point.reasons[:1]) or f"The verdict is {point.verdict}.",
            finding=next(iter(point.findings), {}),
        )
        return doubt.note(point.t_us, server=point.server)

"""Points that are not to be trusted, in words: a server's first, and the first after a good one."""

from __future__ import annotations

from app.charts.series import TRUSTED
from workbench import wording
from workbench.documents import AnyDocument, Note, PointStop, RunStart

UNKNOWN = "unknown"
"""Topic of the note about the first doubtful point of a run, where it is a server's lowest: what
that server holds will not be known if it stays so."""


class Doubts:
    """Asked about every document; a `RunStart` begins afresh."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._trusted: dict[str, bool] = {}
        self._told = False

    def __call__(self, document: AnyDocument) -> Note | None:
        """A note about a point; None: it raises no new doubt."""
        match document:
            case RunStart():
                self.__init__()  # type: ignore[misc]
                self._names = {record.id: record.name for record in document.servers}
            case Note(topic="ceiling"):
                # Where the clients held no rate that was told, and no point can be trusted.
                self._told = document.data.get("ceiling_per_s") == 0
            case PointStop(purpose="sweep", complete=True):
                return self._judge(document)
            case _:
                pass
        return None

    def _judge(self, point: PointStop) -> Note | None:
        before = self._trusted.get(point.server)
        self._trusted[point.server] = trusted = point.verdict in TRUSTED
        if trusted or before is False:
            return None
        name = self._names.get(point.server, point.server)
        cause = " ".join(point.reasons[:1]) or f"The verdict is {point.verdict}."
        topic = UNKNOWN if before is None and not self._told else "warning"
        self._told = self._told or topic == UNKNOWN
        offered = wording.offered(point)
        text = f"{name} at {offered} cannot be judged. {cause}"
        data = {"cause": cause, "offered": offered}
        return Note(t_us=point.t_us, topic=topic, server=point.server, text=text, data=data)

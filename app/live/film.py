"""A session as a film, played in the engine's thread. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.charts.model import ChartModel, Whole
from app.live.first_untrusted import doubts
from app.style_places import style_places
from workbench import formatting
from workbench.axis import RATE
from workbench.documents import AnyDocument, Note, PointStart, PointStop, Purpose, RunStart, Window
from workbench.errors import BadInput
from workbench.messages.notes import Severity
from workbench.messages.topics import about, severity
from workbench.sessions import NewerSession, Session, SessionSource, read_session
from workbench.sessions.recorder import is_claimed

_REPORT_S = 0.06
_ASIDES: dict[Purpose, str] = {"ceiling": "client calibration", "profile": "CPU profiles"}
"""The names of what gives no results, by the purpose of its points."""


@dataclass(frozen=True)
class Mark:
    server: str
    name: str
    index: int
    """The index of the server, which determines its style."""
    offered: str
    """ "4,700/s", "50 concurrent"."""
    start_us: int
    stop_us: int
    attempt: int = 1

    @property
    def where(self) -> str:
        """Return a label: "4,700/s, second try, gevent"."""
        again = f"{formatting.ordinal(self.attempt)} try, " if self.attempt > 1 else ""
        return f"{self.offered}, {again}{self.name}"


@dataclass(frozen=True)
class Alert:
    """An event that a reader must know."""

    t_us: int
    text: str


@dataclass(frozen=True)
class Reel:
    """A session, read and laid out over time."""

    path: Path
    documents: Sequence[AnyDocument]
    marks: tuple[Mark, ...]
    duration_us: int
    whole: Whole
    warning: str = ""
    """What the reader should know about the file; empty: nothing."""
    alerts: tuple[Alert, ...] = ()
    asides: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Start and end of what gives no results, by its name."""


@dataclass(frozen=True)
class Position:
    at_us: float
    paused: bool
    speed: float


async def load(path: Path) -> Reel:
    """Read a session. Raises BadInput when it is none."""
    return await asyncio.to_thread(_load, path)


def _load(path: Path) -> Reel:
    try:
        session, warning = read_session(path), ""
    except NewerSession:
        session = read_session(path, newer=True)
        if not session.documents:
            raise BadInput(
                f"{path} is from a newer, incompatible Pongbench. Update to open it."
            ) from None
        warning = "This session is from a newer Pongbench. Unknown parts are not shown."
    start, documents = session.start, session.completed()
    warning = " ".join(filter(None, (warning, _damage(session), *session.notes)))
    if not warning and session.interrupted and is_claimed(path):
        warning = "This session is still being recorded. Shown: up to now."
    elif not warning and session.interrupted:
        warning = "This session is incomplete: it was cut off before its end."
    marks = tuple(_marks(start, documents))
    duration_us = SessionSource(documents).duration_us
    spans = {name: _span(documents, purpose) for purpose, name in _ASIDES.items()}
    asides = {name: span for name, span in spans.items() if span}
    model, whole = whole_of(documents)
    alerts = tuple(_alerts(documents, model))
    return Reel(path, documents, marks, duration_us, whole, warning, alerts, asides)


def whole_of(documents: Iterable[AnyDocument]) -> tuple[ChartModel, Whole]:
    """Return the model after these documents, and what a film of them will show."""
    model = ChartModel()
    windows: list[tuple[float, Window]] = []
    point: PointStart | None = None
    for document in documents:
        model(document)
        if isinstance(document, PointStart):
            point = document if document.judged else None
        elif isinstance(document, Window) and point is not None:
            windows.append((point.x, document))
    return model, Whole(model, windows)


def _damage(session: Session) -> str:
    if not session.damage:
        return ""
    where = session.damage.replace(f"session {session.name}, ", "The file is damaged in ", 1)
    return f"{where} Only the part before it is shown."


def _alerts(documents: Sequence[AnyDocument], model: ChartModel) -> list[Alert]:
    """Return unexpected notes, and each server's first point that must not be trusted."""
    names = {record.id: record.name for record in model.start.servers} if model.start else {}
    notes = (d for d in documents if isinstance(d, Note) and severity(d) >= Severity.SERIOUS)
    found = [Alert(note.t_us, about(note, names.get(note.server, ""))) for note in notes]
    found += [Alert(doubt.t_us, doubt.text) for doubt in doubts(model)]
    return sorted(found, key=lambda alert: alert.t_us)


def _marks(start: RunStart, documents: Sequence[AnyDocument]) -> list[Mark]:
    axis = start.axis or RATE
    places = style_places(record.key for record in start.series)
    known = {record.key: (places[record.key], record.label) for record in start.series}
    marks, begun = [], 0
    for document in documents:
        if isinstance(document, PointStart):
            begun = document.t_us
        elif isinstance(document, PointStop) and document.judged:
            index, name = known.get(document.series, (len(known), document.series))
            offered, stop_us = axis.of(document), document.t_us
            # A search returns to a rate as part of its method.
            attempt = document.look if document.purpose == "sweep" else 1
            mark = Mark(document.series, name, index, offered, begun, stop_us, attempt)
            marks.append(mark)
    return marks


def _span(documents: Sequence[AnyDocument], purpose: Purpose) -> tuple[int, int] | None:
    """Return the start and end of the points of a purpose; None: there are none."""
    points = [d for d in documents if isinstance(d, PointStart | PointStop)]
    times = [point.t_us for point in points if point.purpose == purpose]
    return (times[0], times[-1]) if times else None


class Film:
    """Plays a reel, beginning at its end. All methods belong to the engine's thread."""

    def __init__(
        self, reel: Reel, put: Callable[[AnyDocument], None], report: Callable[[Position], None]
    ) -> None:
        self._reel, self._put, self._report = reel, put, report
        self._source = SessionSource(reel.documents, paused=True)
        self._source.seek(reel.duration_us)
        self._through = False
        """All documents up to the position were put, so that the end may be reported."""
        self._again = asyncio.Event()

    async def run(self) -> None:
        reporting = asyncio.ensure_future(self._reporting())
        try:
            while True:
                async for document in self._source:
                    self._put(document)
                self._source.pause()
                self._through = True
                self._again.clear()
                await self._again.wait()
        finally:
            reporting.cancel()

    def play(self) -> None:
        """Start playing; from the beginning when the film is over."""
        if self._source.position_us >= self._reel.duration_us:
            self.seek(0)
        self._source.play()
        self._again.set()

    def pause(self) -> None:
        self._source.pause()

    def seek(self, at_us: float) -> None:
        self._through = False
        self._source.seek(at_us)
        self._again.set()

    def set_speed(self, speed: float) -> None:
        self._source.speed = speed

    async def _reporting(self) -> None:
        last = None
        while True:
            source = self._source
            now = Position(source.position_us, source.paused, source.speed)
            at_end = now.at_us >= self._reel.duration_us
            if now != last and (self._through or not at_end):
                self._report(now)
                last = now
            await asyncio.sleep(_REPORT_S)

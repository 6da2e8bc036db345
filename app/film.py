"""A session as a film, played in the engine's thread. No Qt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.documents import AnyDocument, PointStart, PointStop, RunStart
from workbench.sessions import SessionSource, read_session

_REPORT_S = 0.06


@dataclass(frozen=True)
class Mark:
    """A point on the timeline."""

    server: str
    name: str
    index: int
    """Of its server; chooses its style."""
    rate_per_s: float
    start_us: int
    stop_us: int


@dataclass(frozen=True)
class Reel:
    """A session read and laid out."""

    path: Path
    documents: Sequence[AnyDocument]
    marks: tuple[Mark, ...]
    duration_us: int
    warning: str = ""
    """What the reader should know of the file; empty: nothing."""


@dataclass(frozen=True)
class Position:
    """Where a film is."""

    at_us: float
    paused: bool
    speed: float


async def load(path: Path) -> Reel:
    """Raises BadInput when it is no session."""
    return await asyncio.to_thread(_load, path)


def _load(path: Path) -> Reel:
    session = read_session(path)
    start, documents = session.start, session.completed()
    warning = session.damage
    if not warning and session.interrupted:
        warning = "This session was cut off before its end; what was measured until then is shown."
    marks = tuple(_marks(start, documents))
    return Reel(path, documents, marks, SessionSource(documents).duration_us, warning)


def _marks(start: RunStart, documents: Sequence[AnyDocument]) -> list[Mark]:
    known = {record.id: (n, record.name) for n, record in enumerate(start.servers)}
    marks, begun = [], 0
    for document in documents:
        if isinstance(document, PointStart):
            begun = document.t_us
        elif isinstance(document, PointStop) and document.purpose == "sweep":
            index, name = known.get(document.server, (len(known), document.server))
            rate = document.rate_per_s
            marks.append(Mark(document.server, name, index, rate, begun, document.t_us))
    return marks


class Film:
    """Plays a reel, beginning at its end. All methods belong to the engine's thread."""

    def __init__(
        self,
        reel: Reel,
        put: Callable[[AnyDocument], None],
        report: Callable[[Position], None],
    ) -> None:
        self._reel, self._put, self._report = reel, put, report
        self._source = SessionSource(reel.documents, paused=True)
        self._source.seek(reel.duration_us)
        self._again = asyncio.Event()

    async def run(self) -> None:
        """Until cancelled."""
        reporting = asyncio.ensure_future(self._reporting())
        try:
            while True:
                async for document in self._source:
                    self._put(document)
                self._source.pause()
                self._again.clear()
                await self._again.wait()
        finally:
            reporting.cancel()

    def play(self) -> None:
        """From the beginning when it is over."""
        if self._source.position_us >= self._reel.duration_us:
            self._source.seek(0)
        self._source.play()
        self._again.set()

    def pause(self) -> None:
        self._source.pause()

    def seek(self, at_us: float) -> None:
        self._source.seek(at_us)
        self._again.set()

    def set_speed(self, speed: float) -> None:
        self._source.speed = speed

    async def _reporting(self) -> None:
        last = None
        while True:
            source = self._source
            now = Position(source.position_us, source.paused, source.speed)
            if now != last:
                self._report(now)
                last = now
            await asyncio.sleep(_REPORT_S)

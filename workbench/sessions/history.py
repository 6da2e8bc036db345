"""What earlier sessions recorded about the machines they ran on: their links, what clients offer,
and the spread between passes, which predicts what a plan can show.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from workbench import paths
from workbench.analysis.sensitivity import TYPICAL, Spreads, spreads
from workbench.analysis.summary import summarise
from workbench.documents import AnyDocument, Note, RunStart
from workbench.errors import BadInput
from workbench.messages.base import Message, read
from workbench.messages.machines import Link
from workbench.messages.notes import Ceiling
from workbench.sessions import is_session
from workbench.sessions.library import Shelved, glance
from workbench.sessions.skim import skim

MOST_BYTES = 64 << 20
"""Of sessions read for one history, latest first."""
_NOTES: Mapping[str, type[Message]] = {"link": Link, "ceiling": Ceiling}


@dataclass(frozen=True)
class LinkResult:
    """A link between a client and the target, as it was checked before a run."""

    link: Link
    measured_utc: str


@dataclass(frozen=True)
class Calibration:
    """What the clients of a run offered together against the null server on its target."""

    target: str
    clients: frozenset[str]
    per_s: float
    """0: no rate."""
    unit: str
    """Of the plan's axis, such as "connections/s"."""
    is_floor: bool
    """They reached all that was asked for, so they may reach more."""
    plan: str
    """The plan's name; rates of other plans may differ."""
    measured_utc: str


@dataclass(frozen=True)
class FleetHistory:
    """The latest results, by the names of machines."""

    links: Mapping[tuple[str, str], LinkResult] = field(default_factory=dict)
    """By (client, target)."""
    calibrations: tuple[Calibration, ...] = ()
    """The latest of every target and set of clients; latest first."""

    def calibration(self, target: str, clients: Iterable[str]) -> Calibration | None:
        """Return the latest of exactly these machines."""
        wanted = (target, frozenset(clients))
        found = (each for each in self.calibrations if (each.target, each.clients) == wanted)
        return next(found, None)


class FleetHistories:
    """Reads sessions that have not changed only once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, int, int], FleetHistory] = {}

    def read(self, sessions: Iterable[Shelved]) -> FleetHistory:
        """Return what these sessions recorded, latest first. Unreadable ones are left out."""
        found: list[FleetHistory] = []
        left = MOST_BYTES
        for session in sessions:
            left -= session.size_bytes
            if left < 0:
                break
            if session.start is None or session.growing:
                continue
            if session.identity not in self._known:
                try:
                    self._known[session.identity] = history_of(skim(session.path))
                except BadInput:
                    continue
            found.append(self._known[session.identity])
        return _latest(found)


def history_of(documents: Iterable[AnyDocument]) -> FleetHistory:
    """Return what one session recorded."""
    links: dict[tuple[str, str], LinkResult] = {}
    limit: Ceiling | None = None
    start: RunStart | None = None
    for document in documents:
        if isinstance(document, RunStart):
            start = document
        elif isinstance(document, Note) and start is not None:
            message = read(_NOTES, document.topic, document.data, document.text)
            if isinstance(message, Link):
                links[message.client, message.target] = LinkResult(message, start.started_utc)
            elif isinstance(message, Ceiling):
                limit = message
    if start is None or limit is None:
        return FleetHistory(links)
    return FleetHistory(links, (_calibration(start, limit),))


def _calibration(start: RunStart, limit: Ceiling) -> Calibration:
    assert start.axis is not None
    return Calibration(
        target=next((m.name for m in start.machines if "target" in m.roles), ""),
        clients=frozenset(m.name for m in start.machines if "client" in m.roles),
        per_s=limit.ceiling_per_s,
        unit=start.axis.unit,
        is_floor=limit.reached_all or limit.disturbed or bool(limit.name),
        plan=str(start.plan.get("name") or ""),
        measured_utc=start.started_utc,
    )


def _latest(histories: Iterable[FleetHistory]) -> FleetHistory:
    links: dict[tuple[str, str], LinkResult] = {}
    calibrations: dict[tuple[str, frozenset[str]], Calibration] = {}
    for history in histories:
        links = {**history.links, **links}
        for each in history.calibrations:
            calibrations.setdefault((each.target, each.clients), each)
    return FleetHistory(links, tuple(calibrations.values()))


_NEWEST = 12
"""The number of recent sessions to consider."""

_LARGEST_BYTES = 64 << 20
"""Larger session files take too long to read for a preview."""


def earlier(
    protocol: str, target: str, *, interleaved: bool, folder: Path | None = None
) -> Spreads:
    """The spreads in the latest session on this target with several passes of the same workload;
    otherwise typical ones. `interleaved`: the plan's order. `folder` None: the user's."""
    folder = paths.data_dir() / "sessions" if folder is None else folder
    for path, identity in _newest(folder):
        session = _glanced(path, identity)
        if session and session.start and _fits(session.start, protocol, target):
            was_interleaved = session.start.plan.get("order") == "interleaved"
            if found := _measured(session, interleaved and was_interleaved):
                return found
    return TYPICAL


def _newest(folder: Path) -> list[tuple[Path, tuple[int, int]]]:
    """Session files, the latest first, each with its modification time and size."""
    try:
        with os.scandir(folder) as entries:
            stats = [(Path(e), e.stat()) for e in entries if e.name.endswith(".yaml")]
    except OSError:
        return []
    files = [(p, (s.st_mtime_ns, s.st_size)) for p, s in stats if s.st_size <= _LARGEST_BYTES]
    return sorted(files, key=lambda file: file[1], reverse=True)[:_NEWEST]


@lru_cache(maxsize=4 * _NEWEST)
def _glanced(path: Path, identity: tuple[int, int]) -> Shelved | None:
    """Cached by `identity`, which changes with the file."""
    return glance(path) if is_session(path) else None


def _fits(start: RunStart, protocol: str, target: str) -> bool:
    return (
        start.plan.get("repeats", 1) > 1
        and start.plan.get("workload", {}).get("protocol", "pong") == protocol
        and any(each.name == target and "target" in each.roles for each in start.machines)
    )


_known: dict[tuple[object, ...], Spreads | None] = {}


def _measured(session: Shelved, interleaved: bool) -> Spreads | None:
    key = (*session.identity, interleaved)
    if key not in _known:
        _known[key] = _read(session, interleaved)
    return _known[key]


def _read(session: Shelved, interleaved: bool) -> Spreads | None:
    try:
        summary = summarise(skim(session.path))
    except BadInput:
        return None
    day = session.start.started_utc[:10] if session.start else ""
    title = f"{session.title}, {day}"
    return spreads(summary.servers.values(), interleaved=interleaved, session=title)

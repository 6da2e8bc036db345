"""The spread between passes in earlier sessions, which predicts what a plan can show."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from workbench import paths
from workbench.analysis.sensitivity import TYPICAL, Spreads, spreads
from workbench.analysis.summary import summarise
from workbench.documents import RunStart
from workbench.errors import BadInput
from workbench.sessions import is_session
from workbench.sessions.library import Shelved, glance
from workbench.sessions.skim import skim

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

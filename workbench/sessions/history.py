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
from workbench.sessions.library import glance
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
    asked = protocol, target, interleaved
    newest = _newest(paths.data_dir() / "sessions" if folder is None else folder)
    return next((found for each in newest if (found := _measured(*each, *asked))), TYPICAL)


def _newest(folder: Path) -> list[tuple[Path, tuple[int, int]]]:
    """Session files, the latest first, each with its modification time and size."""
    try:
        with os.scandir(folder) as entries:
            stats = [(Path(e), e.stat()) for e in entries if e.name.endswith(".yaml")]
    except OSError:
        return []
    files = [(p, (s.st_mtime_ns, s.st_size)) for p, s in stats if s.st_size <= _LARGEST_BYTES]
    return sorted(files, key=lambda file: file[1], reverse=True)[:_NEWEST]


@lru_cache(maxsize=8 * _NEWEST)
def _measured(
    path: Path, identity: tuple[int, int], protocol: str, target: str, interleaved: bool
) -> Spreads | None:
    """Cached by `identity`, which changes with the file, because a preview follows every key."""
    session = glance(path) if is_session(path) else None
    if session is None or session.start is None or not _fits(session.start, protocol, target):
        return None
    try:
        summary = summarise(skim(path))
    except BadInput:
        return None
    return spreads(
        summary.servers.values(),
        interleaved=interleaved and session.start.plan.get("order") == "interleaved",
        session=f"{session.title}, {session.start.started_utc[:10]}",
    )


def _fits(start: RunStart, protocol: str, target: str) -> bool:
    return (
        start.plan.get("repeats", 1) > 1
        and start.plan.get("workload", {}).get("protocol", "pong") == protocol
        and any(each.name == target and "target" in each.roles for each in start.machines)
    )

"""Formats servers and sessions as text, the same on every page. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path

from workbench.documents import RunStart
from workbench.results.comparison import Side
from workbench.results.setup import Setup
from workbench.sessions.library import Shelved

_ENDING = ".pong.yaml"
"""Of the names of session files."""
_STATUS = {"done": "complete", "stopped": "stopped early", "aborted": "aborted", "failed": "failed"}


def when(start: RunStart | None, *, short: bool = False) -> str:
    """ "21 November, 09:02", in local time; with the year where it is not this one. `short`: "21
    Nov"."""
    if start is None:
        return ""
    began = datetime.fromisoformat(start.started_utc)
    began = began.replace(tzinfo=began.tzinfo or UTC).astimezone()
    year = "" if began.year == datetime.now().astimezone().year else f" {began.year}"
    month = f"{began:%b}" if short else f"{began:%B}"
    return f"{began.day} {month}{year}, {began:%H:%M}"


def told_apart(sessions: Sequence[tuple[str, RunStart | None, Path]]) -> dict[Path, str]:
    """Return the titles of sessions by their files; with the name of the file where several have
    one title and began in the same minute."""
    keys = [(title, start.started_utc[:16] if start else "") for title, start, _ in sessions]
    counts = Counter(keys)
    return {
        path: f"{title} · {path.name.removesuffix(_ENDING)}" if counts[key] > 1 else title
        for key, (title, _, path) in zip(keys, sessions, strict=True)
    }


def ended(session: Shelved) -> str:
    if session.start is None:
        return "unreadable"
    if session.stop is not None:
        return _STATUS[session.stop.status]
    return "being recorded" if session.growing else "cut off"


def conditions(start: RunStart) -> str:
    """Describe in one line where and how a session ran."""
    setup = Setup(start)
    where = f"{setup.where} ({setup.cores})" if setup.cores else setup.where
    parts = (setup.protocol, setup.calls, where, setup.backlog, setup.load_tool)
    return " · ".join(filter(None, parts))


def letters(sides: Sequence[Side]) -> str:
    """Return the session of each letter: "A: Ping-pong, 21 November, 09:02 · B: ..."; empty: there
    is one."""
    names = told_apart([(side.name, side.start, side.path) for side in sides])
    named = (f"{side.tag}: {names[side.path]}, {when(side.start)}" for side in sides)
    return " · ".join(named) if len(sides) > 1 else ""


def free_name(name: str, taken: Iterable[str], by: str = " ") -> str:
    """Return the name, with a number after `by` if it is taken, in whatever case."""
    names = {each.casefold() for each in taken}
    numbered = (f"{name[:59]}{by}{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each.casefold() not in names)

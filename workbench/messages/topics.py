"""The registry of notes' topics: each is a code with severity and parameters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from workbench.converting import convert
from workbench.documents import Note
from workbench.formatting import continued
from workbench.messages.base import Said, recorded
from workbench.messages.notes import NOTICES, SOUND, Severity, lost_share
from workbench.messages.outcomes import FEWEST_SAMPLES, Outcome, Peak, Profile
from workbench.messages.plans import WARNINGS

TOPICS: dict[str, type[Outcome]] = {"peak": Peak, "profile": Profile}
"""Those that are no templates."""

LEVELS = {
    # Topics of older sessions.
    "warning": Severity.WARNING,
    "audit": Severity.ALERT,
    "think-time-fills": Severity.WARNING,
    **dict.fromkeys(TOPICS, Severity.INFO),
    **{
        code: next((level for level in Severity if level.name in words), usual)
        for table, usual in ((NOTICES, Severity.INFO), (WARNINGS, Severity.WARNING))
        for code, (words, _) in table.items()
    },
}

_RAISED: dict[str, tuple[Severity, Callable[[Mapping[str, Any]], bool]]] = {
    # The clients reach no rate: all charts are hatched. Or what a server sustains stays unknown.
    "ceiling": (Severity.ALERT, lambda data: data.get("ceiling_per_s") == 0),
    "not-judged": (Severity.ALERT, lambda data: bool(data.get("first"))),
    "link": (Severity.WARNING, lambda data: lost_share(data) > SOUND),
    "peak": (Severity.WARNING, lambda data: not data["sure"]),
    "profile": (Severity.WARNING, lambda data: data["samples"] < FEWEST_SAMPLES),
}
"""Topics that matter more where their parameters are so."""

_UNNAMED = ("gate", "database", "gave-up", "cool-down", "paused", "resumed")
"""Topics whose sentences do not name their server."""


def read_note(note: Note) -> Said:
    """The message of a note; `recorded` if its topic is unknown or its parameters are missing."""
    record = {**note.data, "code": note.topic}
    if found := NOTICES.read(record) or WARNINGS.read(record):
        return found
    with contextlib.suppress(msgspec.ValidationError, ArithmeticError, LookupError, ValueError):
        message = convert(note.data, TOPICS[note.topic])
        # Figures of the right types may still fail to render.
        message.text()
        return message
    return recorded(note.text)


def severity(note: Note) -> Severity:
    """The severity of a recorded note; unknown topics are informational."""
    message = read_note(note)
    if (raised := _RAISED.get(message.code)) and raised[1](message.data()):
        return raised[0]
    return LEVELS.get(note.topic, Severity.INFO)


def about(note: Note, server: str) -> str:
    """The sentence of a note, with the name of its server. `server` is empty if it is none of those
    compared; a note about a server is then about the null server."""
    server = server or "Null server" * bool(note.server)
    # Before it had parameters, it had no name.
    named = note.topic not in _UNNAMED and (note.topic != "again" or read_note(note).code)
    return note.text if named or not server else f"{server}: {continued(note.text)}"

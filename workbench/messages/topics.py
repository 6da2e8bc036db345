"""The registry of notes' topics: each is a code with severity and parameters."""

from __future__ import annotations

from workbench.documents import Note
from workbench.formatting import continued
from workbench.messages import outcomes
from workbench.messages.base import Recorded, Said, kinds, read
from workbench.messages.notes import ALERTS, NOTICES, Notice, Severity
from workbench.messages.plans import WARNINGS

# A module whose messages are notes, too.
assert issubclass(outcomes.Peak, Notice)
TOPICS = kinds(Notice)

LEVELS = {
    # Topics of older sessions.
    "warning": Severity.WARNING,
    "audit": Severity.ALERT,
    "think-time-fills": Severity.WARNING,
    **{code: kind.level for code, kind in TOPICS.items()},
    **{
        code: next((level for level in Severity if level.name in words), usual)
        for table, usual in ((NOTICES, Severity.INFO), (WARNINGS, Severity.WARNING))
        for code, (words, _) in table.items()
    },
}

_UNNAMED = ("gate", "database", "gave-up", "cool-down", "paused", "resumed")
"""Topics whose sentences do not name their server."""


def read_note(note: Note) -> Said:
    """The message of a note; `Recorded` if its topic is unknown or its parameters are missing."""
    record = {**note.data, "code": note.topic}
    found = NOTICES.read(record) or WARNINGS.read(record)
    return found or read(TOPICS, note.topic, note.data, note.text)


def severity(note: Note) -> Severity:
    """The severity of a recorded note; unknown topics are informational."""
    message = read_note(note)
    if isinstance(message, Notice):
        return message.severity()
    if message.code in ALERTS and ALERTS[message.code](message.data()):
        return Severity.ALERT
    return LEVELS.get(note.topic, Severity.INFO)


def about(note: Note, server: str) -> str:
    """The sentence of a note, with the name of its server. `server` is empty if it is none of those
    compared; a note about a server is then about the null server."""
    server = server or "Null server" * bool(note.server)
    # Before it had parameters, it had no name.
    named = note.topic not in _UNNAMED and not (
        note.topic == "again" and isinstance(read_note(note), Recorded)
    )
    return note.text if named or not server else f"{server}: {continued(note.text)}"

"""The registry of notes' topics: each is a code with severity and parameters."""

from __future__ import annotations

from workbench.documents import Note
from workbench.formatting import continued
from workbench.messages import machines, outcomes, plans, tools
from workbench.messages.base import Message, kinds, read
from workbench.messages.notes import Notice, Severity

# Modules whose messages are notes, too.
assert all(
    issubclass(kind, Notice)
    for kind in (
        *(machines.Link, outcomes.Peak, plans.Warned),
        *(tools.ToolCommand,),
    )
)
TOPICS = kinds(Notice)

_RETIRED = {
    "warning": Severity.WARNING,
    "audit": Severity.ALERT,
    "think-time-fills": Severity.WARNING,
}
"""Topics of older sessions."""

_UNNAMED = ("again", "gate", "gave-up", "cool-down", "paused", "resumed")
"""Topics whose sentences did not name their server before they had parameters."""


def read_note(note: Note) -> Message:
    """The message of a note; `Recorded` if its topic is unknown or its parameters are missing."""
    return read(TOPICS, note.topic, note.data, note.text)


def severity(note: Note) -> Severity:
    """The severity of a recorded note; unknown topics are informational."""
    message = read_note(note)
    if isinstance(message, Notice):
        return message.severity()
    known = TOPICS.get(note.topic)
    return known.level if known else _RETIRED.get(note.topic, Severity.INFO)


def about(note: Note, server: str) -> str:
    """The sentence of a note, with the name of its server. `server` is empty if it is none of those
    compared; a note about a server is then about the null server."""
    server = server or "Null server" * bool(note.server)
    message = read_note(note)
    named = message.names_server if isinstance(message, Notice) else note.topic not in _UNNAMED
    return note.text if named or not server else f"{server}: {continued(note.text)}"

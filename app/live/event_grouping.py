"""Merges notes that say the same of several servers or rates into one sentence. No Qt."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from workbench.documents import Note
from workbench.formatting import continued
from workbench.messages import base
from workbench.messages.base import places
from workbench.messages.notes import Again, Database, Gate, NotJudged
from workbench.messages.topics import read_note

Named = tuple[Note, str]
"""A note, and the name of the server that it is about."""


def kind(note: Note, server: str) -> Hashable:
    """Return the kind of a note; notes of one kind are merged. None: it stands alone."""
    if not server:
        return None
    match read_note(note):
        case Gate() as gate:
            return gate.code, gate.findings()
        case Database() as database:
            return database.code, database.text()
        case NotJudged() as doubt:
            return doubt.code, base.kind(doubt.reason())
        case Again() as again:
            return again.code, again.look, again.pass_number
        case _:
            return None


def sentence(notes: Sequence[Named]) -> str:
    """Return the sentence for notes of one kind."""
    messages = [read_note(note) for note, _ in notes]
    first = messages[0]
    if isinstance(first, Gate | Database):
        names = ", ".join(dict.fromkeys(server for _, server in notes))
        text = notes[0][0].text
        return f"{names}: {continued(text)}"
    if len(notes) == 1:
        return notes[0][0].text
    servers = [server for _, server in notes]
    if isinstance(first, Again):
        again = [message for message in messages if isinstance(message, Again)]
        where = [(name, x) for name, m in zip(servers, again, strict=True) for x in m.rates_per_s]
        return f"Repeating, because a limit is decided there: {places(where, first.suffix)}."
    doubts = [message for message in messages if isinstance(message, NotJudged)]
    where = [(name, doubt.x) for name, doubt in zip(servers, doubts, strict=True)]
    causes = base.merged_text([doubt.reason() for doubt in doubts])
    return f"{causes} Not judged: {places(where, doubts[0].suffix)}."

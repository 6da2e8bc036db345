"""Notes that say the same of several servers or rates, as one sentence. No Qt."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from workbench.documents import Note
from workbench.report.doubts import listed

Named = tuple[Note, str]
"""A note, and the name of the server it is about."""

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def kind(note: Note, server: str) -> Hashable:
    """Notes of one kind are told together; None: this one is told alone."""
    if note.topic == "gate" and server:
        return note.topic, note.text
    if "cause" in note.data and server:
        return "doubt", _FIGURE.sub("#", str(note.data["cause"]))
    return None


def told(notes: Sequence[Named]) -> str:
    """Of notes of one kind."""
    first = notes[0][0]
    names = dict.fromkeys(server for _, server in notes)
    if first.topic == "gate":
        return f"{', '.join(names)}: {first.text[:1].lower()}{first.text[1:]}"
    where = listed([f"{name} at {_offered(notes, name)}" for name in names])
    return f"{where} cannot be judged. {_spanned([str(n.data['cause']) for n, _ in notes])}"


def _offered(notes: Sequence[Named], server: str) -> str:
    """ "18,000, 19,000 and 22,000/s", "10 and 50 at a time" """
    loads = dict.fromkeys(str(n.data["offered"]) for n, name in notes if name == server)
    figures = [_FIGURE.match(load) for load in loads]
    unit = _FIGURE.sub("", next(iter(loads)))
    return listed([found[0] for found in figures if found]) + unit


def _spanned(sentences: Sequence[str]) -> str:
    """Sentences that differ in figures alone as one, from each one's least to its most."""
    figures = [_FIGURE.findall(sentence) for sentence in sentences]
    spans = [_span(each) for each in zip(*figures, strict=True)]
    return _FIGURE.sub(lambda _: spans.pop(0), sentences[0])


def _span(figures: Sequence[str]) -> str:
    ranked = sorted(set(figures), key=lambda figure: float(figure.replace(",", "")))
    return ranked[0] if len(ranked) == 1 else f"{ranked[0]} to {ranked[-1]}"

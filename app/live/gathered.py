"""Notes that say the same of several servers or rates, as one sentence. No Qt."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence

from workbench import wording
from workbench.documents import Note
from workbench.report.doubts import listed

Named = tuple[Note, str]
"""A note, and the name of the server it is about."""

_FIGURE = re.compile(r"\d[\d,]*(?:\.\d+)?")


def kind(note: Note, server: str) -> Hashable:
    """Notes of one kind are told together; None: this one is told alone."""
    if not server:
        return None
    if note.topic == "gate":
        return "gate", note.text
    if "cause" in note.data:
        return "doubt", _FIGURE.sub("#", str(note.data["cause"]))
    if note.topic == "again" and note.data.get("rates_per_s"):
        return "again", note.data.get("look"), note.data.get("pass_number")
    return None


def told(notes: Sequence[Named]) -> str:
    """Of notes of one kind."""
    first = notes[0][0]
    if first.topic == "gate":
        names = ", ".join(dict.fromkeys(server for _, server in notes))
        return f"{names}: {first.text[:1].lower()}{first.text[1:]}"
    if len(notes) == 1:
        return first.text
    if first.topic == "again":
        return f"Measured again, for what each holds is decided there: {_points(notes)}."
    return f"{_spanned([str(n.data['cause']) for n, _ in notes])} Not judged: {_points(notes)}."


def _points(notes: Sequence[Named]) -> str:
    """ "gevent at 18,000 and 20,000/s", "gevent and Trio at 8,400/s and Twisted at 4,000/s" """
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(server for _, server in notes):
        alike.setdefault(_loads([n for n, of in notes if of == name]), []).append(name)
    return listed([f"{listed(names)} at {loads}" for loads, names in alike.items()])


def _loads(notes: Sequence[Note]) -> str:
    """ "18,000, 19,000 and 22,000/s", "10 and 50 at a time" """
    loads = [load for note in notes for load in _offered(note)]
    figures = sorted({_FIGURE.findall(load)[0] for load in loads}, key=_value)
    return listed(figures) + _FIGURE.sub("", loads[0])


def _offered(note: Note) -> list[str]:
    if note.topic == "again":
        return [f"{wording.rate(each)}/s" for each in note.data["rates_per_s"]]
    return [str(note.data["offered"])]


def _spanned(sentences: Sequence[str]) -> str:
    """Sentences that differ in figures alone as one, from each one's least to its most."""
    figures = [_FIGURE.findall(sentence) for sentence in sentences]
    spans = [_span(each) for each in zip(*figures, strict=True)]
    return _FIGURE.sub(lambda _: spans.pop(0), sentences[0])


def _span(figures: Sequence[str]) -> str:
    ranked = sorted(set(figures), key=_value)
    return ranked[0] if len(ranked) == 1 else f"{ranked[0]} to {ranked[-1]}"


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))

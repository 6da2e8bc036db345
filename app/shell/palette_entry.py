"""What the command palette lists, and how it is found. No Qt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+")
MOST = 60
"""Entries shown at once; whoever looks for another one types on."""


@dataclass(frozen=True)
class Entry:
    """One line of the palette."""

    text: str
    group: str
    run: Callable[[], object]
    icon: str = "arrow-right"
    about: str = ""
    """Shown beside the text, and searched after it."""
    keys: str = ""

    @property
    def id(self) -> str:
        """Return a key by which it is remembered."""
        return f"{self.group}/{self.text}/{self.about}"


def find(entries: Iterable[Entry], typed: str, recent: Sequence[str] = ()) -> list[Entry]:
    """Return the entries that contain every typed word: the groups of the best first, within a
    group the best first. `recent`: ids of those run last, latest first; they win a tie,
    then the shorter one does.
    """
    rank = {id_: place for place, id_ in enumerate(recent)}
    words = typed.casefold().split()
    found = []
    for place, entry in enumerate(entries):
        score = _score(entry, words)
        if score is not None:
            length = len(entry.text) if words else 0
            found.append((score, rank.get(entry.id, len(rank)), length, place, entry))
    found.sort(key=lambda each: each[:4])
    order: dict[str, int] = {}
    for *_, entry in found[:MOST]:
        order.setdefault(entry.group, len(order))
    return sorted((each[4] for each in found[:MOST]), key=lambda entry: order[entry.group])


def _score(entry: Entry, words: Sequence[str]) -> int | None:
    """Return how well the words match, 0 best; None: one of them is not there."""
    total = 0
    text, beside = entry.text.casefold(), f"{entry.about} {entry.group}".casefold()
    for word in words:
        score = _match(text, word)
        if score is None:
            other = _match(beside, word)
            if other is None or other > _WORD_START:
                return None
            score = _BESIDE + other
        total += score
    return total


_START, _WORD_START, _PIECES, _INSIDE, _SCATTERED, _BESIDE = range(6)


def _match(text: str, word: str) -> int | None:
    if text.startswith(word):
        return _START
    words = _WORD.findall(text)
    if _begins_in(text, word):
        return _WORD_START
    if _in_pieces(words, word):
        return _PIECES
    if word in text:
        return _INSIDE
    return _SCATTERED if any(_scattered(each, word) for each in words) else None


def _begins_in(text: str, typed: str) -> bool:
    """Whether it stands where a word begins, with marks in or before it: "nine.pong", ".yaml"."""
    before = r"(?<![^\W_])" if typed[0].isalnum() else ""
    return re.search(before + re.escape(typed), text) is not None


def _in_pieces(words: Sequence[str], typed: str) -> bool:
    """Whether it consists of starts of words in their order: "opse" is in "open a session"."""
    for place, word in enumerate(words):
        for length in range(1, len(typed) + 1):
            if not word.startswith(typed[:length]):
                break
            if length == len(typed) or _in_pieces(words[place + 1 :], typed[length:]):
                return True
    return False


def _scattered(word: str, typed: str) -> bool:
    """Whether the word begins with the first letter, and the others follow in their order."""
    rest = iter(word)
    return word[0] == typed[0] and all(letter in rest for letter in typed)

"""Checks every figure of the published benchmarks that docs/sources.md, resources/sources.yaml, the
presets and the catalogue quote: `make facts`, or `python -m tests.source_facts`. With a folder that
has the texts, `make facts TEXTS=FOLDER`, it looks for the words beside each figure as well.

`tests/cases/sources.yaml` has the figures of the texts, kept by hand. A figure belongs to the names
that stand before it in its sentence, and has to be one of theirs; one without a name has to be one
of the source's, beside the words it is about.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.known_figures import facts, figures
from tests.quoted_texts import DOCUMENT, Passage, Read, passages, stored

MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
FULL_DATE = re.compile(rf"\b\d\d? {MONTH} \d{{4}}\b")
DATE = re.compile(rf"(?:\b\d\d? )?\b{MONTH}(?: \d{{4}})?\b|\b20(?:09|1[0135])\b")
NEUTRAL = re.compile(r"\bPython [23]\.\d+|\b[Rr]ound [123]\b|\bcomment [1-5]?\d\b|HTTP 1\.1|^\d$")


def around(sentence: str, match: re.Match[str]) -> str:
    start, end = match.span("number")
    return f"{sentence[max(start - 60, 0) : start]}#{sentence[end : end + 60]}"


@cache
def problems_of(passage: Passage) -> tuple[str, ...]:
    """Return a sentence for each figure or date that the source does not have."""
    return tuple(_problems_of(passage))


def _problems_of(passage: Passage) -> Iterator[str]:
    for date in FULL_DATE.findall(passage.text):
        if date not in facts().data["dates"]:
            yield f"{passage.place}: {date} is not a date of the source"
    text = NEUTRAL.sub("", DATE.sub("", " ".join(passage.text.replace("**", "").split())))
    for sentence in re.split(r"(?<=[.?!]) (?=\S)", text):
        yield from problems_of_sentence(passage, sentence)


def problems_of_sentence(passage: Passage, sentence: str) -> Iterator[str]:
    known = [
        each
        for each in facts().known
        if each.question in facts().asked(passage.questions, f"{passage.context} {sentence}")
    ]
    named = facts().named(sentence)
    last = 0
    group: tuple[str, ...] = (passage.subject,) if passage.subject else ()
    for match, figure in figures(sentence):
        begin = match.start()
        clause = max(last, sentence.rfind(";", 0, begin))
        fresh = tuple(name for at, name in named if clause <= at < begin)
        if isinstance(figure.value, str):
            fresh = fresh[-1:]
        group, last, end = fresh or group, begin, match.end()
        of = tuple(name for _, name in named[:1]) if figure.unit == "times" else group
        where = around(sentence, match)
        free = any(each.explains(figure, where) for each in known if not each.subject)
        if free or (not of and passage.owns(figure)):
            continue
        wrong = [
            name
            for name in of
            if not any(each.explains(figure, where) for each in known if each.subject == name)
        ]
        if wrong or not of:
            beside = f" beside {', '.join(wrong)}" if wrong else ""
            shown = " ".join(sentence[max(begin - 40, 0) : end + 20].split())
            said = f"{match[0].strip()}{beside}"
            yield f"{passage.place}: {said} is not in the source (... {shown} ...)"


def problems_of_table(document: str) -> Iterator[str]:
    """Yield a sentence for each cell of the table of 2009 in the documentation that is not as
    printed, apart from abbreviations."""
    short: dict[str, str] = facts().data["abbreviations"]
    printed = {}
    for row in facts().data["table_of_2009"].splitlines():
        name, *cells = (short.get(each, each) for each in row.split(" | "))
        printed[name] = cells
    for row in re.findall(r"^\| (.*) \|$", document, flags=re.MULTILINE):
        name, *cells = row.split(" | ")
        name = name.removesuffix("Web")
        if len(cells) == 16 and name in printed and printed.pop(name) != cells:
            yield f"{DOCUMENT}, feature table of 2009: the row {row!r} is not as printed"
    for name in printed:
        yield f"{DOCUMENT}, feature table of 2009: no row of {name}"


def problems_of_words(folder: Path) -> Iterator[str]:
    """Yield a sentence for each figure whose words are not in the texts of a folder (*.txt)."""
    texts = [" ".join(each.read_text("utf-8").split()) for each in sorted(folder.glob("*.txt"))]
    for question, rows in facts().data["figures"].items():
        for row in rows:
            words = [re.escape(each) for each in row.rpartition(" | ")[2].split(" ... ")]
            if not any(re.search(".{,2000}?".join(words), text) for text in texts):
                yield f"{question}: no text of {folder} has the words of {row}"


def problems(read: Read = stored) -> list[str]:
    """Return what the texts say that their sources do not."""
    wrong = [each for passage in passages(read) for each in problems_of(passage)]
    return [*wrong, *problems_of_table(read(DOCUMENT))]


if __name__ == "__main__":
    found = [
        *problems(),
        *(each for name in sys.argv[1:] for each in problems_of_words(Path(name))),
    ]
    print(*found, f"{len(found)} figures are not in the sources.", sep="\n")
    sys.exit(bool(found))

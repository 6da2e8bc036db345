"""The texts that quote the published benchmarks: documentation, presets and catalogue."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests.known_figures import ROOT, Figure, facts, figures, loaded

DOCUMENT, PUBLISHED = "docs/sources.md", "resources/sources.yaml"


@dataclass(frozen=True)
class Passage:
    """A text, the questions whose figures it may quote, and the server it is about."""

    place: str
    text: str
    questions: tuple[str, ...]
    context: str = ""
    subject: str = ""
    own: frozenset[float] = frozenset()
    """Numbers of the plan that it describes, without units; times are seconds."""

    def owns(self, figure: Figure) -> bool:
        if isinstance(figure.value, str) or figure.unit not in ("", "/s", "ms", "minutes"):
            return False
        return figure.value * {"ms": 0.001, "minutes": 60}.get(figure.unit, 1) in self.own


Read = Callable[[str], str]


@cache
def stored(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def passages(read: Read = stored) -> Iterator[Passage]:
    """Yield every text that quotes a source."""
    yield from in_document(read(DOCUMENT))
    for source in loaded(read(PUBLISHED)):
        for each in source["questions"]:
            for name in ("label", "shows", "method", "found", "differs"):
                place = f"{PUBLISHED}, {each['id']}, {name}"
                yield Passage(place, each[name], (each["id"],))
            for figure in each.get("figures", []):
                place = f"{PUBLISHED}, {each['id']}, {figure['name']}, cited"
                text = f"{figure['name']}: {figure['cited']}"
                yield Passage(place, text, (each["id"],))
    for path in sorted(ROOT.glob("resources/plans/*.yaml")):
        name = str(path.relative_to(ROOT))
        plan = loaded(read(name))
        if source := plan.get("source"):
            own = frozenset([*values(plan), float(len(plan["servers"]))])
            for text in (plan["name"], plan["description"]):
                yield Passage(name, text, (source,), own=own)
    for path in sorted(ROOT.glob("resources/servers/*/server.yaml")):
        yield from in_entry(path.parent.name, loaded(read(str(path.relative_to(ROOT)))))


def values(plan: Any) -> Iterator[float]:
    if isinstance(plan, dict | list):
        for each in plan.values() if isinstance(plan, dict) else plan:
            yield from values(each)
    elif isinstance(plan, int | float):
        yield float(plan)


def in_document(document: str) -> Iterator[Passage]:
    for part in re.split(r"^## ", document, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        number = title.partition(".")[0]
        if number in facts().data["sections"]:
            source = facts().data["sections"][number]
            yield from in_part(f"{DOCUMENT}, {title}", body, tuple(facts().by_source[source]))


def in_part(place: str, body: str, questions: tuple[str, ...]) -> Iterator[Passage]:
    for block in re.split(r"\n\n|\n(?=- )|\n(?=\| )", body):
        if block.startswith("| "):
            head = body[: body.index(block)].rpartition("\n\n")[2].partition("\n")[0] or block
            cells = [[each.strip() for each in row.split("|")[1:-1]] for row in (head, block)]
            for column, cell in zip(*cells, strict=True):
                row = " ".join(cells[1][:2])
                named = facts().named(cells[1][0])
                subject = named[0][1] if named else ""
                yield Passage(place, cell, questions, f"{column} {row}", subject)
        else:
            yield Passage(place, block, questions)


def in_entry(id: str, entry: dict[str, Any]) -> Iterator[Passage]:
    texts = [*entry.get("notes", []), *entry.get("unequal", [])]
    for text in [entry.get("description", ""), *texts, entry.get("fault", "")]:
        for sentence in re.split(r"(?<=\.) ", text):
            if year := re.search(r"\b(20\d\d) benchmark|benchmark of (20\d\d)", sentence):
                sources = facts().data["sources_of"][int(year[1] or year[2])]
                questions = tuple(each for one in sources for each in facts().by_source[one])
                subject = facts().data["entries"].get(id, "")
                yield Passage(f"catalogue, {id}", sentence, (*questions, id), subject=subject)


def altered(changes: list[tuple[str, str, str]]) -> Read:
    """Return the texts with changes: file, regular expression, replacement. Raises ValueError for
    one that changes nothing."""

    def read(name: str) -> str:
        text = stored(name)
        for file, old, new in changes:
            if file == name:
                text, count = re.subn(old, new, text)
                if not count:
                    raise ValueError(f"{name} has no {old!r}: plant another error.")
        return text

    return read


def misread(passage: Passage) -> Iterator[Passage]:
    """Yield the text with each of its figures made ten times as large."""
    for match, figure in figures(passage.text):
        if isinstance(figure.value, float) and figure.value:
            digits = match["number"]
            more = f"{float(digits.replace(',', '')) * 10:,.10g}" if digits[0].isdigit() else "77"
            start, end = match.span("number")
            yield replace(passage, text=f"{passage.text[:start]}{more}{passage.text[end:]}")

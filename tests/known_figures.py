"""Figures in texts, and those of the published benchmarks: `tests/cases/sources.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests/cases/sources.yaml"
FIELDS = (
    *("at", "replies_per_s", "requests", "errors", "mean_ms", "stopped_at", "memory_mb"),
    "kb_per_s",
)
UNIT_OF = {
    "at": "/s",
    "replies_per_s": "/s",
    "stopped_at": "/s",
    "mean_ms": "ms",
    "memory_mb": "MB",
    "kb_per_s": "KB/s",
}
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
SPELT = {word: number for number, word in enumerate(WORDS, 1)} | {"twenty": 20}

NUMBER = (
    r"(?:(?<![\w.,/-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)*(?!\w|,\d|\.\d)"
    rf"|\b(?:{'|'.join(SPELT)})(?= (?:million|minutes|hours|times|clients|calls|servers)\b))"
)
UNIT = (
    r"(?P<million> million\b)?"
    r"(?P<rate> ?(?:(?:new )?(?:calls|connections|messages|replies|requests|users))?"
    r"(?:/s\b| (?:per|a|each) second\b))?"
    r"(?P<unit> (?:ms|s|seconds|minutes|hours|times|%|[kKMG]B|GHz|Mbit/s)(?!\w))?"
)


@dataclass(frozen=True)
class Figure:
    """What a text says: a number (or version) and its unit; in ms where it is seconds."""

    value: float | str
    unit: str = ""

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:,.10g}"
        return f"{value}{'' if self.unit in ('', '/s') else ' '}{self.unit}"

    def says(self, fact: Figure) -> bool:
        same = self.unit == fact.unit or {self.unit, fact.unit} <= {"", "/s"}
        return same and self.value == fact.value


@dataclass(frozen=True)
class Known:
    """A figure of a text; `about`: what stands around it, where # is the figure."""

    figure: Figure
    question: str
    subject: str = ""
    field: str = ""
    about: str = ""

    def explains(self, figure: Figure, around: str) -> bool:
        return figure.says(self.figure) and (not self.about or bool(re.search(self.about, around)))


@cache
def loaded(text: str) -> Any:
    return yaml.safe_load(text)


class Facts:
    """The figures of `tests/cases/sources.yaml`."""

    def __init__(self) -> None:
        data: dict[str, Any] = loaded(CASES.read_text(encoding="utf-8"))
        self.data = data
        self.by_source: dict[str, list[str]] = data["questions"]
        self.names: dict[str, str] = data["names"]
        self.when: dict[str, list[str]] = data["when"]
        self.known = [*self._of_figures(data["figures"]), *self._beside(data["beside"])]
        for ids, version, *_ in (row.split(" | ") for row in data["table_of_2010"].splitlines()):
            for name in data["entries_of_2010"][ids.split(", ")[0]].split(", "):
                if version not in ("-", "tip"):
                    number = re.findall(r"[\d.]+", version)[0]
                    figure = next(figures(number))[1]
                    about = (
                        r"#" if number.count(".") > 1 else rf"(?:{self.names[name]})(?: trunk)? #"
                    )
                    self.known += [Known(figure, "piel-2010", name, about=about)]
        pattern = "|".join(f"(?P<n{i}>{names})" for i, names in enumerate(self.names.values()))
        self.token = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")

    def _of_figures(self, figures: dict[str, list[str]]) -> Iterator[Known]:
        for question, rows in figures.items():
            for row in rows:
                name, values, _ = row.split(" | ")
                for each in values.split(", "):
                    kind, value = each.split(" ")
                    for shown in {float(value), float(round(float(value)))}:
                        yield Known(Figure(shown, UNIT_OF.get(kind, "/s")), question, name, kind)

    def _beside(self, beside: dict[str, list[str]]) -> Iterator[Known]:
        for question, rows in beside.items():
            for row in rows:
                stated, _, about = row.partition(" ~ ")
                name, _, figure = stated.rpartition(": ")
                assert about, row
                yield Known(next(figures(figure))[1], question, name, about=about)

    def named(self, sentence: str) -> list[tuple[int, str]]:
        """Return where a name stands, by position."""
        names = list(self.names)
        found = []
        for match in self.token.finditer(sentence):
            index = int(str(match.lastgroup)[1:])
            found.append((match.start(), names[index]))
        return found

    def asked(self, questions: tuple[str, ...], text: str) -> set[str]:
        """Return those of the questions that a text is about, and their source."""
        matched = [
            each
            for each in questions
            if each in self.when and all(re.search(part, text) for part in self.when[each])
        ]
        asked = set(matched or questions)
        return asked | {source for source, all_ in self.by_source.items() if asked & {*all_}}


@cache
def facts() -> Facts:
    return Facts()


def figures(sentence: str) -> Iterator[tuple[re.Match[str], Figure]]:
    """Yield the figures of a sentence and where they stand."""
    for match in re.finditer(rf"(?P<number>{NUMBER}){UNIT}", sentence):
        number = match["number"].replace(",", "")
        if number.count(".") > 1:
            yield match, Figure(number)
            continue
        value = float(SPELT.get(number) or number) * (1e6 if match["million"] else 1)
        unit = "/s" if match["rate"] else (match["unit"] or "").strip()
        if not unit and (end := re.match(rf" to (?:{NUMBER}){UNIT}", sentence[match.end() :])):
            unit = (end["unit"] or "").strip()  # the first of two: "7 to 8 %"
        if unit in ("s", "seconds"):
            value, unit = round(value * 1000, 6), "ms"
        yield match, Figure(value, unit)

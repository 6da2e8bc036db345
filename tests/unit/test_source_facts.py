"""Figures and quotations of the published benchmarks, in docs, presets, catalogue and
`sources.yaml`, against what the texts state: `tests/cases/sources.yaml`, kept by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from tests import known_figures, quoted_texts, source_facts
from workbench import paths
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import ServerEntry
from workbench.servers.facts import In2009, Today

ROOT = Path(__file__).parents[2]
FACTS: dict[str, Any] = yaml.safe_load((ROOT / "tests/cases/sources.yaml").read_text())
DOCUMENT = (ROOT / "docs/sources.md").read_text()
SHIPPED = Catalogue.load(extra_dirs=[]).contestants()
PUBLISHED: list[dict[str, Any]] = yaml.safe_load((paths.RESOURCES / "sources.yaml").read_text())


def test_every_figure_that_is_quoted_is_the_sources() -> None:
    assert source_facts.problems() == []


@pytest.mark.parametrize(("file", "old", "new"), FACTS["planted"])
def test_an_error_in_a_quoted_figure_is_found(file: str, old: str, new: str) -> None:
    assert source_facts.problems(quoted_texts.altered([(file, old, new)]))


def test_nearly_every_figure_that_is_ten_times_too_large_is_found() -> None:
    missed, count = [], 0
    for passage in quoted_texts.passages():
        right = set(source_facts.problems_of(passage))
        for wrong in quoted_texts.misread(passage):
            count += 1
            if not set(source_facts.problems_of(wrong)) - right:
                missed.append(wrong)
    assert count > 400
    assert len(missed) <= count // 40, [(each.place, each.text) for each in missed]


def test_what_is_quoted_is_in_the_source() -> None:
    made = re.sub(r"```.*?```|`[^`\n]*`", "", DOCUMENT, flags=re.DOTALL)
    quoted = {" ".join(each.split()) for each in re.findall(r'["“]([^"”]+)["”]', made)}
    assert quoted <= set(FACTS["quotations"])
    for entry in SHIPPED:
        facts = (getattr(entry.today, name) for name in Today.__struct_fields__)
        cited = [fact.source for fact in facts if fact]
        for text in (*said(entry), *cited):
            assert not re.findall(r'["“]', text), entry.id


def test_what_is_only_inferred_is_marked() -> None:
    for entry in SHIPPED:
        for name in Today.__struct_fields__:
            fact = getattr(entry.today, name)
            if fact and not fact.inferred:
                words = r"\b(presumably|probably|likely|perhaps|seems?|inferred)\b"
                assert not re.search(words, fact.source), (entry.id, name)


@pytest.mark.parametrize("question", FACTS["figures"])
def test_every_published_figure_is_as_its_text_has_it(question: str) -> None:
    asked = {each["id"]: each for source in PUBLISHED for each in source["questions"]}
    found = asked[question]
    rows = [row.rpartition(" | ") for row in FACTS["figures"][question]]
    assert [written(figure) for figure in found["figures"]] == [row for row, _, _ in rows]
    for figure, (_, _, words) in zip(found["figures"], rows, strict=True):
        printed = {name: float(value) for name, value in re.findall(r"(\d+)% (\d+)", words)}
        assert figure.get("percentiles_ms", {}) == printed


def written(figure: dict[str, Any]) -> str:
    values = ", ".join(f"{name} {figure[name]}" for name in known_figures.FIELDS if name in figure)
    return f"{figure['name']} | {values}"


def said(entry: ServerEntry) -> tuple[str, ...]:
    return (entry.description, *entry.notes, *entry.unequal, entry.fault)


def test_the_table_of_2009_is_as_printed() -> None:
    rows = [line.split(" | ") for line in FACTS["table_of_2009"].splitlines()]
    table = {name.casefold(): tuple(cells) for name, *cells in rows}
    assert len(table) == 14
    shown = set()
    for entry in SHIPPED:
        if entry.in_2009:
            name = entry.name.partition(" ")[0].casefold()
            cells = msgspec.structs.astuple(entry.in_2009)
            assert len(cells) == len(In2009.__struct_fields__)
            pairs = zip(cells, table[name], strict=True)
            assert all(cell in {"", printed} for cell, printed in pairs), entry.id
            shown.add(name)
    assert shown == set(table)


def test_the_table_of_2010_is_as_its_text_has_it() -> None:
    rows = [line.split(" | ") for line in FACTS["table_of_2010"].splitlines()]
    table = {id: cells for ids, *cells in rows for id in ids.split(", ")}
    shown = {entry.id: entry.in_2010 for entry in SHIPPED if entry.in_2010}
    cells = {id: [cell or "-" for cell in msgspec.structs.astuple(shown[id])] for id in shown}
    assert cells == table


def test_nothing_is_said_to_be_lost_that_is_not() -> None:
    texts = [DOCUMENT, *(text for entry in SHIPPED for text in said(entry))]
    for claim in ("no documentation is left", "no longer kept", "is nowhere to be had"):
        assert not any(claim in text for text in texts)

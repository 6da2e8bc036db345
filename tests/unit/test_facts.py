"""Each file in cases/facts is a text as some machine has it, and the fact it must give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.machines import facts

CASES = sorted((Path(__file__).parents[1] / "cases" / "facts").glob("*.json"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_fact_is_parsed_from_its_text(case: Path) -> None:
    data = json.loads(case.read_text())
    processors = [fact.process for fact in facts.FACTS if fact.name == data["fact"]]
    assert processors[0](data["text"]) == data["expect"]


def test_facts_a_machine_does_not_report_are_absent() -> None:
    assert facts.process([None] * len(facts.PATHS)) == {"sysctls": {}}


def test_garbage_in_any_file_is_survived() -> None:
    for nonsense in ("", "\x00\xff", "a b c\n" * 1000, "processor : \n" * 3, "TCP: tw\n"):
        facts.process([nonsense] * len(facts.PATHS))


def test_kernel_settings_are_listed_together() -> None:
    texts = ["4096\n" if path.endswith("somaxconn") else None for path in facts.PATHS]
    assert facts.process(texts) == {"sysctls": {"net.core.somaxconn": 4096}}


def test_changed_facts_of_a_machine_are_reported_but_not_its_load() -> None:
    before = {"kernel": "Linux 6.1.0", "load_average": [0.1], "sysctls": {"fs.nr_open": 1024}}
    now = {"kernel": "Linux 6.1.2", "load_average": [2.0], "sysctls": {"fs.nr_open": 4096}}
    assert facts.changes(before, now) == [
        "kernel Linux 6.1.0 -> Linux 6.1.2",
        "fs.nr_open 1024 -> 4096",
    ]
    assert facts.changes(now, now) == []
    assert facts.changes({}, {"governor": "performance"}) == ["governor unknown -> performance"]

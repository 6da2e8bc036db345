"""An example or more of each message with the sentence it renders, in a file for each family of
`workbench/messages/`: its code and parameters as recorded, and on the next line the sentence.

Elsewhere tests assert codes and parameters.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from workbench.converting import convert
from workbench.messages import audits, causes, notes, plans, problems, reasons
from workbench.messages.base import Record, Said, Templates
from workbench.messages.topics import TOPICS

TABLES: dict[str, tuple[Templates, ModuleType, str]] = {
    "problems": (problems.PROBLEMS, problems, "problem"),
    "reasons": (reasons.TEMPLATES, reasons, "reason"),
    "audits": (audits.FINDINGS, audits, "finding"),
    "causes": (causes.CAUSES, causes, "lacking"),
    "differences": (audits.DIFFERENCES, audits, "differs"),
    "notes": (notes.NOTICES, notes, "notice"),
    "plans": (plans.WARNINGS, plans, "warning"),
}
"""Tables of messages, by the file of their examples, and what makes these, by its name."""


def _written(name: str) -> Iterator[tuple[str, Record, str]]:
    lines = iter((Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines())
    for recorded, sentence in zip(lines, lines, strict=True):
        code, _, parameters = recorded.partition(" ")
        yield code, json.loads(parameters or "{}"), sentence.strip()


STATED = [
    (getattr(module, make)(code, *parameters.pop("keys", ()), **parameters), sentence)
    for name, (table, module, make) in TABLES.items()
    for code, parameters, sentence in _written(name)
    if code in table
]
"""Each message of a table, and its sentence."""
EXAMPLES: list[tuple[Said, Record, str]] = [
    (convert(parameters, TOPICS[code]), {"code": code, **parameters}, sentence)
    for code, parameters, sentence in _written("outcomes")
]
"""Each message as recorded, and its sentence."""

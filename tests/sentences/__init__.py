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
from workbench.messages import (
    audits,
    causes,
    machines,
    notes,
    outcomes,
    plans,
    reasons,
    tools,
    workloads,
)
from workbench.messages.base import Message, Record, kinds

FAMILIES = (audits, causes, machines, notes, outcomes, plans, reasons, tools, workloads)


def _kinds(family: ModuleType) -> dict[str, type[Message]]:
    """The messages of a family by code; two families may use the same."""
    return {
        code: kind
        for message in vars(family).values()
        if isinstance(message, type(Message))
        for code, kind in kinds(message).items()
        if kind.__module__ == family.__name__
    }


def _examples() -> Iterator[tuple[Message, Record, str]]:
    for family in FAMILIES:
        known = _kinds(family)
        name = family.__name__.rpartition(".")[2]
        lines = iter((Path(__file__).parent / f"{name}.txt").read_text("utf-8").splitlines())
        for recorded, sentence in zip(lines, lines, strict=True):
            code, _, parameters = recorded.partition(" ")
            record = {"code": code, **json.loads(parameters or "{}")}
            yield convert(record, known[code]), record, sentence.strip()


KINDS = {kind for family in FAMILIES for kind in _kinds(family).values()}
EXAMPLES = [*_examples()]
"""Each message as recorded, and its sentence."""

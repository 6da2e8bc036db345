"""Sides of a comparison, of generated sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from tests.outcomes import Contestant
from tests.synthetic import contestants
from workbench.analysis.knee import PassKnee
from workbench.documents import AnyDocument, Note, RunStart
from workbench.results.comparison import Side, side_of
from workbench.results.conditions import conditions
from workbench.sessions import Session

RATES = [1000.0 * n for n in range(1, 10)]
UNCLEAR = "cannot be distinguished: could differ"


def faster(count: int, by: float) -> list[Contestant]:
    return [replace(c, capacity_per_s=c.capacity_per_s * by) for c in contestants(count)]


def side(tag: str, documents: list[AnyDocument]) -> Side:
    return side_of(Session(tag, documents), Path(f"{tag}.yaml"), tag)


def changed(
    documents: list[AnyDocument],
    *,
    plan: dict[str, Any] | None = None,
    workload: dict[str, Any] | None = None,
    facts: dict[str, Any] | None = None,
    backlog: int | None = None,
    version: str = "",
) -> list[AnyDocument]:
    """The same session from another set-up."""
    out: list[AnyDocument] = []
    for document in documents:
        if isinstance(document, RunStart):
            data = document.plan | (plan or {})
            data["workload"] = data["workload"] | (workload or {})
            (machine,) = document.machines
            machine = msgspec.structs.replace(machine, facts=machine.facts | (facts or {}))
            servers = [
                msgspec.structs.replace(record, version=version or record.version)
                for record in document.servers
            ]
            out.append(
                msgspec.structs.replace(
                    document, plan=data, machines=[machine], servers=servers, axis=None
                )
            )
        elif isinstance(document, Note) and "backlog" in document.data and backlog:
            out.append(msgspec.structs.replace(document, data={"backlog": backlog}))
        else:
            out.append(document)
    return out


def passes(*bounds: tuple[float, float]) -> list[PassKnee]:
    return [PassKnee(n, reached, lost) for n, (reached, lost) in enumerate(bounds, start=1)]


def said_of(*documents: list[AnyDocument]) -> tuple[list[str], Sequence[str]]:
    found = conditions([side(tag, each) for tag, each in zip("ABCDEF", documents, strict=False)])
    return [condition.text for condition in found.differing], found.warnings

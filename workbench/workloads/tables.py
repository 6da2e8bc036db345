"""The table of a workload's keys in docs/plans.md, written by `make docs`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench import doc_table, formatting
from workbench.workloads.base import Declaration
from workbench.workloads.fields import Field, fields
from workbench.workloads.options import Workload
from workbench.workloads.registry import DEFAULT, WORKLOADS, own_fields

BEGIN, END = "<!-- keys of workloads, made by `make docs` -->", "<!-- end -->"


def table() -> str:
    """Return the table of all keys of a plan's `workload`."""
    rows = [*_protocols()]
    common = [field for field in fields(Workload) if field.key != "protocol"]
    for field in [*common, *own_fields()]:
        having = [
            each for each in WORKLOADS.values() if field.key in each.options.__struct_fields__
        ]
        only = "" if len(having) == len(WORKLOADS) else ", ".join(each.label for each in having)
        varied = any(field.key == axis.key for each in having for axis in each.axes)
        parts = (
            field.help,
            _span(field.key, having),
            only and f"only of {only}",
            "can `vary`" * varied,
        )
        text = "; ".join(filter(None, parts))
        rows.append(f"| `{field.key}` | {_default(field)} | {text} |")
    return "\n".join(["| Key of `workload` | Default | |", "|---|---|---|", *rows]) + "\n"


def written(text: str) -> str:
    """Return a document with the table between the two comments."""
    return doc_table.replaced(text, table(), BEGIN, END)


def _protocols() -> Iterator[str]:
    protocols = [
        f"`{key}` ({protocol.label})"
        for each in WORKLOADS.values()
        for key, protocol in each.protocols.items()
    ]
    yield f"| `protocol` | `{DEFAULT}` | what clients speak: {', '.join(protocols)} |"


def _default(field: Field) -> str:
    value = field.default
    if isinstance(value, str):
        return f"`{value}`" * bool(value)
    return formatting.figure(value, field.unit) if isinstance(value, int | float) else ""


def _span(key: str, having: Iterable[Declaration]) -> str:
    """Return the highest value; of workloads that differ in it, that of each."""
    most: dict[str, list[str]] = {}
    for each in having:
        for field in fields(each.options):
            if field.key == key and field.most is not None:
                most.setdefault(f"{field.most:,}", []).append(each.label)
    if len(most) < 2:
        return "".join(f"at most {value}" for value in most)
    return "at most " + " or ".join(f"{n} ({', '.join(labels)})" for n, labels in most.items())


if __name__ == "__main__":
    doc_table.main(written)

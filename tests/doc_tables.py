"""The tables of the documentation that follow from declarations: `make docs` writes them, each
between two comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from workbench import formatting
from workbench.analysis.published import Published, sources
from workbench.servers.catalogue import Catalogue
from workbench.servers.entry import Seen, ServerEntry
from workbench.servers.gate import PIPELINED
from workbench.workloads.base import Declaration
from workbench.workloads.options import Field, Workload, fields
from workbench.workloads.registry import DEFAULT, WORKLOADS, own_fields

ROOT = Path(__file__).parents[1]


def keys_of_workloads() -> str:
    """Return the table of all keys of a plan's `workload`."""
    rows = [_protocols()]
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


def _protocols() -> str:
    protocols = [
        f"`{key}` ({protocol.label})"
        for each in WORKLOADS.values()
        for key, protocol in each.protocols.items()
    ]
    return f"| `protocol` | `{DEFAULT}` | what clients speak: {', '.join(protocols)} |"


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


def published_figures() -> str:
    """Return all published figures, a table for each question."""
    lines = [""]
    for source in sources():
        for question in (each for each in source.questions if each.figures):
            asked = f"**{question.label}** (`{question.id}`). {question.shows}"
            lines += [f"{asked} {question.found}", ""]
            heads = ("Published", "At", "Figures", "Where", "Compared with")
            lines += [f"| {' | '.join(heads)} |", "|---|---|---|---|---|"]
            for each in question.figures:
                at = "" if each.at is None else f"{each.at:,.0f}"
                ids = ", ".join(f"`{id_}`" for id_ in each.servers)
                figures = ", ".join(each.figures.values())
                lines.append(f"| {each.name} | {at} | {figures} | {each.cited} | {ids} |")
            lines += ["", *_percentiles(question.figures)]
    return "\n".join(lines)


def _percentiles(figures: Iterable[Published]) -> list[str]:
    """Response times as `ab` prints them, for the figures that have them."""
    stating = [each for each in figures if each.percentiles_ms]
    if not stating:
        return []
    names = list(stating[0].percentiles_ms)
    rows = [[each.name, *(f"{each.percentiles_ms[name]:g}" for name in names)] for each in stating]
    heads = ["Percentile, ms", *(f"{name} %" for name in names)]
    lines = [heads, ["---"] * len(heads), *rows]
    return [*(f"| {' | '.join(line)} |" for line in lines), ""]


HEAD = (
    *("Server", "Version", "Bytes", "Keep-alive", "Pipelined", "Processes", "Threads"),
    *("At rest, MB", "Cold start, s", "Warm start, s"),
)
NONE = "–"
"""It has none."""


def seen_of_servers(entries: Iterable[ServerEntry]) -> str:
    """Return what `catalogue check` recorded of servers."""
    lines = [HEAD, ("---",) * len(HEAD), *(_row(each, each.seen) for each in entries if each.seen)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(entry: ServerEntry, seen: Seen) -> tuple[str, ...]:
    starts = (seen.cold_start_s, seen.warm_start_s)
    http = any(protocol.startswith("http/") for protocol in entry.protocols)
    return (
        f"`{entry.id}`",
        seen.version or entry.pinned_version if entry.framework or entry.version else NONE,
        NONE if entry.family == "message" else f"{seen.bytes or ''}",
        ("yes" if seen.keep_alive else "no") if http else NONE,
        f"{seen.pipelining} of {PIPELINED}" if seen.keep_alive else NONE,
        f"{seen.processes}",
        f"{seen.threads:,}",
        f"{seen.memory_mb:,.0f}",
        *("" if each is None else f"{each:.2f}" for each in starts),
    )


def shipped_servers() -> str:
    return f"\n{seen_of_servers(Catalogue.load(extra_dirs=[]).contestants())}\n"


TABLES: dict[str, tuple[str, str, Callable[[], str]]] = {
    "docs/plans.md": (
        "<!-- keys of workloads, made by `make docs` -->",
        "<!-- end -->",
        keys_of_workloads,
    ),
    "docs/sources.md": (
        "<!-- figures of the sources, made by `make docs` -->",
        "<!-- end -->",
        published_figures,
    ),
    "docs/servers.md": (
        "<!-- servers as checked, made by `make docs` -->",
        "<!-- end of the servers -->",
        shipped_servers,
    ),
}
"""By document: the comments around the table, and what makes it."""


def written(document: str, text: str) -> str:
    """Return the text of a document with its table between the comments. Raises ValueError if they
    are missing."""
    begin, end, table = TABLES[document]
    around = re.compile(rf"({re.escape(begin)}\n).*?({re.escape(end)}\n)", re.DOTALL)
    new, found = around.subn(lambda match: f"{match[1]}{table()}{match[2]}", text)
    if found != 1:
        raise ValueError(f"one pair of {begin} and {end} is needed, there are {found}")
    return new


if __name__ == "__main__":
    for name in TABLES:
        path = ROOT / name
        path.write_text(written(name, path.read_text("utf-8")), "utf-8")

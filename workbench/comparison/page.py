"""A comparison as an HTML page: what it says; its charts are drawn elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from workbench import __version__
from workbench.comparison import words
from workbench.comparison.conditions import Conditions
from workbench.comparison.sides import Comparison, Side
from workbench.comparison.table import part
from workbench.report.conditions import Table
from workbench.report.page import Drawing, fill
from workbench.report.setup import Setup, sentence


@dataclass(frozen=True)
class Results:
    """A table with a line for each server of each session."""

    title: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]
    """The server's key, and its cells; empty cells: unknown."""


def render(comparison: Comparison, differing: Conditions, drawing: Drawing) -> str:
    """Return the whole file."""
    return fill(
        "comparison.html",
        drawing,
        title=words.title(comparison),
        pongbench=__version__,
        sessions=Table(
            "Sessions",
            tuple(_session(side) for side in comparison.sides),
            ("", "Session", "Began", "Machines", "Load"),
        ),
        warnings=[*_warnings(comparison), *differing.warnings],
        results=list(_results(comparison)),
        replies=comparison.axis.replies,
        differences=list(_differences(comparison)),
        conditions=Table(
            "Conditions that differ",
            tuple(
                (each.what, *(each.values.get(side.tag, "") for side in comparison.sides))
                for each in (*differing.differing, *differing.audits)
            ),
            ("", *(side.tag for side in comparison.sides)),
        ),
        same=differing.same_text(),
    )


def _session(side: Side) -> tuple[str, ...]:
    began, setup = datetime.fromisoformat(side.start.started_utc), Setup(side.start)
    return (
        side.tag,
        f"{side.name} ({side.path.name})",
        f"{began.day} {began:%B %Y, %H:%M} UTC",
        sentence(setup.where),
        sentence(setup.protocol, setup.calls, setup.load, setup.size),
    )


def _warnings(comparison: Comparison) -> Iterator[str]:
    """Yield remarks about the files. Where they lie does not concern readers."""
    for side in comparison.sides:
        for warning in side.warnings:
            yield f"{side.tag}: {warning.replace(str(side.path), side.path.name)}"


def _results(comparison: Comparison) -> Iterator[Results]:
    for common in (False, True):
        if common and comparison.rate is None:
            return
        columns, lines = part(comparison, common=common)
        texts = [[cell.text for cell in cells] for _, cells in lines]
        told = [n for n in range(len(columns)) if {each[n] for each in texts} - {"", "0"}]
        rows = [(each.key, [cells[n].text for n in told]) for each, cells in lines]
        columns = [columns[n] for n in told]
        at = f"All servers at {comparison.axis.at(comparison.rate or 0)}"
        yield Results(at if common else "Results", columns, rows)


def _differences(comparison: Comparison) -> Iterator[str]:
    for a, b in words.pairs(comparison):
        figures = words.figures_in(comparison, a, b)
        yield f"{words.difference_in(comparison, a, b)} {figures}".strip()

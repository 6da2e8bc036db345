"""Tables for terminals of any width: columns that do not fit are left out, figures are never
cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

Cell: TypeAlias = "str | Text"

_BETWEEN, _EDGES = 3, 2
"""Columns of the terminal that `box.SIMPLE_HEAD` takes."""

FOLDED = 24
"""Minimum width of a column that folds its text."""


def fitting(
    titles: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    width: int,
    *,
    spare: Sequence[str],
    folds: str = "",
    styles: Sequence[str] = (),
    least: Mapping[str, int] | None = None,
    words: bool = False,
) -> Table:
    """A table at most `width` wide. As many columns of `spare` (titles, the least important first)
    are left out as necessary. The first column is aligned left, the others right unless they hold
    `words`; `folds` is the one whose text may continue on the next line. `styles` are those of the
    rows. `least`: minimum widths, so that no column comes and goes while a table is updated."""
    least = least or {}
    needs = {
        title: max([cell_len(title), least.get(title, 0), *(_width(row[n]) for row in rows)])
        for n, title in enumerate(titles)
    }
    if folds in needs:
        needs[folds] = min(needs[folds], FOLDED)
    for title in spare:
        if sum(needs.values()) + _BETWEEN * (len(needs) - 1) + _EDGES <= width:
            break
        needs.pop(title, None)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    kept = [n for n, title in enumerate(titles) if title in needs]
    for n in kept:
        if titles[n] == folds:
            table.add_column(folds, overflow="fold")
        else:
            left = words or n == 0
            table.add_column(titles[n], justify="left" if left else "right", no_wrap=True)
    for row, style in zip(rows, [*styles, *[""] * len(rows)], strict=False):
        table.add_row(*(row[n] for n in kept), style=style)
    return table


def _width(cell: Cell) -> int:
    return cell.cell_len if isinstance(cell, Text) else cell_len(cell)

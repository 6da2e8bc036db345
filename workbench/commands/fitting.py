"""Tables for terminals of any width: what does not fit is left out, figures are never cut."""

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
"""What a column that folds its text needs at least."""


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
    """A table at most `width` wide: as many columns of `spare` (titles, the least important first)
    are left out as it takes. The first column is aligned left, others right unless they hold
    `words`; `folds` is the one whose text may go on in the next line. `styles` are those of the
    rows. `least`: widths to reckon with whatever the rows hold now, so that no column comes and
    goes while a table is kept up to date."""
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

"""Few rows that contain every pair of values of different axes, or every value.

A row gives each axis one of its values. Rows are found greedily, always the same, and only such
that every rule allows; what no allowed row can contain is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, product

Axes = Mapping[str, Sequence[str]]
Row = dict[str, str]
Values = tuple[tuple[str, str], ...]
"""(axis, value) of one axis or of two, in the order of the axes."""


class Never:
    """Some values of some axes, of which a row does not have all together."""

    def __init__(self, **values: Collection[str]) -> None:
        self._values = values

    def broken(self, row: Row) -> bool:
        """Whether a row breaks it that need not be complete."""
        return all(row.get(axis) in values for axis, values in self._values.items())


def covering(axes: Axes, rules: Sequence[Never], *, strength: int) -> list[Row]:
    """Return rows with every allowed pair (`strength` 2) or value (1)."""
    wanted = dict.fromkeys(
        tuple(zip(names, values, strict=True))
        for names in combinations(axes, strength)
        for values in product(*(axes[name] for name in names))
    )
    rows: list[Row] = []
    used: Counter[tuple[str, str]] = Counter()
    while wanted:
        row = _completed(dict(next(iter(wanted))), axes, rules, wanted, used)
        if row is None:
            del wanted[next(iter(wanted))]
            continue
        rows.append({axis: row[axis] for axis in axes})
        used.update(rows[-1].items())
        for found in combinations(rows[-1].items(), strength):
            wanted.pop(found, None)
    return rows


def _completed(
    row: Row,
    axes: Axes,
    rules: Sequence[Never],
    wanted: Mapping[Values, None],
    used: Counter[tuple[str, str]],
) -> Row | None:
    """Return the row with the axes that it lacks, each with the value that brings most of what is
    wanted, or of those the one used least; None: the rules allow none."""
    if any(rule.broken(row) for rule in rules):
        return None
    missing = [axis for axis in axes if axis not in row]
    if not missing:
        return row
    place = list(axes).index

    def brought(choice: tuple[str, str]) -> tuple[int, int]:
        pairs = (sorted((choice, other), key=lambda it: place(it[0])) for other in row.items())
        new = sum(tuple(pair) in wanted for pair in pairs) + ((choice,) in wanted)
        return new, -used[choice]

    axis = max(missing, key=lambda name: len(axes[name]))
    for choice in sorted(((axis, it) for it in axes[axis]), key=brought, reverse=True):
        if found := _completed(row | dict([choice]), axes, rules, wanted, used):
            return found
    return None

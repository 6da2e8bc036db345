"""However a server behaves, the load agent counts what clients count that are not ours.

Every value of every axis of `referee.cells`, in `make verify` every pair. Times decide nothing but
that no call is lost to a timeout. To see one cell: `python -m tests.referee`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations, product

import pytest
from chosen import WHOLE
from referee.cells import AXES, Cell, cells
from referee.covering import Never, Row, covering
from referee.trial import Referee, Trial, referee

EVERYTHING = bool(os.environ.get(WHOLE))
CELLS = cells(pairs=EVERYTHING)
TRIED: list[Trial] = []


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Referee]:
    with referee(tmp_path_factory.mktemp("referee"), with_wrk=EVERYTHING) as found:
        yield found


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_the_agent_and_other_clients_see_the_same(judge: Referee, cell: Cell) -> None:
    trial = judge.tried(cell)
    TRIED.append(trial)
    assert not trial.faults, f"\n{trial}"


def test_the_cells_that_were_tried_agreed(capsys: pytest.CaptureFixture[str]) -> None:
    """The table: those that did not, with what each client saw, and how many did."""
    wrong = [trial for trial in TRIED if trial.faults]
    told = [str(trial) for trial in TRIED if trial.faults or trial.slow]
    agreed = len(TRIED) - len(wrong)
    with capsys.disabled():
        print("", *told, f"{len(TRIED)} cells tried, {agreed} agreed", sep="\n", flush=True)
    assert not wrong


@pytest.mark.parametrize("strength", [1, 2])
def test_rows_cover_what_the_rules_allow_and_nothing_else(strength: int) -> None:
    """As far as all rows can be listed."""
    axes = {"a": ["1", "2", "3"], "b": ["4", "5"], "c": ["6", "7"], "d": ["8", "9"]}
    rules = [
        Never(a=("1",), b=("4",)),
        Never(b=("5",), c=("7",)),
        Never(b=("5",), c=("6",), d=("8",)),
        Never(a=("3",), d=("8",)),
    ]
    every = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    allowed = [row for row in every if not any(rule.broken(row) for rule in rules)]
    found = covering(axes, rules, strength=strength)
    assert all(row in allowed for row in found) and len(found) < len(allowed)

    def parts(rows: list[Row]) -> set[object]:
        return {part for row in rows for part in combinations(row.items(), strength)}

    assert parts(found) == parts(allowed)


def test_every_value_of_every_axis_is_tried() -> None:
    for axis, values in AXES.items():
        assert {getattr(cell, axis) for cell in CELLS} == set(values), axis

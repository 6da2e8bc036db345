"""`python -m tests.referee [VALUE ...]`: the cell with these values of `cells.AXES`, or many cells.

python -m tests.referee rst kept-closed first        one cell; the other axes have their usual value
python -m tests.referee --pairs                      all that `make verify` tries
python -m tests.referee --pairs chunks-30 tls        of these, the ones with both values
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import astuple
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "process")]

from .cells import Cell, cells  # noqa: E402
from .trial import referee  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.referee", description=__doc__)
    parser.add_argument("values", nargs="*")
    parser.add_argument("--pairs", action="store_true", help="the cells of make verify")
    parser.add_argument("--sample", action="store_true", help="the cells of make test")
    parser.add_argument("--timeout", type=float, default=30.0, help="of a call, in seconds")
    parser.add_argument("--agree", action="store_true", help="list cells that agree, too")
    given = parser.parse_args()
    tried = [Cell.of(given.values)]
    if given.pairs or given.sample:
        found = cells(pairs=given.pairs)
        tried = [cell for cell in found if set(given.values) <= set(astuple(cell))]
    agreed = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        referee(Path(folder), timeout_s=given.timeout) as judge,
    ):
        for cell in tried:
            trial = judge.tried(cell)
            agreed += not trial.faults
            if trial.faults or trial.slow or given.agree or len(tried) == 1:
                print(trial, flush=True)
    print(f"{len(tried)} cells tried, {agreed} agreed, {len(tried) - agreed} disagreed")
    return agreed < len(tried)


if __name__ == "__main__":
    sys.exit(main())

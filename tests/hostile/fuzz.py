"""`make fuzz`: hostile files with new seeds, until Ctrl-C; every failure with its seed.

    python -m tests.hostile.fuzz [--kind session] [--seed 12345] [--minutes 5]

`--seed` begins there and says of the first file everything; the same seed makes the same file.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.hostile import corpus, trial


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=corpus.KINDS, action="append")
    parser.add_argument("--seed", type=int, help="the first (default: by the clock)")
    parser.add_argument("--minutes", type=float, help="end after so many (default: never)")
    parser.add_argument("--keep", type=Path, help="a folder for the files with which it fails")
    asked = parser.parse_args()
    kinds = asked.kind or corpus.KINDS
    begin = int(time.time()) if asked.seed is None else asked.seed
    end_s = time.monotonic() + 60 * asked.minutes if asked.minutes else float("inf")
    done: Counter[str] = Counter()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pongbench-fuzz-") as place:
        os.environ["PONGBENCH_HOME"] = str(Path(place, "home"))
        try:
            for seed, kind in itertools.product(itertools.count(begin), kinds):
                if time.monotonic() > end_s:
                    break
                hostile = corpus.made(kind, seed)
                faults = trial.faults(hostile, Path(place, hostile.name))
                done[kind] += 1
                if faults:
                    failed.append(hostile.name)
                    print(f"{hostile.name} (--kind {kind} --seed {seed})", *faults, sep="\n  ")
                    if asked.keep:
                        asked.keep.mkdir(parents=True, exist_ok=True)
                        (asked.keep / f"{hostile.name}.yaml").write_bytes(hostile.content)
        except KeyboardInterrupt:
            pass
    tried = ", ".join(f"{count:,} {kind}s" for kind, count in done.items())
    print(
        f"From seed {begin}: {tried or 'nothing'} tried, {len(failed):,} failed. {' '.join(failed)}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

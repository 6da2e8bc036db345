"""Keeps the table of docs/installing.md: what was tried on which system, with what result, and how
long it took. The scripts that try it call this:

    python3 packaging/tried.py SYSTEM WHAT RESULT SECONDS
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "installing.md"
BEGIN, END = "<!-- what was tried, written by the scripts -->", "<!-- end -->"


def write(system: str, what: str, result: str, seconds: float) -> None:
    """Write a row, in place of what is known of the same."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END, 1)
    head, rule, *rows = inside.strip().splitlines()
    begin = f"| {system} | {what} |"
    at = [place for place, row in enumerate(rows) if row.startswith(begin)]
    beside = [place for place, row in enumerate(rows) if row.startswith(f"| {system} |")]
    place = at[0] if at else max(beside, default=len(rows) - 1) + 1
    rows[place : place + len(at)] = [f"{begin} {result} | {seconds:.0f} |"]
    lines = "\n".join([BEGIN, "", head, rule, *rows, "", END])
    PAGE.write_text(f"{before}{lines}{after}", encoding="utf-8")


def of_a_card(parts: Sequence[dict[str, Any]]) -> str:
    """What `card.py` told, as a result."""
    done = [part for part in parts if "clicks" in part]
    told = [f"{part['what'].rstrip('.')}: {part['seconds']:.0f} s" for part in done]
    seconds, clicks = (sum(part[key] for part in done) for key in ("seconds", "clicks"))
    return f"ok; {'; '.join(told)}; in all {seconds:.0f} s and {clicks} clicks"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--card"]:
        lines = Path(sys.argv[4]).read_text(encoding="utf-8").splitlines()
        parts = [json.loads(line) for line in lines if line.startswith("{")]
        failed = [part for part in parts if "failed" in part]
        if failed or sum("clicks" in part for part in parts) < 5:
            raise SystemExit(f"{failed or parts}")
        write(sys.argv[2], sys.argv[3], of_a_card(parts), sum(p.get("seconds", 0) for p in parts))
    else:
        system, what, result, seconds = sys.argv[1:]
        write(system, what, result, float(seconds))

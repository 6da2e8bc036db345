"""Tables of the documentation that `make docs` writes, each between two comments."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path


def replaced(text: str, table: str, begin: str, end: str) -> str:
    """Return a document with the table between the two comments. Raises ValueError if they are
    missing."""
    around = re.compile(rf"({re.escape(begin)}\n).*?({re.escape(end)}\n)", re.DOTALL)
    new, found = around.subn(lambda match: f"{match[1]}{table}{match[2]}", text)
    if found != 1:
        raise ValueError(f"one pair of {begin} and {end} is needed, there are {found}")
    return new


def main(written: Callable[[str], str]) -> None:
    """Bring the document up to date that the command line names."""
    document = Path(sys.argv[1])
    document.write_text(written(document.read_text("utf-8")), "utf-8")

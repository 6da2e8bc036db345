"""Tables for spreadsheets, in which no text of others is computed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from workbench.untrusted import one_line, visible

_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠]")


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """RFC 4180 with a header; None: an empty cell."""
    out = io.StringIO()
    table = csv.DictWriter(out, columns)
    table.writeheader()
    table.writerows({key: cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def as_text(lines: Iterable[Iterable[str]]) -> str:
    """Tab-separated, as spreadsheets and mails take it."""
    return "".join("\t".join(one_line(str(cell(each))) for each in line) + "\n" for line in lines)


def cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula and compute begins with an apostrophe,
    which it does not show."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if _FORMULA.match(value) else visible(value)

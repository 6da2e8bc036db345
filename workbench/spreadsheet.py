"""Tables for spreadsheets, in which untrusted text is never evaluated."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

from workbench.untrusted import visible

_FORMULA = re.compile("[=+\\-@\t\r\n＝＋－＠]")


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return CSV (RFC 4180) with a header; None: an empty cell."""
    out = io.StringIO()
    table = csv.DictWriter(out, columns)
    table.writeheader()
    table.writerows({key: cell(value) for key, value in row.items()} for row in rows)
    return out.getvalue()


def cell(value: object) -> object:
    """Return a cell; text that a spreadsheet would evaluate as a formula gets a leading apostrophe,
    which is not displayed."""
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if _FORMULA.match(value) else visible(value)

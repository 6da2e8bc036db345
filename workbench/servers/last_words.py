"""The line of a program's output that says why it ended."""

from __future__ import annotations

import re
from collections.abc import Sequence

_RAISED = re.compile(r"(?:\w+\.)*\w*(?:[Ee]rror|Exception)\b(?::|$)|panic: |fatal error: ")
_REPORTED = re.compile(r".*\b(?:error|fatal|failed|cannot)\b", re.IGNORECASE)


def telling(lines: Sequence[str]) -> str:
    """Return the error among the last lines of output; if there is none, the last line."""
    return error_in(lines) or next((line.strip() for line in reversed(lines) if line.strip()), "")


def error_in(lines: Sequence[str]) -> str:
    """Return the error among the last lines of output; empty: none is known as one."""
    said = [line.strip() for line in lines]
    for pattern in (_RAISED, _REPORTED):
        if found := [line for line in said if pattern.match(line)]:
            return found[-1]
    return ""

"""Untrusted text (from servers, machines, session files), made safe to display."""

from __future__ import annotations

import logging
import re

LONGEST = 10_000
"""The most characters shown of a text; a cut is marked by an ellipsis."""
LONGEST_NAME = 200
"""The most characters of single-line text: names, versions, paths."""

# C0 except tab and line ends, DEL, C1; direction of writing; line separators; tags;
# noncharacters.
_STEERING = (  # compiled when it is used, which is seldom
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("[\r\n\t]")


def visible(text: str) -> str:
    """`text` with everything that steers a terminal or turns the direction of writing written out
    as in JSON: an escape is \\u001b. Newlines and tabs stay."""
    return text if text.isprintable() else re.sub(_STEERING, _written_out, text)


def safe(text: str, most: int = LONGEST) -> str:
    """Return text for display: `visible`, and at most `most` characters long."""
    # Cut first, so that a megabyte is not scanned.
    return _cut(visible(text[: most + 1]), most)


def one_line(text: str, most: int = LONGEST_NAME) -> str:
    """Return `safe` text with newlines and tabs escaped as well."""
    if len(text) <= most and text.isprintable():
        return text  # as most are
    return _cut(_LINE_ENDS.sub(_written_out, visible(text[: most + 1])), most)


def indented(text: str) -> str:
    """Return `safe` text, lines after the first indented, so that none seems to be our output."""
    return re.sub("\n(?!    )", "\n    ", safe(text))


class SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return indented(super().format(record))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _written_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"

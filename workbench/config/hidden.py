"""Characters that nobody sees, and that make a file mean something else than it shows."""

from __future__ import annotations

import re
import unicodedata

_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_JOINERS = "\xad\u200c\u200d"
"""Belong into words of some languages, and into emoji."""
_ALWAYS = re.compile("[\x85\u2028\u2029\u200b\u2060\u180e\ufeff]")
_AT_AN_EDGE = re.compile(
    rf"(?:^|(?<=[\s:,\[\]{{}}\"'-]))[{_SPACES}{_JOINERS}]"
    rf"|[{_SPACES}{_JOINERS}](?=$|[\s:,\[\]{{}}\"'#])"
)
_LINE_END = re.compile("\r\n|\r|\n")
_NAMES = {"\xa0": "no-break space", "\x85": "line break (NEL)", "\ufeff": "byte order mark"}


def hidden(text: str) -> tuple[int, int, str] | None:
    """Return the first such character's line and column, as an editor counts them from 1, and what
    to do. None: there is none."""
    for number, line in enumerate(lines(text), start=1):
        found = _ALWAYS.search(line)
        if not found and not line.lstrip(" \t").startswith("#"):
            found = _AT_AN_EDGE.search(line)
        if found:
            char = found[0]
            name = _NAMES.get(char) or unicodedata.name(char, "hidden character").lower()
            article = "an" if name[0] in "aeiou" else "a"
            cure = "type a space instead" if unicodedata.category(char) == "Zs" else "delete it"
            what = f"{article} {name} (U+{ord(char):04X}) is not allowed; {cure}."
            return number, found.start() + 1, what
    return None


def lines(text: str) -> list[str]:
    """Split as editors do, which know fewer ends of a line than `str.splitlines`."""
    return _LINE_END.split(text)

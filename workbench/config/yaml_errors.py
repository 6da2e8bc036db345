"""What is wrong with a YAML file, for users who never learned YAML: the parser's errors reworded,
whose texts address programmers, and characters that nobody sees and that make a file mean something
else than it shows."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import yaml

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

_SLIPS = (
    (
        "mapping values are not allowed",
        "a colon is not allowed here; put the text into quotes, or move the key to a line of its"
        " own, indented like its neighbours.",
    ),
    (
        "block sequence entries are not allowed",
        "a list cannot begin after other text; begin it on the next line.",
    ),
    (
        "cannot start any token",
        "a value cannot begin with this character; put the value into quotes.",
    ),
    (
        "unknown escape character",
        "this character cannot follow a backslash; use single quotes, or two backslashes.",
    ),
    (
        "could not find expected ':'",
        "the line before has no colon; write 'key: value'.",
    ),
    (
        "did not find expected '-' indicator",
        "this line does not belong to the list above it; begin it with '- ', or indent it.",
    ),
    (
        "did not find expected key",
        "the indentation of this line matches none above; indent it like its neighbours.",
    ),
    (
        "did not find expected <document start>",
        "this line begins further left than the first one; begin both at the same column.",
    ),
    (
        "did not find expected node content",
        "a value is missing before this, or there is an extra bracket.",
    ),
    (
        "did not find expected comment or line break",
        "the line must end after | or >; begin the text on the next one.",
    ),
    (
        "directive",
        "a line cannot begin with %; remove it, or put the value into quotes.",
    ),
)


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


def explained(error: yaml.MarkedYAMLError, text: str, first_line: int = 1) -> str:
    """Describe the error and its fix, to follow the place; in the parser's words if there is no
    better text. `first_line`: the number of the text's first line."""
    problem = error.problem or "this is not YAML"
    mark, lines = error.problem_mark, text.splitlines()
    if mark and mark.line < len(lines) and lines[mark.line][mark.column :].startswith("\t"):
        return "a tab is not allowed here; indent with spaces."
    if "end of stream" in problem and "quoted" in (error.context or ""):
        return (
            f"the quotation mark{_begun(error.context_mark, first_line)} is never closed; close it."
        )
    for bracket, opened in (("]", "list begun with '['"), ("}", "group begun with '{'")):
        if f"or '{bracket}'" in problem:
            begun = _begun(error.context_mark, first_line)
            return (
                f"the {opened}{begun} is still open here; put commas between its values, and"
                f" '{bracket}' at its end."
            )
    text = next((words for slip, words in _SLIPS if slip in problem), "")
    return text or (f"{problem} ({error.context})." if error.context else f"{problem}.")


def _begun(mark: Any, first_line: int) -> str:
    """Return where it began. `mark` is the parser's; its C variant is no `yaml.Mark`."""
    return f" of line {mark.line + first_line}" if mark else ""

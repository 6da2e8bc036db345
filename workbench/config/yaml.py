"""Small YAML files edited by users: plans, profiles, servers.

A file is read as plain data (dict, list, str, int, float, bool, None), keys always text. Common
mistakes and dangerous input are refused in one sentence with the line: too large, too deep,
aliases, tags, duplicate keys. Only `true` and `false` are booleans, and dates stay text.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import msgspec
import yaml

from workbench import converting
from workbench.config.schema_errors import complaint
from workbench.errors import BadInput

Data: TypeAlias = "dict[str, Data] | list[Data] | str | int | float | bool | None"
T = TypeVar("T")

MOST_BYTES = 1 << 20
MOST_NODES = 50_000
DEEPEST = 32

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULL = {"", "~", "null", "Null", "NULL"}
_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,2}(?:_[0-9]{3})+|[1-9][0-9]{0,99})")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9]{1,99}\.[0-9]*|\.[0-9]+|[0-9]{1,99}(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?"
)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SPACES = "\xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
_JOINERS = "\xad\u200c-\u200f\u061c"
"""Belong into words of some languages, and into emoji; the last three are marks of direction."""
_ALWAYS = re.compile("[\x85\u2028-\u202e\u200b\u2060\u2066-\u2069\u180e\ufeff]")
"""Lines that no editor shows, nothing at all, and text that is shown in another order."""
_AT_AN_EDGE = re.compile(
    rf"(?:^|(?<=[\s:,\[\]{{}}\"'-]))[{_SPACES}{_JOINERS}]"
    rf"|[{_SPACES}{_JOINERS}](?=$|[\s:,\[\]{{}}\"'#])"
)
_LINE_END = re.compile("\r\n|\r|\n")
_NAMES = {"\xa0": "no-break space", "\x85": "line break (NEL)", "\ufeff": "byte order mark"}
_SLIPS = {
    "mapping values are not allowed": "a colon is not allowed here; put the text into quotes, or"
    " move the key to a line of its own, indented like its neighbours.",
    "block sequence entries are not allowed": "a list cannot begin after other text; begin it on"
    " the next line.",
    "cannot start any token": "a value cannot begin with this character; put the value into"
    " quotes.",
    "unknown escape character": "this character cannot follow a backslash; use single quotes, or"
    " two backslashes.",
    "could not find expected ':'": "the line before has no colon; write 'key: value'.",
    "did not find expected '-' indicator": "this line does not belong to the list above it; begin"
    " it with '- ', or indent it.",
    "did not find expected key": "the indentation of this line matches none above; indent it like"
    " its neighbours.",
    "did not find expected <document start>": "this line begins further left than the first one;"
    " begin both at the same column.",
    "did not find expected node content": "a value is missing before this, or there is an extra"
    " bracket.",
    "did not find expected comment or line break": "the line must end after | or >; begin the text"
    " on the next one.",
    "directive": "a line cannot begin with %; remove it, or put the value into quotes.",
}
"""The parser's words, which address programmers, and ours, for users who never learned YAML."""


def load_yaml(path: Path, *, what: str) -> Data:
    """Load the data of a file; `what` names its kind in messages ("plan"). Raises BadInput."""
    text = read_text(path, what=what)
    if found := _hidden(text):
        line, column, what_to_do = found
        raise BadInput(f"{what} {path}, line {line}, column {column}: {what_to_do}")
    return loads_yaml(text, name=str(path), what=what)


def loads_yaml(
    text: str, *, name: str, what: str, first_line: int = 1, most_nodes: int = MOST_NODES
) -> Data:
    """Load the data of `text`, from line `first_line` of the file `name`. Raises BadInput."""
    where = f"{what} {name}"
    if bad := _UNPRINTABLE.search(text):
        line = len(_lines(text[: bad.start()])) - 1 + first_line
        raise BadInput(
            f"{where}, line {line}: the character U+{ord(bad.group()):04X} is not allowed;"
            " is this a text file?"
        )
    builder = _Builder(yaml.parse(text, Loader=_Loader), where, first_line, most_nodes)
    try:
        return builder.document()
    except yaml.MarkedYAMLError as error:
        raise builder.problem(
            error.problem_mark or error.context_mark, _explained(error, text, first_line)
        ) from None


def read_text(path: Path, *, what: str, most_bytes: int = MOST_BYTES) -> str:
    """Read a UTF-8 file of at most `most_bytes`, without a byte order mark. Raises BadInput."""
    raw = read_bytes(path, what=what, most_bytes=most_bytes)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(
            f"{what} {path}, line {line}: this is not UTF-8 text; save the file as UTF-8."
        ) from None


def read_bytes(path: Path, *, what: str, most_bytes: int) -> bytes:
    """Read a regular file. Raises BadInput, before reading when it is too large."""
    with opened(path, what=what, most_bytes=most_bytes) as file:
        return file.read()  # With a size, all of that would be allocated first.


@contextlib.contextmanager
def opened(path: Path, *, what: str, most_bytes: int) -> Iterator[BinaryIO]:
    """Open a regular file. Raises BadInput, also when it cannot be read later."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise BadInput(f"{path} is a directory; give a {what} file.")
        # A pipe or a device might never end.
        if not stat.S_ISREG(status.st_mode):
            raise BadInput(f"{path} is not a regular file; give a {what} file.")
        if status.st_size > most_bytes:
            has, most = (size / (1 << 20) for size in (status.st_size, most_bytes))
            raise BadInput(
                f"{path} has {has:,.1f} MiB; a {what} has at most {most:,.0f} MiB. Is it the right"
                " file?"
            )
        file = path.open("rb")
    except FileNotFoundError:
        raise BadInput(f"There is no {what} file {path}.") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, what, error) from None
    with file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, what, error) from None


def _unreadable(path: Path, what: str, error: Exception) -> BadInput:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return BadInput(f"The {what} file {path} cannot be read: {reason.lower()}.")


def dumped(data: object, **layout: Any) -> str:
    """Return data as YAML that `load_yaml` reads; characters that it refuses are escaped."""
    given = {"Dumper": _Dumper, "sort_keys": False, **layout}
    text = str(yaml.dump(data, allow_unicode=True, **given))
    return str(yaml.dump(data, **given)) if _hidden(text) else text


class _Dumper(yaml.SafeDumper):
    """Also quotes texts that YAML 1.1 takes for texts, and `plain` does not: "12e5"."""

    def represent_str(self, text: str) -> yaml.ScalarNode:
        style = None if isinstance(plain(text), str) else "'"
        return self.represent_scalar("tag:yaml.org,2002:str", text, style)


_Dumper.add_representer(str, _Dumper.represent_str)


def convert(data: object, type: type[T], *, name: str, what: str) -> T:
    """Convert `data` to a msgspec type, strictly. Raises BadInput naming the key."""
    try:
        return converting.convert(data, type)
    except msgspec.ValidationError as error:
        key, text = complaint(str(error), data, type)
        where = ", ".join(filter(None, (f"{what} {name}", key)))
        raise BadInput(f"{where}: {text}", key=key, complaint=text) from None


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


@dataclass
class _Builder:
    """Builds plain data from parser events, with limits: the parser's own composer crashes on deep
    nesting and expands aliases."""

    events: Iterator[Any]
    where: str
    first_line: int
    most_nodes: int
    nodes: int = 0

    def problem(self, mark: Any, text: str) -> BadInput:
        """Return the error. `mark` is the parser's; its C variant is no `yaml.Mark`."""
        if mark is None:
            return BadInput(f"{self.where}: {text}")
        line = mark.line + self.first_line
        return BadInput(f"{self.where}, line {line}, column {mark.column + 1}: {text}")

    def refused(self, event: Any, text: str) -> BadInput:
        return self.problem(event.start_mark, text)

    def document(self) -> Data:
        found: list[Data] = []
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent) and found:
                raise self.refused(event, "a second document begins here; keep one to a file.")
            if isinstance(event, yaml.NodeEvent):
                found.append(self._value(event, 0))
        if not found:
            raise BadInput(f"{self.where} is empty.")
        return found[0]

    def _value(self, event: Any, depth: int) -> Data:
        """Return the value that begins with this event, within `depth` others."""
        self._check(event)
        if isinstance(event, yaml.ScalarEvent):
            return plain(event.value) if event.implicit[0] else str(event.value)
        if depth == DEEPEST:
            raise self.refused(event, f"this is nested more than {DEEPEST} deep.")
        inside = itertools.takewhile(
            lambda each: not isinstance(each, yaml.CollectionEndEvent), self.events
        )
        if isinstance(event, yaml.SequenceStartEvent):
            return [self._value(each, depth + 1) for each in inside]
        found: dict[str, Data] = {}
        for key in inside:
            self._check(key)
            if not isinstance(key, yaml.ScalarEvent):
                raise self.refused(key, "a key must be a word, not a list or mapping.")
            if key.value in found:
                raise self.refused(key, f"the key {_short(key.value)!r} is given twice; keep one.")
            found[key.value] = self._value(next(self.events), depth + 1)
        return found

    def _check(self, event: Any) -> None:
        if isinstance(event, yaml.AliasEvent):
            alias = _short(str(event.anchor))
            raise self.refused(event, f"*{alias} is an alias; write the value out instead.")
        self.nodes += 1
        if self.nodes > self.most_nodes:
            raise self.refused(
                event, f"there are more than {self.most_nodes:,} values; shorten it."
            )
        if event.anchor is not None:
            raise self.refused(event, f"&{_short(event.anchor)} is an anchor; remove it.")
        if event.tag is not None:
            raise self.refused(event, f"{_short(event.tag)} is a tag; remove it.")


def plain(text: str) -> Data:
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


def _hidden(text: str) -> tuple[int, int, str] | None:
    """Return the line and the column, from 1 as in an editor, of a character that nobody sees and
    that makes a file mean something else than it shows; and what to do. None: there is none."""
    for number, line in enumerate(_lines(text), start=1):
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


def _lines(text: str) -> list[str]:
    """Split as editors do, which know fewer ends of a line than `str.splitlines`."""
    return _LINE_END.split(text)


def _explained(error: yaml.MarkedYAMLError, text: str, first_line: int) -> str:
    """Describe the error and its fix, to follow the place; in the parser's words if there is no
    better text. `first_line`: the number of the text's first line."""
    problem = error.problem or "this is not YAML"
    mark, lines = error.problem_mark, text.splitlines()
    if mark and mark.line < len(lines) and lines[mark.line][mark.column :].startswith("\t"):
        return "a tab is not allowed here; indent with spaces."
    begun = f" of line {error.context_mark.line + first_line}" if error.context_mark else ""
    if "end of stream" in problem and "quoted" in (error.context or ""):
        return f"the quotation mark{begun} is never closed; close it."
    for bracket, opened in (("]", "list begun with '['"), ("}", "group begun with '{'")):
        if f"or '{bracket}'" in problem:
            return (
                f"the {opened}{begun} is still open here; put commas between its values, and"
                f" '{bracket}' at its end."
            )
    text = next((words for slip, words in _SLIPS.items() if slip in problem), "")
    return text or (f"{problem} ({error.context})." if error.context else f"{problem}.")

"""The errors of msgspec, reworded for the author of the data."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from msgspec import inspect

_TYPES = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "text",
    "array": "a list",
    "object": "keys with values",
    "null": "nothing",
}
_CHOICES = {"ceiling": "ceiling (the client limit)"}
"""Those whose names do not say what they mean."""
_BOUNDS = {">=": "of at least", ">": "above", "<=": "of at most", "<": "below"}
_FIELDED = (inspect.StructType, inspect.DataclassType, inspect.TypedDictType)
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\[\.\.\.\]")


def complaint(message: str, data: object, type: Any, *, form: bool = False) -> tuple[str, str]:
    """What a `msgspec.ValidationError` about `data`, which should be a `type`, is about (empty: the
    whole), and what it says. `form`: whose fields may be empty, and which offers words that stand
    for a number elsewhere.

    >>> complaint("Expected `float` > 0.0 - at `$.rates.from`", {...}, Plan)
    ('rates.from', 'expected a number above 0, got -5.')
    """
    found, _, path = message.partition(" - at ")
    steps = [
        int(index) if index else key
        for key, index in _STEP.findall(path.strip("`").removeprefix("$"))
        if key or index
    ]
    # msgspec does not say under which key of a mapping with free keys.
    got = _TYPES.get(found.partition("got `")[2].strip("`"), "something else")
    shown = got if "[...]" in path else _shown(_value_at(data, steps))
    dotted = "".join(f"[{s + 1}]" if isinstance(s, int) else f".{s}" for s in steps).lstrip(".")
    types = [inspect.type_info(type)]
    for step in steps:
        types = [inner for outer in _apart(types) for inner in _inside(outer, step)]
    return dotted, _complaint(found, shown, list(_apart(types)), form=form)


def _complaint(found: str, shown: str, types: list[inspect.Type], *, form: bool) -> str:
    """`types`: all that are possible at the place."""
    choices = list(_choices(types))
    if match := re.match(r"Object contains unknown field `(.*)`", found, re.DOTALL):
        known = [f.encode_name for type in types if isinstance(type, _FIELDED) for f in type.fields]
        close = difflib.get_close_matches(match[1], known, n=1)
        rest = f". Did you mean {close[0]!r}?" if close else f"; the keys are {', '.join(known)}."
        return f"unknown key {match[1]!r}{rest}"
    if match := re.match(r"Object missing required field `(.*)`", found):
        return f"the key {match[1]!r} is missing; add it."
    if match := re.match(r"Expected `([^`]*)`(?: of length)?(?: (>=|>|<=|<) (\S+))?", found):
        kinds = [_TYPES.get(name, name) for name in match[1].split(" | ") if name != "null"]
        if len(kinds) > 1 and choices:
            others = [kind for kind in kinds if kind != _TYPES["str"]]
            kinds = others if form and others else others + choices
        expected = _either(kinds) if kinds else "nothing"
        if match[2]:
            expected += f" {_BOUNDS[match[2]]} {float(match[3]):,.10g}"
            expected += " in length" * ("of length" in found)
        return f"enter {expected}." if form and shown == "nothing" else _unexpected(expected, shown)
    if found.startswith("Invalid enum value") and choices:
        number = any(isinstance(each, inspect.FloatType | inspect.IntType) for each in types)
        return _unexpected(_TYPES["float"] if form and number else _either(choices), shown)
    return f"{found[:1].lower()}{found[1:]}."


def _unexpected(expected: str, shown: str) -> str:
    return f"expected {expected}, got {shown}."


def _shown(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return repr(value if len(value) <= 40 else f"{value[:40]}...")
        case int() | float():
            return str(value)
        case list():
            return "a list"
        case _:
            return "keys with values"


def _either(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


def _value_at(data: object, steps: list[str | int]) -> object:
    for step in steps:
        match data, step:
            case dict(), str():
                data = data.get(step)
            case list(), int() if step < len(data):
                data = data[step]
            case _:
                return None
    return data


def _apart(types: list[inspect.Type]) -> Iterator[inspect.Type]:
    for type in types:
        if isinstance(type, inspect.Metadata):
            yield from _apart([type.type])
        elif isinstance(type, inspect.UnionType):
            yield from _apart(list(type.types))
        else:
            yield type


def _inside(type: inspect.Type, step: str | int) -> Iterator[inspect.Type]:
    if isinstance(type, _FIELDED):
        yield from (field.type for field in type.fields if field.encode_name == step)
    elif isinstance(type, inspect.ListType) and isinstance(step, int):
        yield type.item_type
    elif isinstance(type, inspect.DictType):
        yield type.value_type


def _choices(types: list[inspect.Type]) -> Iterator[str]:
    for type in types:
        if isinstance(type, inspect.LiteralType):
            yield from (_CHOICES.get(str(value), str(value)) for value in type.values)
        elif isinstance(type, inspect.EnumType):
            yield from (str(member.value) for member in type.cls)

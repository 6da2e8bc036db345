"""Damage done to files: to the data in them where they have a structure, else to their bytes.

Everything is drawn from the `random.Random` that is passed in, so a seed always names one file.
"""

from __future__ import annotations

import copy
import json
import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import yaml

DEEP = 200
_LONG = 60_000

Place = tuple[Any, ...]
"""Keys and indices from the root to a value."""


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400),
    *(10**9, 10**10, 10**12, 10**15, 1e9, 1e15, 1e18),
    *(0.5, -0.5, 1e308, -1e308, 5e-324, float("nan"), float("inf"), 1e17),
    *("", "x", "1", "nan", "null", "{port}", "{0.__class__}", "=1+1", "../../etc/passwd"),
    *("\x1b[2J\x07", "\u202e\u2066x", "\ud83d", "\x00", "\n---\n", "<img src=x>", "[/bold]", "%s"),
    *("a" * _LONG, "2026-13-45T99:99:99Z", "0001-01-01T00:00:00+23:59"),
    *([], [1], [1, 2, 3], ["x"], [None], [[1]], [999_999_999, 1], [-1, -1], [2**63, 2**63]),
    *({}, {"": {}}, {"x": 1}, {"p50": "x"}, {"count": 2**70}),
    *(_nested(20), _nested(DEEP), {"x": _nested(DEEP)}),
)
"""What stands where something else was expected."""

PIECES = (
    *(b"\n", b"---", b"\n---\n", b"...", b"{", b"}", b"[", b"]", b"&a ", b"*a"),
    *(b"\x00", b"\xff\xfe", b"\xed\xa0\xbd", b"\t", b"\r", b"'", b'"', b"#", b": "),
    *(b"- ", b"? ", b"1e999", b"-", b"9" * 400, b"[" * 5_000, b"\xef\xbb\xbf", b"\x1b[31m"),
    *(b"\x85", b"<<: ", b"!!python/name:x "),
)


def damage_data(data: Any, rng: random.Random, times: int | None = None) -> Any:
    """A copy with some values replaced, removed, added, exchanged or repeated."""
    data = copy.deepcopy(data)
    for _ in range(times if times is not None else rng.choice((1, 1, 1, 2, 3, 8))):
        place = _somewhere(data, rng)
        if place:
            rng.choice(_CHANGES)(data, place, rng)
    return data


def damage_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits turned, pieces put in, cut out, doubled, moved, or the end cut off."""
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        data = rng.choice(_BYTEWISE)(data, rng)
    return data


def as_json(data: Any) -> str:
    """On one line, whatever the numbers; half surrogates as they are escaped."""
    return json.dumps(data, separators=(",", ":"))


def as_yaml(data: Any) -> str:
    """In block style, as people write it; what YAML cannot represent is escaped."""
    return yaml.dump(data, allow_unicode=False, sort_keys=False, width=90)


def _places(data: Any) -> dict[Place, list[Place]]:
    """All places by their shape: where indices do not matter, so that rare keys are met as often
    as those of every window."""
    found: defaultdict[Place, list[Place]] = defaultdict(list)
    open_: list[tuple[Place, Place, Any]] = [((), (), data)]
    while open_:
        place, shape, value = open_.pop()
        if place:
            found[shape].append(place)
        if isinstance(value, dict):
            open_ += (((*place, key), (*shape, key), inner) for key, inner in value.items())
        elif isinstance(value, list):
            numbers = all(isinstance(each, int | float) for each in value)
            inside = list(enumerate(value))[: 4 if numbers else None]
            open_ += (((*place, n), (*shape, _kind(inner)), inner) for n, inner in inside)
    return found


def _kind(value: Any) -> Any:
    return str(value.get("kind"))[:20] if isinstance(value, dict) else "[]"


def _somewhere(data: Any, rng: random.Random) -> Place:
    places = _places(data)
    if not places:
        return ()
    return rng.choice(places[rng.choice(sorted(places, key=repr))])


def _parent(data: Any, place: Place) -> Any:
    for step in place[:-1]:
        data = data[step]
    return data


def _replace(data: Any, place: Place, rng: random.Random) -> None:
    _parent(data, place)[place[-1]] = copy.deepcopy(rng.choice(VALUES))


def _remove(data: Any, place: Place, rng: random.Random) -> None:
    del _parent(data, place)[place[-1]]


def _add(data: Any, place: Place, rng: random.Random) -> None:
    parent = _parent(data, place)
    value = copy.deepcopy(rng.choice(VALUES))
    if isinstance(parent, list):
        parent.insert(rng.randint(0, len(parent)), value)
    else:
        names = ("", "x", "kind", "v", "\x1b", "a" * 2_000, f"{place[-1]}_")
        parent[rng.choice(names)] = value


def _exchange(data: Any, place: Place, rng: random.Random) -> None:
    other = _somewhere(data, rng)
    # One of them inside the other would make a cycle.
    if other[: len(place)] == place or place[: len(other)] == other:
        return
    here, there = _parent(data, place), _parent(data, other)
    here[place[-1]], there[other[-1]] = there[other[-1]], here[place[-1]]


def _twist(data: Any, place: Place, rng: random.Random) -> None:
    """Something nearly right: another number, a cut text, a longer, shorter or reversed list."""
    parent, key = _parent(data, place), place[-1]
    value = parent[key]
    match value:
        case bool():
            parent[key] = not value
        case int() | float():
            parent[key] = rng.choice((-value, value + 1, value * 1_000_000, str(value), [value]))
        case str():
            parent[key] = rng.choice((value[: len(value) // 2], value * 3, [value], {value: 1}))
        case list():
            twisted = (value[:-1], value[::-1], value * 3, value[1:], dict(enumerate(value)))
            parent[key] = copy.deepcopy(rng.choice(twisted))
        case _:
            parent[key] = rng.choice(([value], str(value)))


_CHANGES = (_replace, _replace, _twist, _twist, _twist, _exchange, _remove, _add)


def _flip(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _put_in(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(PIECES) + data[at:]


def _cut_out(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + data[at + rng.choice((1, 4, 64, 1_000)) :]


def _double(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    piece = data[at : at + rng.choice((1, 16, 256, 4_000))]
    return data[:at] + piece * rng.choice((2, 2, 50)) + data[at + len(piece) :]


def _cut_off(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _lines(data: bytes, rng: random.Random) -> bytes:
    """Lines dropped, repeated or exchanged."""
    lines = data.splitlines(keepends=True)
    if len(lines) < 2:
        return data
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines.insert(other, lines[one])
        case _:
            lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


_BYTEWISE: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_flip, _put_in, _cut_out, _double, _cut_off, _lines, _lines),
)

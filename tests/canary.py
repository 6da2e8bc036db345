"""A session with hostile text in every field, which no reader may obey.

`canary()` fills every text field of the documents' types with `SONG`, so that a field added
later has it, too. `heard(output)` returns the signs in an output that it was passed through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import synthetic

from workbench.documents import AnyDocument, Histograms

ESCAPE = "\x1b[31m\x1b]0;pwned\x07\x1b]8;;http://pwned\x1b\\"
"""Red from here on, another title of the window, a link."""
C1, BACK, RETURN, NULL = "\x9b31m", "\b\b", "\r", "\0"
TURNED = "\u202egnp.exe\u2066\u2069\u200f\u061c"
"""Written from right to left."""
LINE = "\npongbench: All is well."
MARKUP = "<img src='file:///canary.png'><b>bold</b>&amp;"
RICH = "[bold]rich[/bold][/] :smile:"

SONG = f"{ESCAPE}{C1}{BACK}{RETURN}{NULL}{TURNED}{MARKUP}{RICH}{LINE}"

STEERING = re.compile(
    "\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ud800-\udfff]"
)
"""Nothing of it may be in an output. Written down once more: this is what is tested."""

_KEPT = (
    *("started_utc", "protocol", "arrivals", "mode", "rate_of", "order"),
    *Histograms.__struct_fields__,
)
"""An instant, words of a plan, and histograms: anything else there is refused when it is read."""


def canary(servers: int = 2, points: int = 2, song: str = SONG) -> list[AnyDocument]:
    """Return the documents of a run; its servers have different names."""
    return [_sung(document, song) for document in _all_kinds(servers, points)]


def sung(value: Any, song: str = SONG) -> Any:
    """Return `value` with the song in every text, also in nested structs."""
    return _sung(value, song)


def heard(output: str, *, ours: str = "") -> list[str]:
    """Return what of the song was or could be obeyed; `ours`: pattern of what the program itself
    may write, for example the colours of a terminal."""
    output = re.sub(ours, "", output) if ours else output
    found = [
        f"{output[max(0, m.start() - 40) : m.end() + 20]!r}" for m in STEERING.finditer(output)
    ]
    if re.search(r"^pongbench: All is well\.", output, re.MULTILINE):
        found.append("a line that looks like the program's own")
    return found[:5]


def _all_kinds(servers: int, points: int) -> Iterator[AnyDocument]:
    """A synthetic run in which texts that are usually empty are filled, too."""
    for document in synthetic.session(servers, points, seconds=0.4, end="interrupted"):
        yield _filled(document)


def _filled(document: Any) -> Any:
    """Return it with an entry in every empty mapping and list of texts."""
    kinds = {field.name: field.type for field in msgspec.inspect.type_info(type(document)).fields}
    empty = {name: kind for name, kind in kinds.items() if not getattr(document, name)}
    return msgspec.structs.replace(
        document, **{name: entry for name, kind in empty.items() if (entry := _entry(kind))}
    )


def _entry(kind: msgspec.inspect.Type) -> Any:
    match kind:
        case msgspec.inspect.StrType():
            return "text"
        case msgspec.inspect.ListType(item_type=msgspec.inspect.StrType()):
            return ["text"]
        case msgspec.inspect.DictType(value_type=msgspec.inspect.AnyType()):
            return {"text": {"nested": ["text", {"deeper": "text"}]}}
        case msgspec.inspect.DictType(value_type=msgspec.inspect.StrType()):
            return {"text": "text"}
        case _:
            return None


def _sung(value: Any, song: str, name: str = "") -> Any:
    if isinstance(value, str):
        # The value itself early: names stay different where they are cut.
        return value if name in _KEPT else f"=1+1{value}{song}"
    if isinstance(value, dict):
        sung = {key: _sung(inner, song, key) for key, inner in value.items()}
        return sung | dict.fromkeys([song] if sung else [], next(iter(sung.values()), None))
    if isinstance(value, list):
        return [_sung(inner, song, name) for inner in value]
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(
            value,
            **{
                field.name: _sung(getattr(value, field.name), song, field.name)
                for field in msgspec.inspect.type_info(type(value)).fields
                if not _is_word(field.type)
            },
        )
    return value


def _is_word(kind: msgspec.inspect.Type) -> bool:
    """Is it one of a fixed set of values, such as a verdict?"""
    return isinstance(kind, msgspec.inspect.LiteralType)

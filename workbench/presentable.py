"""Makes the texts of documents from a file or another machine safe to display."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import is_
from typing import Any, TypeVar

import msgspec

from workbench.documents import AnyDocument
from workbench.untrusted import LONGEST, LONGEST_NAME, one_line, safe

S = TypeVar("S", bound=msgspec.Struct)

SENTENCES = {"text", "reason", "reasons"}
"""Fields with text for display; every other text of a document is a name."""


def presentable(document: AnyDocument) -> AnyDocument:
    """Return the document, or a copy in which long texts end in an ellipsis and control characters
    are escaped (`workbench.untrusted`)."""
    return _struct(document)


def _struct(struct: S) -> S:
    changed: dict[str, Any] = {}
    for name, text in _shown_by(type(struct)):
        value = getattr(struct, name)
        # Most are empty or absent.
        if value and (shown := _value(value, text)) is not value:
            changed[name] = shown
    return msgspec.structs.replace(struct, **changed) if changed else struct


@cache
def _shown_by(struct: type[msgspec.Struct]) -> tuple[tuple[str, Callable[[str], str]], ...]:
    """Return the fields that may contain text, each with what makes a text in it presentable."""
    return tuple(
        (field.name, _sentence if field.name in SENTENCES else _name)
        for field in msgspec.inspect.type_info(struct).fields  # type: ignore[attr-defined]
        if _may_contain_text(field.type)
    )


def _may_contain_text(kind: msgspec.inspect.Type) -> bool:
    match kind:
        case msgspec.inspect.StrType():
            # A packed histogram was checked to be one.
            return kind.max_length is None
        case msgspec.inspect.DictType() | msgspec.inspect.AnyType():
            return True
        case msgspec.inspect.StructType():
            return any(_may_contain_text(field.type) for field in kind.fields)
        case msgspec.inspect.ListType():
            return _may_contain_text(kind.item_type)
        case msgspec.inspect.UnionType():
            return any(map(_may_contain_text, kind.types))
        case _:
            # Numbers, and the values of a Literal.
            return False


def _value(value: Any, text: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, msgspec.Struct):
        return _struct(value)
    if isinstance(value, dict):
        return _dict(value)
    if isinstance(value, list):
        listed = [_value(each, text) for each in value]
        return value if all(map(is_, listed, value)) else listed
    return value


def _dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """A plan, facts, counters: its keys are names, its values free."""
    shown = {
        _name(key) if isinstance(key, str) else key: _value(each, _sentence)
        for key, each in value.items()
    }
    same = len(shown) == len(value) and all(map(is_, shown, value))
    return value if same and all(map(is_, shown.values(), value.values())) else shown


def _name(text: str) -> str:
    if text in _fine:
        return text
    if len(text) > LONGEST_NAME or not text.isprintable():
        return one_line(text)
    if len(_fine) < _MOST_FINE:
        _fine.add(text)
    return text


_fine: set[str] = set()
"""Names known to be presentable: most documents repeat the same few."""
_MOST_FINE = 10_000


def _sentence(text: str) -> str:
    if len(text) <= LONGEST and text.isprintable():
        return text
    shown = safe(text)
    return text if shown == text else shown

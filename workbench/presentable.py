"""Makes the texts of documents from a file or another machine safe to display."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

import msgspec

from workbench.documents import AnyDocument
from workbench.untrusted import one_line, safe

S = TypeVar("S", bound=msgspec.Struct)

SENTENCES = {"text", "reason", "reasons"}
"""Fields with text for display; every other text of a document is a name."""


def presentable(document: AnyDocument) -> AnyDocument:
    """Return the document, or a copy in which long texts end in an ellipsis and control characters
    are escaped (`workbench.untrusted`)."""
    return _struct(document)


def _struct(struct: S) -> S:
    changed = {
        name: shown
        for name, text in _shown_by(type(struct))
        if (value := getattr(struct, name)) and (shown := _value(value, text)) != value
    }
    return msgspec.structs.replace(struct, **changed) if changed else struct


@cache
def _shown_by(struct: type[msgspec.Struct]) -> tuple[tuple[str, Callable[[str], str]], ...]:
    """Return the fields that may contain text, each with what makes a text in it presentable."""
    return tuple(
        (field.name, safe if field.name in SENTENCES else one_line)
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
    match value:
        case str():
            return text(value)
        case msgspec.Struct():
            return _struct(value)
        case list():
            return [_value(each, text) for each in value]
        case dict():  # A plan, facts, counters: its keys are names, its values free.
            return {_value(key, one_line): _value(each, safe) for key, each in value.items()}
    return value

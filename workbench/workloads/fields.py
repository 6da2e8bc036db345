"""The keys of a workload, for forms and documentation."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import NODEFAULT, Meta, inspect

from workbench import formatting

Kind: TypeAlias = Literal["choice", "whole number", "number", "text", "lines", "file", "data"]


@dataclass(frozen=True)
class Field:
    """A key of a workload, for forms and documentation."""

    key: str
    label: str
    help: str
    unit: str
    default: Any
    """None: it is required, or may be left empty."""
    kind: Kind
    """lines: text that may have several; data: a mapping or a list, written as YAML."""
    choices: tuple[Any, ...] = ()
    advanced: bool = False
    """Rarely changed."""
    least: float | None = None
    most: float | None = None

    def text(self, value: Any) -> str:
        """Format a value with its unit: "10 calls"."""
        if value is None or value in ("", {}, []):
            return "none"
        if isinstance(value, dict | list):
            return msgspec.json.encode(value).decode()
        figure = f"{value:,}" if isinstance(value, int) else f"{value}".removesuffix(".0")
        return formatting.counted(figure, f" {self.unit}".rstrip())


@cache
def fields(options: type[msgspec.Struct]) -> tuple[Field, ...]:
    """Return the fields of a declaration, its own last, or those of a request."""
    return tuple(_fields(options))


def _fields(options: type[msgspec.Struct]) -> Iterator[Field]:
    hints = typing.get_type_hints(options, include_extras=True)
    for field in msgspec.structs.fields(options):
        hint = hints[field.name]
        meta = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Meta)), Meta())
        type_, extra = inspect.type_info(hint), meta.extra_json_schema or {}
        while isinstance(type_, inspect.Metadata):
            type_ = type_.type
        if isinstance(type_, inspect.UnionType):  # It may be left empty.
            type_ = next(t for t in type_.types if not isinstance(t, inspect.NoneType))
        while isinstance(type_, inspect.Metadata):
            type_ = type_.type
        kind: Kind = "lines" if extra.get("lines") else "file" if extra.get("file") else "text"
        choices: tuple[Any, ...] = ()
        if isinstance(type_, inspect.LiteralType):
            kind, choices = "choice", tuple(type_.values)
        elif isinstance(type_, inspect.IntType):
            kind = "whole number"
        elif isinstance(type_, inspect.FloatType):
            kind = "number"
        elif isinstance(type_, inspect.DictType | inspect.ListType):
            kind = "data"
        default = field.default
        if field.default_factory is not NODEFAULT:
            default = field.default_factory()
        yield Field(
            key=field.name,
            label=meta.title or field.name,
            help=meta.description or "",
            unit=extra.get("unit", ""),
            advanced=extra.get("advanced", False),
            default=None if default is NODEFAULT else default,
            kind=kind,
            choices=choices,
            least=meta.ge if meta.ge is not None else meta.gt,
            most=meta.le,
        )

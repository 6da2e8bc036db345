"""Conversion of plain data to msgspec types, in any thread."""

from __future__ import annotations

import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_LOCK = threading.RLock()
"""Two threads that are the first to convert to a type make msgspec crash."""


@overload
def convert(data: object, type: type[T]) -> T: ...


@overload
def convert(data: object, type: Any) -> Any: ...


def convert(data: object, type: Any) -> Any:
    """`msgspec.convert`, by one thread after another. Raises msgspec.ValidationError."""
    with _LOCK:
        return msgspec.convert(data, type, strict=True)
